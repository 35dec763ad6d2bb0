"""The client of GitHub's API against a stand-in on loopback: waits, retries, redirects, pages, refusals, secrets."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.github_api import BOT, TOKEN, Fault, StandIn, serve
from support.github_clock import FakeClock

from evalaction.errors import UsageError
from evalaction.github.api import Api, repo_path
from evalaction.github.comment import author_of
from evalaction.github.replies import Ok, Refused

COMMENTS = "/repos/octo/demo/issues/7/comments"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def hub() -> Iterator[StandIn]:
    with serve() as stand_in:
        yield stand_in
    assert not stand_in.violations


@pytest.fixture
def connect(hub: StandIn, clock: FakeClock) -> Iterator[Callable[..., Api]]:
    with contextlib.ExitStack() as stack:

        def opened(**options: Any) -> Api:
            return stack.enter_context(contextlib.closing(Api(options.pop("base", hub.base), TOKEN, clock=clock, **options)))

        yield opened


def read(api: Api) -> Ok[Any] | Refused:
    return api.request("GET", COMMENTS, doing="list the comments")


def write(api: Api, body: str = "hello") -> Ok[Any] | Refused:
    return api.request("POST", COMMENTS, doing="write the comment", body={"body": body}, needs=("pull-requests: write",))


def refusal(result: object) -> Refused:
    assert isinstance(result, Refused)
    return result


def test_the_wait_that_a_header_names_is_waited_and_the_call_made_again(
    hub: StandIn, connect: Callable[..., Api], clock: FakeClock
) -> None:
    hub.faults += [Fault("retry_after", value=17), Fault("secondary", times=1)]
    assert isinstance(write(connect()), Ok)
    assert clock.slept == [17.0, 120.0]
    assert len(hub.hub.repositories["octo/demo"].comments) == 1


def test_without_a_header_a_minute_doubles_until_the_cap(hub: StandIn, connect: Callable[..., Api], clock: FakeClock) -> None:
    hub.faults.append(Fault("secondary", times=None))
    answer = refusal(read(connect()))
    assert (answer.kind, answer.status) == ("rate", 403)
    assert "rate limit" in answer.sentence
    assert clock.slept == [60.0, 120.0]
    assert hub.count() == 3


def test_a_spent_limit_waits_for_its_reset(hub: StandIn, connect: Callable[..., Api], clock: FakeClock) -> None:
    hub.faults.append(Fault("primary", value=40))
    assert isinstance(read(connect()), Ok)
    assert len(clock.slept) == 1
    assert 38 <= clock.slept[0] <= 42


@pytest.mark.parametrize("asked", [181, 3600, "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_a_wait_beyond_the_cap_is_not_waited_for(
    hub: StandIn, connect: Callable[..., Api], clock: FakeClock, asked: int | str
) -> None:
    hub.faults.append(Fault("retry_after", times=None, value=asked))
    assert refusal(read(connect())).kind == "rate"
    assert clock.slept == []
    assert hub.count() == 1


@pytest.mark.parametrize("garbage", ["soon", "-5", "1e9", "٣", ""])
def test_a_wait_that_cannot_be_read_is_a_minute(
    hub: StandIn, connect: Callable[..., Api], clock: FakeClock, garbage: str
) -> None:
    value = {"status": 429, "body": {"message": "slow down"}, "headers": {"Retry-After": garbage.encode().decode("latin-1")}}
    hub.faults.append(Fault("answer", value=value))
    assert isinstance(read(connect()), Ok)
    assert clock.slept == [60.0]


def test_a_wait_of_nothing_is_a_second_and_does_not_go_on_for_ever(
    hub: StandIn, connect: Callable[..., Api], clock: FakeClock
) -> None:
    hub.faults.append(Fault("retry_after", times=None, value=0))
    assert refusal(read(connect())).kind == "rate"
    assert clock.slept == [1.0] * 5


def test_all_waits_of_a_run_share_the_cap(hub: StandIn, connect: Callable[..., Api], clock: FakeClock) -> None:
    hub.faults += [Fault("retry_after", value=100), Fault("retry_after", value=100, times=None)]
    api = connect()
    assert refusal(read(api)).kind == "rate"
    assert refusal(read(api)).kind == "rate"
    assert clock.slept == [100.0]


def test_writes_keep_a_second_between_them(hub: StandIn, connect: Callable[..., Api], clock: FakeClock) -> None:
    api = connect()
    for _ in range(3):
        assert isinstance(write(api), Ok)
    assert clock.slept == [1.0, 1.0]
    read(api)
    assert len(clock.slept) == 2


@pytest.mark.parametrize("kind", ["error", "error_after", "reset", "cut", "reset_after"])
def test_reading_is_tried_again(hub: StandIn, connect: Callable[..., Api], clock: FakeClock, kind: Any) -> None:
    hub.faults.append(Fault(kind, times=3))
    assert isinstance(read(connect()), Ok)
    assert clock.slept == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("kind", ["error", "error_after", "reset", "cut", "reset_after"])
def test_creating_is_never_tried_again_blindly(hub: StandIn, connect: Callable[..., Api], clock: FakeClock, kind: Any) -> None:
    hub.faults.append(Fault(kind))
    assert refusal(write(connect())).uncertain
    assert hub.count("POST") == 1
    assert clock.slept == []


def test_an_outage_ends_as_a_value(hub: StandIn, connect: Callable[..., Api]) -> None:
    hub.faults.append(Fault("error", times=None, value=503))
    answer = refusal(read(connect()))
    assert (answer.kind, answer.status) == ("server", 503)
    assert hub.count() == 4


def test_a_slow_answer_is_not_waited_for(hub: StandIn, connect: Callable[..., Api]) -> None:
    hub.faults.append(Fault("slow", method="POST", value=0.6))
    answer = refusal(write(connect(timeout_s=0.2)))
    assert answer.kind == "network"
    assert "in time" in answer.sentence


def test_a_slow_drip_is_cut(clock: FakeClock) -> None:
    def drip(request: httpx.Request) -> httpx.Response:
        def pieces() -> Iterator[bytes]:
            for _ in range(2000):  # forty seconds
                time.sleep(0.02)
                yield b" "

        return httpx.Response(200, content=pieces())

    began = time.monotonic()
    transport = httpx.MockTransport(drip)
    with contextlib.closing(Api("https://ghes.example", TOKEN, transport=transport, clock=clock, timeout_s=0.1)) as api:
        assert "in time" in refusal(write(api)).sentence
    assert time.monotonic() - began < 20


def test_nobody_there(clock: FakeClock) -> None:
    with serve() as stand_in:
        base = stand_in.base
    with contextlib.closing(Api(base, TOKEN, clock=clock)) as api:
        answer = refusal(write(api))
    assert answer.kind == "network"
    assert "cannot be reached" in answer.sentence


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_renamed_repository_is_followed(hub: StandIn, connect: Callable[..., Api], method: str) -> None:
    hub.rename("octo/demo", "octo/new-name")
    hub.hub.add_comment("octo/new-name", 7, "someone", "first")
    answer = read(connect()) if method == "GET" else write(connect())
    assert isinstance(answer, Ok)
    assert len(hub.hub.repositories["octo/new-name"].comments) == (1 if method == "GET" else 2)


def test_the_pages_of_a_renamed_repository(hub: StandIn, connect: Callable[..., Api]) -> None:
    for number in range(150):
        hub.hub.add_comment("octo/demo", 7, "someone", f"comment {number}")
    hub.rename("octo/demo", "octo/new-name")
    answer = connect().pages(COMMENTS, doing="list the comments")
    assert isinstance(answer, Ok)
    assert len(answer.data) == 150


@pytest.mark.parametrize("where", ["http://127.0.0.2:1/x", "https://evil.invalid/", "//evil.invalid/x", "http://u:p@127.0.0.1/"])
def test_another_origin_never_gets_the_token(hub: StandIn, connect: Callable[..., Api], where: str) -> None:
    hub.faults.append(Fault("answer", value={"status": 302, "body": {}, "headers": {"Location": where}}))
    answer = refusal(read(connect()))
    assert "not followed" in answer.sentence
    assert hub.count() == 1


def test_redirects_in_a_circle_end(hub: StandIn, connect: Callable[..., Api]) -> None:
    there = {"Location": hub.base + COMMENTS}
    hub.faults.append(Fault("answer", times=None, value={"status": 301, "body": {}, "headers": there}))
    assert refusal(read(connect())).kind == "server"
    assert hub.count() == 6


def test_all_pages_of_a_list(hub: StandIn, connect: Callable[..., Api]) -> None:
    for number in range(250):
        hub.hub.add_comment("octo/demo", 7, "someone", f"comment {number}")
    answer = connect().pages(COMMENTS, doing="list the comments")
    assert isinstance(answer, Ok)
    assert [entry["body"] for entry in answer.data] == [f"comment {number}" for number in range(250)]
    assert hub.count() == 3


def test_part_of_a_list_is_no_list(hub: StandIn, connect: Callable[..., Api]) -> None:
    for number in range(150):
        hub.hub.add_comment("octo/demo", 7, "someone", f"comment {number}")
    hub.faults.append(Fault("error", skip=1, times=None))
    assert refusal(connect().pages(COMMENTS, doing="list the comments")).status == 500


@pytest.mark.parametrize("link", ["https://evil.invalid/2", "SELF"])
def test_pages_that_lead_elsewhere_or_in_a_circle(hub: StandIn, connect: Callable[..., Api], link: str) -> None:
    url = hub.base + COMMENTS + "?per_page=100" if link == "SELF" else link
    value = {"status": 200, "body": [], "headers": {"Link": f'<{url}>; rel="next"'}}
    hub.faults.append(Fault("answer", times=None, value=value))
    assert refusal(connect().pages(COMMENTS, doing="list the comments")).kind == "server"
    assert hub.count() == 1


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("permission"), "permission"),
        (Fault("unauthorized"), "permission"),
        (Fault("locked"), "locked"),
        (Fault("not_found"), "gone"),
        (Fault("gone"), "gone"),
        (Fault("too_long"), "too_long"),
        (Fault("html"), "server"),
        (Fault("answer", value={"status": 409, "body": {"message": "Conflict"}}), "rejected"),
        (Fault("answer", value={"status": 413, "body": None}), "too_long"),
        (Fault("answer", value={"status": 400, "body": [1]}), "rejected"),
    ],
)
def test_every_refusal_is_a_value_with_one_sentence(hub: StandIn, connect: Callable[..., Api], fault: Fault, kind: str) -> None:
    hub.faults.append(fault)
    answer = refusal(write(connect()))
    assert answer.kind == kind
    assert answer.sentence.startswith("GitHub did not write the comment")
    assert "\n" not in answer.sentence


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        (None, ("pull-requests: write",)),
        ("contents=write", ("contents: write",)),
        ("contents=write,metadata=read,workflows=write; contents=write", ("contents: write", "workflows: write")),
        ("", ("pull-requests: write",)),
    ],
)
def test_a_missing_permission_is_named(
    hub: StandIn, connect: Callable[..., Api], header: str | None, lines: tuple[str, ...]
) -> None:
    hub.faults.append(Fault("permission", value=header))
    answer = refusal(write(connect()))
    assert answer.permissions == lines
    assert all(f"`{line}`" in answer.sentence for line in lines)
    assert answer.detail == "Resource not accessible by integration"


def test_a_permission_header_that_is_not_one_is_shown_as_quoted_text(hub: StandIn, connect: Callable[..., Api]) -> None:
    hub.faults.append(Fault("permission", value="::error::x ##[warning]" + "y" * 999))
    sentence = refusal(write(connect())).sentence
    assert "::" not in sentence
    assert "##[" not in sentence
    assert len(sentence) < 600


def test_the_token_is_in_nothing_that_is_shown(hub: StandIn, connect: Callable[..., Api]) -> None:
    api = connect()
    value = {"status": 403, "body": {"message": "x" * 230 + TOKEN}, "headers": {"X-Accepted-GitHub-Permissions": f"!{TOKEN}"}}
    hub.faults.append(Fault("answer", value=value))
    shown = repr(api) + repr(write(api)) + repr(read(api))
    assert TOKEN not in shown
    assert TOKEN[:10] not in shown


@pytest.mark.parametrize("token", ["", "two words", "ghp_x\n", "ghp_x\r\nX-Evil: 1", "ghp_ü"])
def test_a_token_that_is_none(token: str) -> None:
    with pytest.raises(UsageError) as caught:
        Api("https://api.github.com", token)
    assert "ghp_x" not in str(caught.value)


@pytest.mark.parametrize(
    "base", ["http://ghes.example/api/v3", "https://u:p@ghes.example", "ftp://x", "https://h/?a=1", "https://h/ x", ""]
)
def test_an_address_that_is_none(base: str) -> None:
    with pytest.raises(UsageError, match="GITHUB_API_URL"):
        Api(base, TOKEN)


def test_an_enterprise_server_below_a_path(clock: FakeClock) -> None:
    with serve("/api/v3") as stand_in, contextlib.closing(Api(stand_in.base + "/", TOKEN, clock=clock)) as api:
        for number in range(101):
            stand_in.hub.add_comment("octo/demo", 7, "someone", f"comment {number}")
        answer = api.pages(COMMENTS, doing="list the comments")
        assert isinstance(answer, Ok)
        assert len(answer.data) == 101
        assert not stand_in.violations


def test_half_a_character_does_not_make_a_whole_post_fail(hub: StandIn, connect: Callable[..., Api]) -> None:
    assert isinstance(write(connect(), "\ud800 日本 🤖"), Ok)
    (comment,) = hub.hub.repositories["octo/demo"].comments.values()
    assert comment.body == "\ufffd 日本 🤖"


def test_an_answer_too_large_is_refused(hub: StandIn, connect: Callable[..., Api], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalaction.github.wire.MAX_BODY_BYTES", 1000)
    hub.hub.add_comment("octo/demo", 7, "someone", "x" * 2000)
    answer = refusal(read(connect()))
    assert "too large" in answer.sentence


def test_json_that_is_too_deep_is_refused(hub: StandIn, clock: FakeClock) -> None:
    def deep(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=b"[" * 200_000)

    with contextlib.closing(Api("https://ghes.example", TOKEN, transport=httpx.MockTransport(deep), clock=clock)) as api:
        assert refusal(read(api)).kind == "server"


def test_no_variable_but_those_given_decides_the_way(
    hub: StandIn, connect: Callable[..., Api], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HOME", "/nonexistent")
    assert isinstance(read(connect()), Ok)


def test_the_ca_bundle_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="CA bundle"):
        Api("https://ghes.example/api/v3", TOKEN, ca_bundle=str(tmp_path / "none.pem"))


def test_whose_token_it_is(hub: StandIn, connect: Callable[..., Api]) -> None:
    assert author_of(connect()) == Ok(BOT)
    hub.hub.accounts[TOKEN] = "octocat"
    assert author_of(connect()) == Ok("octocat")
    hub.faults.append(Fault("unauthorized"))
    assert refusal(author_of(connect())).status == 401
    hub.faults.append(Fault("retry_after", value=9999))
    assert refusal(author_of(connect())).kind == "rate"


@pytest.mark.parametrize("name", ["octo", "octo/demo/x", "octo/..", "./demo", "octo/de mo", "octo/demo?x", "", "octo/d#"])
def test_names_that_are_no_repository(name: str) -> None:
    assert repo_path(name) is None


def test_an_app_is_asked_for_its_name_on_our_own_origin_alone(hub: StandIn, connect: Callable[..., Api]) -> None:
    hub.hub.accounts[TOKEN] = "company-app[bot]"
    for address, login in [
        (f"{hub.base}/graphql", "company-app[bot]"),
        (f"http://localhost:{hub.port}/graphql", BOT),
        ("https://api.github.com/graphql", BOT),
        (f"{hub.base}/_control/nothing", BOT),
        (None, BOT),
    ]:
        assert author_of(connect(graphql_url=address)) == Ok(login), address


def test_git_objects_are_written_and_read_through_the_api(hub: StandIn, connect: Callable[..., Api]) -> None:
    """The stand-in keeps git's own digests, and its answers fit the description."""
    api, root = connect(), "/repos/octo/demo"
    repository = hub.hub.repositories["octo/demo"]
    first = repository.commit_files({"eval/card.yaml": b"a: 1\n", "README.md": b"hi"}, branch="main")

    def call(method: Any, path: str, **body: Any) -> Any:
        answer = api.request(method, root + path, doing="do it", body=body or None)
        assert isinstance(answer, Ok), answer
        return answer.data

    blob = call("POST", "/git/blobs", content="aGVsbG8K", encoding="base64")["sha"]
    assert blob == "ce013625030ba8dba906f756967f9e9ca394464a"  # git hash-object of "hello\n"
    base = call("GET", f"/git/commits/{first}")["tree"]["sha"]
    entry = {"path": "eval/new.txt", "mode": "100644", "type": "blob", "sha": blob}
    tree = call("POST", "/git/trees", base_tree=base, tree=[entry])["sha"]
    commit = call("POST", "/git/commits", message="add", tree=tree, parents=[first])["sha"]
    assert call("PATCH", "/git/refs/heads/main", sha=commit, force=False)["object"]["sha"] == commit
    assert call("GET", "/git/ref/heads/main")["object"]["sha"] == commit
    assert refusal(api.request("PATCH", f"{root}/git/refs/heads/main", doing="x", body={"sha": first})).kind == "rejected"
    listed = api.request("GET", f"{root}/git/trees/{tree}", doing="x", params={"recursive": "1"})
    assert isinstance(listed, Ok)
    assert [one["path"] for one in listed.data["tree"]] == ["README.md", "eval/card.yaml", "eval/new.txt"]
    content = api.request("GET", f"{root}/contents/eval/new.txt", doing="x", params={"ref": commit})
    assert isinstance(content, Ok)
    assert (content.data["content"], content.data["type"]) == ("aGVsbG8K\n", "file")
    assert call("GET", f"/git/blobs/{blob}")["size"] == 6
    assert len(call("GET", "/contents/eval")) == 2
    assert call("POST", "/git/refs", ref="refs/heads/history", sha=commit)["ref"] == "refs/heads/history"
    assert call("POST", f"/statuses/{commit}", state="success", context="evalaction")["context"] == "evalaction"


