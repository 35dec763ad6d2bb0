"""One comment per pull request and key against a stand-in for GitHub: in place, on any page, our own only; refusals as values."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support import reports
from support.github_api import BOT, TOKEN, Fault, StandIn, serve
from support.github_clock import FakeClock

from evalaction.github.api import Api
from evalaction.github.comment import Outcome, Posted, author_of, find, upsert
from evalaction.github.hidden import Memory, Record, hide, reveal
from evalaction.github.marker import key_of, marked, marker
from evalaction.github.replies import Ok, Refused
from evalaction.github.shown import keep
from evalaction.report.layout import document
from evalaction.report.markdown import comment, size

KEY = key_of("gate", "lint")
OTHER_KEY = key_of("gate", "lint-all")
REPO = "octo/demo"


@pytest.fixture
def hub() -> Iterator[StandIn]:
    with serve() as stand_in:
        yield stand_in
    assert not stand_in.violations


@pytest.fixture
def api(hub: StandIn) -> Iterator[Api]:
    with contextlib.closing(Api(hub.base, TOKEN, clock=FakeClock())) as opened:
        yield opened


def put(api: Api, body: str = "the verdict", *, key: str = KEY, me: str = BOT, number: int = 7, fork: bool = False) -> Outcome:
    return upsert(api, REPO, number, key, body, me=me, fork=fork)


def bodies(hub: StandIn, login: str = BOT) -> list[str]:
    """Our comments by id, without their markers."""
    comments = hub.hub.repositories[REPO].comments.values()
    return [one.body.removeprefix(marker(KEY)).strip() for one in comments if one.login == login]


def posted(outcome: Outcome) -> Posted:
    assert isinstance(outcome, Posted), outcome
    return outcome


def refused(outcome: Outcome) -> Refused:
    assert isinstance(outcome, Refused), outcome
    return outcome


def test_the_first_push_writes_it(hub: StandIn, api: Api) -> None:
    answer = posted(put(api))
    assert answer == Posted(url=answer.url, id=1001, created=True)
    assert answer.url == "https://github.example/octo/demo/pull/7#issuecomment-1001"
    (comment,) = hub.hub.repositories[REPO].comments.values()
    assert comment.body == f"{marker(KEY)}\nthe verdict"
    assert [request.method for request in hub.requests] == ["GET", "POST", "GET"]


def test_the_second_push_updates_in_place(hub: StandIn, api: Api) -> None:
    first = posted(put(api))
    second = posted(put(api, "another verdict"))
    assert (second.id, second.created, second.changed) == (first.id, False, True)
    assert bodies(hub) == ["another verdict"]


def test_the_same_body_is_not_written_again(hub: StandIn, api: Api) -> None:
    put(api, "one\ntwo\n")
    comment = hub.hub.repositories[REPO].comments[1001]
    comment.body = comment.body.replace("\n", "\r\n").rstrip()
    assert not posted(put(api, "one\ntwo\n")).changed
    assert hub.count("PATCH") == 0


def test_a_body_that_brings_its_marker_keeps_one(hub: StandIn, api: Api) -> None:
    put(api, marked("text", KEY))
    assert hub.hub.repositories[REPO].comments[1001].body.count(marker(KEY)) == 1


def test_ours_is_the_201st_of_250(hub: StandIn, api: Api) -> None:
    for number in range(250):
        ours = number == 200
        hub.hub.add_comment(REPO, 7, BOT if ours else "someone", f"{marker(KEY)}\nold" if ours else f"comment {number}")
    answer = posted(put(api))
    assert (answer.id, answer.created) == (1201, False)
    assert len(hub.hub.repositories[REPO].comments) == 250
    assert bodies(hub) == ["the verdict"]


@pytest.mark.parametrize("login", ["octocat", "other-app[bot]", "github-actions", "github-actions[bot]x"])
def test_another_author_with_our_marker_is_never_touched(hub: StandIn, api: Api, login: str) -> None:
    hub.hub.add_comment(REPO, 7, login, f"{marker(KEY)}\ntheirs")
    assert posted(put(api)).id == 1002
    put(api, "again")
    assert hub.hub.repositories[REPO].comments[1001].body == f"{marker(KEY)}\ntheirs"
    assert bodies(hub) == ["again"]
    assert not [one for one in hub.requests if one.method in {"PATCH", "DELETE"} and "1001" in one.path]


def test_our_login_written_by_another_app_is_not_ours(hub: StandIn, api: Api) -> None:
    hub.hub.add_comment(REPO, 7, BOT, f"{marker(KEY)}\ntheirs", app="other-app")
    assert posted(put(api)).id == 1002


@pytest.mark.parametrize(
    "body",
    [
        "quoted:\n" + marker(KEY),
        " " + marker(KEY),
        "> " + marker(KEY),
        marker(OTHER_KEY),
        marker(KEY).removesuffix(" -->"),
        marker(KEY).replace(" -->", "0 -->"),
        marker(KEY).upper(),
        "",
    ],
)
def test_only_the_whole_marker_on_the_first_line_counts(hub: StandIn, api: Api, body: str) -> None:
    hub.hub.add_comment(REPO, 7, BOT, body)
    assert posted(put(api)).id == 1002
    assert hub.hub.repositories[REPO].comments[1001].body == body


def test_two_keys_are_two_comments(hub: StandIn, api: Api) -> None:
    put(api, "a")
    put(api, "b", key=OTHER_KEY)
    put(api, "c")
    assert [one.body.split("\n")[1] for one in hub.hub.repositories[REPO].comments.values()] == ["c", "b"]


def test_another_pull_request_has_its_own(hub: StandIn, api: Api) -> None:
    hub.hub.add_pull(REPO, 8)
    put(api, "a")
    assert posted(put(api, "b", number=8)).created


def test_older_duplicates_of_ours_go_and_the_lowest_stays(hub: StandIn, api: Api) -> None:
    for text in ("old", "older", "oldest"):
        hub.hub.add_comment(REPO, 7, BOT, f"{marker(KEY)}\n{text}")
    assert posted(put(api)).id == 1001
    assert bodies(hub) == ["the verdict"]


def test_a_duplicate_that_cannot_go_is_counted(hub: StandIn, api: Api) -> None:
    for text in ("old", "older"):
        hub.hub.add_comment(REPO, 7, BOT, f"{marker(KEY)}\n{text}")
    hub.faults.append(Fault("permission", method="DELETE", times=None))
    assert posted(put(api)).left == 1
    assert bodies(hub) == ["the verdict", "older"]


def test_a_duplicate_that_changes_meanwhile_is_left_alone(hub: StandIn, api: Api) -> None:
    for text in ("old", "older"):
        hub.hub.add_comment(REPO, 7, BOT, f"{marker(KEY)}\n{text}")

    def edit(method: str, path: str) -> None:
        if method == "GET" and path.endswith("/1002"):
            hub.hub.repositories[REPO].comments[1002].body = "somebody made this a note of their own"

    hub.before = edit
    assert posted(put(api)).left == 1
    assert len(hub.hub.repositories[REPO].comments) == 2


@pytest.mark.parametrize("answer", ["permission", "locked", "not_found", "gone", "unauthorized"])
def test_a_refusal_is_said_and_nothing_is_tried_again(hub: StandIn, api: Api, answer: str) -> None:
    hub.faults.append(Fault(answer, method="POST", times=None))  # type: ignore[arg-type]  # names of faults
    outcome = refused(put(api))
    assert outcome.kind == {"not_found": "gone", "unauthorized": "permission"}.get(answer, answer)
    assert hub.count("POST") == 1
    assert bodies(hub) == []


def test_the_missing_permission_is_the_documented_one(hub: StandIn, api: Api) -> None:
    hub.faults.append(Fault("permission", method="POST"))
    outcome = refused(put(api))
    assert outcome.permissions == ("pull-requests: write",)
    assert "add `pull-requests: write` under `permissions:`" in outcome.sentence


def test_reading_without_permission_names_it_too(hub: StandIn, api: Api) -> None:
    hub.faults.append(Fault("permission", value="issues=read; pull_requests=read"))
    assert refused(put(api)).permissions == ("pull-requests: write",)


def test_a_fork_is_told_that_no_permission_would_help(hub: StandIn, api: Api) -> None:
    hub.faults.append(Fault("permission", method="POST"))
    outcome = refused(put(api, fork=True))
    assert (outcome.kind, outcome.permissions, outcome.status) == ("fork", (), 403)
    assert "fork" in outcome.sentence
    hub.faults.append(Fault("locked", method="POST"))
    assert refused(put(api, fork=True)).kind == "locked"


def test_a_locked_conversation(hub: StandIn, api: Api) -> None:
    hub.hub.repositories[REPO].pulls[7].locked = True
    outcome = refused(put(api))
    assert (outcome.kind, outcome.permissions) == ("locked", ())
    assert "unlock" in outcome.sentence


def test_a_pull_request_that_is_not_there(hub: StandIn, api: Api) -> None:
    assert refused(put(api, number=404)).kind == "gone"


@pytest.mark.parametrize("number", [0, -1])
def test_no_number_is_no_call(hub: StandIn, api: Api, number: int) -> None:
    assert refused(put(api, number=number)).kind == "gone"
    assert refused(upsert(api, "octo/../demo", 7, KEY, "x", me=BOT)).kind == "gone"
    assert hub.count() == 0


def test_the_longest_body_github_takes_and_one_more(hub: StandIn, api: Api) -> None:
    room = 65_536 - len(marker(KEY)) - 1
    assert posted(put(api, "x" * room)).created
    outcome = refused(put(api, "y" * (room + 1)))
    assert (outcome.kind, outcome.status) == ("too_long", 422)
    assert bodies(hub) == ["x" * room]


@pytest.mark.parametrize("kind", ["secondary", "primary", "retry_after"])
def test_a_rate_limit_is_waited_for_only_so_long(hub: StandIn, api: Api, kind: str) -> None:
    hub.faults.append(Fault(kind, method="POST", times=None, value=3600))  # type: ignore[arg-type]  # names of faults
    assert refused(put(api)).kind == "rate"
    assert bodies(hub) == []
    assert hub.count() <= 4


def test_a_short_rate_limit_only_delays(hub: StandIn, api: Api) -> None:
    hub.faults += [Fault("retry_after", method="POST", value=5), Fault("secondary", method="GET", skip=1)]
    posted(put(api))
    assert bodies(hub) == ["the verdict"]


def test_a_deleted_comment_is_written_anew(hub: StandIn, api: Api) -> None:
    hub.hub.add_comment(REPO, 7, BOT, f"{marker(KEY)}\nold")

    def delete(method: str, path: str) -> None:
        if method == "PATCH":
            hub.hub.repositories[REPO].comments.pop(1001, None)

    hub.before = delete
    assert posted(put(api)) == Posted(url="https://github.example/octo/demo/pull/7#issuecomment-1002", id=1002, created=True)
    assert bodies(hub) == ["the verdict"]


def test_a_deleted_comment_that_a_stale_list_still_shows(hub: StandIn, api: Api) -> None:
    hub.hub.add_comment(REPO, 7, BOT, f"{marker(KEY)}\nold")
    hub.faults.append(Fault("not_found", method="PATCH", times=None))
    assert posted(put(api)).created


def test_a_renamed_repository_keeps_its_comment(hub: StandIn, api: Api) -> None:
    put(api)
    hub.rename(REPO, "octo/renamed")
    assert posted(put(api, "after the move")).id == 1001


def test_the_token_of_another_app_ends_in_one_comment_too(hub: StandIn, api: Api) -> None:
    """`/user` does not say the name of an app, so the first guess is wrong; the written comment says it."""
    hub.hub.accounts[TOKEN] = "company-app[bot]"
    for text in ("first", "second", "third"):
        assert posted(put(api, text)).id == 1001
    assert bodies(hub, "company-app[bot]") == ["third"]


def test_a_personal_token_is_its_own_author(hub: StandIn, api: Api) -> None:
    hub.hub.accounts[TOKEN] = "Octocat"
    put(api, "first", me="octocat")
    assert posted(put(api, "second", me="octocat")).id == 1001


def test_characters_that_github_refuses_are_replaced(hub: StandIn, api: Api) -> None:
    put(api, "a\x00b\x1b[31m\x9b \ud800 tab\tline\nend\ufffe")
    assert bodies(hub) == ["a\ufffdb\ufffd[31m\ufffd \ufffd tab\tline\nend\ufffd"]


def test_comments_that_are_nobodys_or_empty_are_passed_over(hub: StandIn, api: Api) -> None:
    entry = {"id": 5, "html_url": "https://x", "user": None, "body": marker(KEY)}
    odd = [entry, {**entry, "user": {"login": BOT}, "body": None}, None, 7, {**entry, "id": True, "user": {"login": BOT}}]
    hub.faults.append(Fault("answer", method="GET", value={"status": 200, "body": odd}))
    assert posted(put(api)).created


def test_an_answer_that_does_not_say_what_was_written(hub: StandIn, api: Api) -> None:
    hub.faults.append(Fault("answer", method="POST", value={"status": 201, "body": {"id": "x"}}))
    assert refused(put(api)).kind == "server"


def test_reading_it_back(hub: StandIn, api: Api) -> None:
    assert find(api, REPO, 7, KEY, me=BOT) == Ok(None)
    hub.hub.add_comment(REPO, 7, "octocat", f"{marker(KEY)}\nforged")
    assert find(api, REPO, 7, KEY, me=BOT) == Ok(None)
    put(api, "ours")
    found = find(api, REPO, 7, KEY, me=BOT)
    assert isinstance(found, Ok)
    assert found.data is not None
    assert found.data.body.endswith("ours")
    assert isinstance(find(api, REPO, 0, KEY, me=BOT), Refused)
    hub.faults.append(Fault("gone"))
    assert isinstance(find(api, REPO, 7, KEY, me=BOT), Refused)


def test_a_run_takes_few_calls(hub: StandIn, api: Api) -> None:
    put(api)
    before = hub.count()
    put(api, "new")
    assert (before, hub.count() - before) == (3, 2)


def test_answers_travel_in_the_comment_from_push_to_push(hub: StandIn, api: Api) -> None:
    """Written with the section, read back through the API, whatever GitHub does to line ends; a forged one is not looked at."""
    report = reports.behind()
    record = Record(
        card="card.yaml",
        question_digest="a" * 64,
        outcome="fail",
        attempt=1,
        sealed=True,
        commit="b" * 40,
        day="2026-03-01",
        run_url="https://github.example/octo/demo/actions/runs/1",
        shown=keep(document(report)),
    )
    memory = Memory((record,))
    hub.hub.add_comment(REPO, 7, "mallory", f"{marker(KEY)}\n{hide(Memory((replace(record, outcome='pass'),)), KEY).line}")
    text = comment(report, marker=f"{marker(KEY)}\n{hide(memory, KEY).line}")
    assert size(text) <= 60_000
    posted(put(api, text))
    stored = hub.hub.repositories[REPO].comments[1002]
    assert stored.body == text
    stored.body = stored.body.replace("\n", "\r\n")
    found = find(api, REPO, 7, KEY, me=BOT)
    assert isinstance(found, Ok) and found.data and reveal(found.data.body, KEY) == memory
    assert not posted(put(api, text)).changed


def test_the_largest_memory_and_the_largest_report_fit_together() -> None:
    record = Record(
        card="card.yaml",
        question_digest="a" * 64,
        outcome="fail",
        attempt=1,
        sealed=True,
        commit="b" * 40,
        day="2026-03-01",
        run_url="https://github.example/octo/demo/actions/runs/1",
        shown={"words": "x" * 8_900},
    )
    memory = Memory(tuple(replace(record, question_digest=f"{number:064x}") for number in range(100)))
    line = hide(memory, KEY).line
    assert len(line) > 15_000
    text = comment(reports.enormous(), marker=f"{marker(KEY)}\n{line}")
    assert size(text) <= 60_000
    assert line in text


@pytest.mark.parametrize("data", [[], {"login": ""}, {"login": 5}])
def test_an_account_without_a_name_is_no_author(hub: StandIn, api: Api, data: object) -> None:
    hub.faults.append(Fault("answer", value={"status": 200, "body": data}))
    assert isinstance(author_of(api), Refused)


def test_a_list_that_is_none_is_no_list(hub: StandIn, api: Api) -> None:
    hub.faults.append(Fault("answer", method="GET", value={"status": 200, "body": {"message": "hello"}}))
    outcome = refused(put(api))
    assert "not a list" in outcome.sentence
    assert hub.count("POST") == 0
