"""Event files and variables → one context: real payloads, Enterprise servers, forks, Dependabot, and hostile input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.events import DATA, SHA, context, environ, example

from evalaction.errors import UsageError
from evalaction.github import payload
from evalaction.github.event import Context, Head, read_context

HELLO = "Codertocat/Hello-World"
HEAD = "ec26c3e57ca3a959ca5aad62de7213c562f8c821"
BASE = "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"


def fork(event: dict[str, Any], name: str | None = "stranger/Hello-World") -> dict[str, Any]:
    """The example as a fork sends it (the package has none)."""
    event["pull_request"]["head"]["repo"] = {"full_name": name, "fork": True} if name else None
    return event


@pytest.mark.parametrize("name", ["pull_request.opened", "pull_request.synchronize", "pull_request.closed"])
@pytest.mark.parametrize("kind", ["pull_request", "pull_request_target"])
def test_pull_request(name: str, kind: str) -> None:
    found = context(kind, example(name), GITHUB_HEAD_REF="changes", GITHUB_BASE_REF="master", GITHUB_REF="refs/pull/2/merge")
    assert (found.kind, found.event, found.repository, found.pull_number) == (kind, kind, HELLO, 2)
    assert found.head == Head(sha=HEAD, ref="changes", repository=HELLO)
    assert (found.base_ref, found.base_sha, found.default_branch) == ("master", BASE, "master")
    assert not found.is_fork and not found.is_dependabot and found.other_run is None and found.notices == ()
    assert (found.sha, found.workflow, found.job) == (SHA, "evaluation", "gate")
    assert found.run_url == f"https://github.com/{HELLO}/actions/runs/1589141559"


@pytest.mark.parametrize(("name", "expected"), [("stranger/Hello-World", True), (None, True), ("codertocat/hello-world", False)])
def test_forks_also_of_a_repository_that_is_gone(name: str | None, expected: bool) -> None:
    assert context("pull_request", fork(example("pull_request.opened"), name)).is_fork is expected


def test_a_review_is_about_a_pull_request_too() -> None:
    found = context("pull_request_review", example("pull_request_review"))
    assert (found.kind, found.event, found.pull_number) == ("other", "pull_request_review", 2)
    assert found.head is not None and found.head.repository == HELLO and not found.is_fork
    assert context("pull_request_review", fork(example("pull_request_review"))).is_fork


def test_push() -> None:
    found = context("push", example("push.branch"), GITHUB_REF="refs/heads/master")
    assert (found.kind, found.before, found.forced, found.pull_number, found.head) == ("push", None, False, None, None)
    moved = {**example("push.branch"), "before": BASE.upper(), "forced": True}
    assert (context("push", moved).before, context("push", moved).forced) == (BASE, True)
    assert context("push", {**moved, "forced": "no"}).forced is None


def test_merge_group() -> None:
    found = context("merge_group", example("merge_group"))
    assert (found.base_sha, found.base_ref) == ("380387fbc80638b734a49e1be1c4dfec1c01b33c", "main")
    assert found.pull_number is None and not found.is_fork


def test_workflow_run() -> None:
    event = example("workflow_run.completed")
    found = context("workflow_run", event)
    assert found.other_run is not None and found.other_run.event == "repository_dispatch"
    assert found.other_run.head == Head(
        sha="3484a3fb816e0859fd6e1cea078d76385ff50625", ref="master", repository="octo-org/octo-repo"
    )
    assert (found.pull_number, found.head) == (None, None), "`pull_requests` of the payload is not believed"
    assert not found.is_fork
    event["workflow_run"]["head_repository"]["full_name"] = "stranger/octo-repo"
    assert context("workflow_run", event).is_fork


def test_issue_comment() -> None:
    event = example("issue_comment.issue")
    assert context("issue_comment", event).pull_number is None
    event["issue"]["pull_request"] = {"url": "https://api.github.com/repos/Codertocat/Hello-World/pulls/1"}
    assert context("issue_comment", event).pull_number == 1


def test_a_schedule_has_no_payload_of_its_own() -> None:
    found = context("schedule", {"schedule": "17 4 * * 1"}, GITHUB_REF="refs/heads/trunk")
    assert (found.repository, found.default_branch, found.head, found.pull_number) == ("octo-org/octo-repo", "trunk", None, None)


@pytest.mark.parametrize(
    ("given_number", "expected"),
    [
        ("12", 12),
        (12, 12),
        ("0", None),
        ("-1", None),
        ("", None),
        ("1.0", None),
        ("12; rm", None),
        ("9" * 30, None),
        ("\u0661", None),
        (True, None),
    ],
)
def test_a_dispatch_may_name_a_pull_request(given_number: object, expected: int | None) -> None:
    event = {**example("workflow_dispatch"), "inputs": {"pr-number": given_number}}
    assert context("workflow_dispatch", event).pull_number == expected
    assert context("workflow_dispatch", {**event, "inputs": None}).pull_number is None


@pytest.mark.parametrize("name", ["check_run", "release", "repository_dispatch"])
def test_other_events_are_read_without_a_pull_request(name: str) -> None:
    found = context(name, example(name))
    assert (found.kind, found.event, found.pull_number, found.is_fork) == ("other", name, None, False)


def test_dependabot_is_told_by_the_actor_whose_rights_the_run_has() -> None:
    event = example("pull_request.synchronize")
    assert context("pull_request", event, GITHUB_ACTOR="dependabot[bot]", GITHUB_TRIGGERING_ACTOR="octocat").is_dependabot
    assert not context("pull_request", event, GITHUB_ACTOR="dependabot", GITHUB_TRIGGERING_ACTOR="dependabot[bot]").is_dependabot


def test_an_enterprise_server_comes_from_the_environment_alone() -> None:
    found = context(
        "pull_request", example("pull_request.opened"), GITHUB_SERVER_URL="https://github.example.com/", GITHUB_RUN_ATTEMPT="3",
        GITHUB_API_URL="https://github.example.com/api/v3", GITHUB_GRAPHQL_URL="https://github.example.com:8443/api/graphql",
    )  # fmt: skip
    assert found.api_url == "https://github.example.com/api/v3"
    assert found.graphql_url == "https://github.example.com:8443/api/graphql"
    assert found.run_url == f"https://github.example.com/{HELLO}/actions/runs/1589141559/attempts/3"
    assert "https://github.com" not in repr(found)


@pytest.mark.parametrize("name", ["GITHUB_SERVER_URL", "GITHUB_API_URL", "GITHUB_GRAPHQL_URL"])
@pytest.mark.parametrize(
    "value",
    [
        "", "github.com", "http://github.com", "ftp://github.com", "https://", "https://token@github.com", "https://github.com?x=1",
        "https://github.com#x", "https://[::1", "https://github.com:99999", "https://git hub.com", "file:///etc", "https://ɡithub.com",
    ],
)  # fmt: skip
def test_no_address_is_guessed(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=name) as caught:
        context("push", example("push.branch"), **{name: value})
    assert "token@" not in caught.value.sentence


def test_loopback_may_do_without_tls() -> None:
    assert context("push", {}, GITHUB_API_URL="http://127.0.0.1:8080/").api_url == "http://127.0.0.1:8080"


@pytest.mark.parametrize("name", ["GITHUB_EVENT_NAME", "GITHUB_REPOSITORY"])
def test_outside_a_workflow_it_says_so(name: str) -> None:
    variables = environ("push")
    del variables[name]
    with pytest.raises(UsageError, match=name):
        read_context(variables, "{}")


@pytest.mark.parametrize("value", ["", "octo", "a/b/c", "a/..", "a/.", "a b/c", "../x", "a/b\n", "é/b", "a/" + "b" * 101])
def test_a_repository_is_owner_and_name(value: str) -> None:
    with pytest.raises(UsageError, match="GITHUB_REPOSITORY"):
        read_context(environ("push", GITHUB_REPOSITORY=value), "{}")


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "null",
        "[]",
        "12",
        '"x"',
        "{",
        "[" * 100_000,
        '{"a":' * 100_000,
        "\x00",
        "{}{}",
        '{"number": ' + "9" * 5000 + "}",
        "\ufeff{}",
    ],
    ids=lambda text: "none" if text is None else str(len(text)),
)
def test_an_unreadable_event_file_is_a_notice_or_a_usage_error(text: str | None) -> None:
    found = read_context(environ("push"), text)
    assert len(found.notices) == 1 and found.before is None
    with pytest.raises(UsageError, match="holds no pull request"):
        read_context(environ("pull_request"), text)


def broken(key: str, value: object) -> dict[str, Any]:
    event = example("pull_request.opened")
    if key == "sha":
        event["pull_request"]["head"]["sha"] = value
    else:
        event["pull_request"][key] = value
    return event


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("number", 0), ("number", -1), ("number", True), ("number", None), ("number", 1.0), ("number", [2]), ("number", 1 << 70),
        ("sha", "0" * 40), ("sha", HEAD[:39]), ("sha", "main"), ("sha", None), ("sha", HEAD + "\n"), ("head", None),
        ("head", "x"),
    ],
)  # fmt: skip
def test_a_pull_request_event_needs_a_number_and_a_head(key: str, value: object) -> None:
    with pytest.raises(UsageError, match="holds no pull request"):
        context("pull_request", broken(key, value))


def test_the_payloads_repository_is_not_believed() -> None:
    event = example("pull_request.opened")
    event["repository"]["full_name"] = "stranger/elsewhere"
    found = read_context(environ("pull_request", HELLO), json.dumps(event))
    assert found.repository == HELLO and not found.is_fork


def test_every_example_is_read() -> None:
    names = sorted(path.stem for path in DATA.glob("*.json"))
    assert len(names) >= 12
    for name in names:
        found = context(name.split(".")[0], example(name))
        well_formed(found)
        assert found.notices == ()
        # The example of a requested run names a head repository that is not its own.
        assert found.is_fork is (name == "workflow_run.requested")


def test_an_event_file_is_utf8_whatever_the_system_thinks() -> None:
    event = example("pull_request.opened")
    event["pull_request"]["head"]["ref"] = "zweig-ü-🙂"
    data = json.dumps(event, ensure_ascii=False).encode()
    for written in (data, b"\xef\xbb\xbf" + data):
        found = read_context(environ("pull_request", HELLO), written)
        assert found.head is not None and found.head.ref == "zweig-ü-🙂"
    assert len(read_context(environ("push"), b'{"before": "\xff"}').notices) == 1


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from([HEAD, "0" * 40, "a/b", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
NAMES = (
    "pull_request.opened", "pull_request_review", "push.branch", "merge_group", "workflow_run.completed", "workflow_dispatch",
    "issue_comment.issue", "check_run",
)  # fmt: skip
KINDS = (
    "pull_request",
    "pull_request_target",
    "push",
    "merge_group",
    "workflow_run",
    "workflow_dispatch",
    "issue_comment",
    "schedule",
    "x",
)


def mutated(value: Any, draw: Any) -> Any:
    """The value with something else put in at a random place."""
    if isinstance(value, (dict, list)) and value and draw(st.integers(0, 4)):
        keys = sorted(value) if isinstance(value, dict) else range(len(value))
        key = draw(st.sampled_from(list(keys)))
        changed = value.copy()
        changed[key] = mutated(value[key], draw)
        return changed
    return draw(JSON)


@st.composite
def hostile_events(draw: Any) -> tuple[str, str]:
    event = example(draw(st.sampled_from(NAMES)))
    for _ in range(draw(st.integers(1, 4))):
        event = mutated(event, draw)
    return draw(st.sampled_from(KINDS)), json.dumps(event)


def well_formed(found: Context) -> None:
    assert found.pull_number is None or (type(found.pull_number) is int and found.pull_number >= 1)
    for oid in (
        found.sha,
        found.base_sha,
        found.before,
        found.head and found.head.sha,
        found.other_run and found.other_run.head.sha,
    ):
        assert oid is None or payload.sha(oid) == oid
    for text in (found.base_ref, found.default_branch, found.head.ref if found.head else None):
        assert text is None or ("\n" not in text and text.encode())
    if found.head is not None and found.head.repository != found.repository:
        assert found.is_fork or payload.same_repository(found.head.repository, found.repository)


@settings(max_examples=200, deadline=None)
@given(hostile_events())
def test_no_event_crashes_it(event: tuple[str, str]) -> None:
    kind, text = event
    try:
        found = read_context(environ(kind, HELLO), text)
    except UsageError as error:
        assert kind in {"pull_request", "pull_request_target"} and error.sentence.endswith(".")
    else:
        well_formed(found)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(environ("push"))), st.text(max_size=30)), st.text(max_size=30))
def test_no_environment_crashes_it(changes: dict[str, str], text: str) -> None:
    try:
        found = read_context({**environ("push"), **changes}, text)
    except UsageError as error:
        assert error.sentence.endswith(".")
    else:
        well_formed(found)