def test_pull_requests_and_the_repository(hub: StandIn, connect: Callable[..., Api]) -> None:
    api = connect()
    hub.hub.add_pull("octo/demo", 8, head_repo="fork/demo", head_sha="f" * 40)
    assert isinstance(api.request("GET", "/repos/octo/demo", doing="x"), Ok)
    pull = api.request("GET", "/repos/octo/demo/pulls/8", doing="x")
    assert isinstance(pull, Ok)
    assert pull.data["head"]["repo"]["full_name"] == "fork/demo"
    for path, params in (
        ("/repos/octo/demo/pulls", {"head": "fork:topic"}),
        (f"/repos/octo/demo/commits/{'f' * 40}/pulls", None),
    ):
        found = api.pages(path, doing="x", params=params)
        assert isinstance(found, Ok)
        assert [one["number"] for one in found.data] == [8]


def test_the_stand_in_tells_on_requests_that_github_does_not_know(clock: FakeClock) -> None:
    with serve() as stand_in, contextlib.closing(Api(stand_in.base, TOKEN, clock=clock)) as api:
        api.request("GET", "/repos/octo/demo/nonsense", doing="x")
        api.request("POST", COMMENTS, doing="x", body={"text": "no such field"})
        api.request("GET", COMMENTS, doing="x", params={"perpage": 100})
        api.request("POST", COMMENTS, doing="x", body={"body": 5})
    assert len(stand_in.violations) >= 5
    assert not stand_in.hub.repositories["octo/demo"].comments


def test_the_stand_in_as_a_process(clock: FakeClock) -> None:
    script = Path(__file__).parents[1] / "support" / "github_api.py"
    with subprocess.Popen([sys.executable, str(script), "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            base = process.stdout.readline().strip()
            seed = {"repository": "octo/demo", "comments": [{"number": 7, "login": "someone", "body": "hi"}]}
            httpx.post(f"{base}/_control/seed", json=seed).raise_for_status()
            httpx.post(f"{base}/_control/faults", json=[{"kind": "error", "method": "GET"}]).raise_for_status()
            with contextlib.closing(Api(base, TOKEN, clock=clock)) as api:
                answer = read(api)
            assert isinstance(answer, Ok)
            assert [one["body"] for one in answer.data] == ["hi"]
            requests = json.loads(httpx.get(f"{base}/_control/requests").text)
            assert [one["status"] for one in requests] == [500, 200]
            assert TOKEN not in httpx.get(f"{base}/_control/requests").text
            assert httpx.get(f"{base}/_control/violations").json() == []
            assert "octo/demo" in httpx.get(f"{base}/_control/state").json()
        finally:
            process.terminate()
