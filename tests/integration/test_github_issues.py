"""One issue per breakage against the stand-in for GitHub: opened, kept up to date, closed; ours alone, races, refusals."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from support.github_api import BOT, TOKEN, Fault, StandIn, serve
from support.github_clock import FakeClock
from support.github_state import Issue as Held

from evalaction.github.api import Api
from evalaction.github.issues import Breakage, Issue, Place, breakage_key, card_key, close, keep_open, marker, open_issues
from evalaction.github.replies import Ok, Refused

REPO = "octo/demo"
CARD = card_key("nightly", "", "eval/card.yaml")
LIMIT = breakage_key("treatment:min_stable_pass")
FIRST_LINE = marker(CARD, LIMIT)


@pytest.fixture
def hub() -> Iterator[StandIn]:
    with serve() as stand_in:
        yield stand_in
    assert not stand_in.violations


@contextlib.contextmanager
def placed(hub: StandIn, **how: Any) -> Iterator[Place]:
    with contextlib.closing(Api(hub.base, TOKEN, clock=FakeClock(), **how)) as api:
        yield Place(api=api, root=f"/repos/{REPO}", card=CARD, me=BOT)


@pytest.fixture
def place(hub: StandIn) -> Iterator[Place]:
    with placed(hub) as one:
        yield one


def breakage(body: str = "60 of 84 items", key: str = LIMIT) -> Breakage:
    return Breakage(key=key, title="Nightly evaluation: limit broken", body=body)


def found(place: Place) -> list[Issue]:
    answer = open_issues(place)
    assert isinstance(answer, Ok), answer
    return answer.data


def keep(place: Place, body: str = "60 of 84 items", key: str = LIMIT) -> Ok[int] | Refused:
    return keep_open(place, found(place), breakage(body, key))


def held(hub: StandIn) -> list[Held]:
    return list(hub.hub.repository(REPO).issues.values())


def test_it_is_opened_once_and_then_kept_up_to_date(hub: StandIn, place: Place) -> None:
    assert keep(place) == Ok(101)
    assert keep(place, "58 of 84 items") == Ok(101)
    [issue] = held(hub)
    assert (issue.state, issue.body) == ("open", f"{FIRST_LINE}\n58 of 84 items")
    assert issue.title == "Nightly evaluation: limit broken"


def test_the_same_again_writes_nothing(hub: StandIn, place: Place) -> None:
    keep(place)
    writes = hub.count("POST") + hub.count("PATCH")
    assert keep(place) == Ok(101)
    assert hub.count("POST") + hub.count("PATCH") == writes


def test_each_breakage_has_its_own(hub: StandIn, place: Place) -> None:
    keep(place)
    keep(place, key=breakage_key("drift"))
    assert [issue.breakage for issue in found(place)] == [LIMIT, breakage_key("drift")]


def test_it_is_closed_with_a_sentence_and_opened_anew_when_it_breaks_again(hub: StandIn, place: Place) -> None:
    keep(place)
    [ours] = found(place)
    assert close(place, ours, "**It holds again.**") == Ok(101)
    [issue] = held(hub)
    assert (issue.state, issue.state_reason) == ("closed", "completed")
    assert issue.body == f"{FIRST_LINE}\n**It holds again.**\n\n---\n\n60 of 84 items"
    assert keep(place) == Ok(102)
    assert [issue.state for issue in held(hub)] == ["closed", "open"]


def test_what_people_close_and_reopen_by_hand(hub: StandIn, place: Place) -> None:
    """Closed while it is broken: the next run opens another. Reopened: it goes on where it began, and both end when it holds."""
    keep(place)
    [first] = held(hub)
    first.state = "closed"
    assert keep(place, "58 of 84 items") == Ok(102)
    first.state = "open"
    assert keep(place, "57 of 84 items") == Ok(101)
    _, second = held(hub)
    assert (first.state, second.state, second.state_reason) == ("open", "closed", "not_planned")
    assert first.body == f"{FIRST_LINE}\n57 of 84 items" and "it goes on in issue 101" in second.body
    for night in ("Monday", "Tuesday"):
        first.state = "open"
        [ours] = found(place)
        assert close(place, ours, f"**It holds again.** {night}.") == Ok(101)
    assert first.body.startswith(f"{FIRST_LINE}\n**It holds again.** Tuesday.\n") and first.body.endswith("57 of 84 items")


@pytest.mark.parametrize(
    ("login", "body", "app"),
    [
        ("mallory", f"{FIRST_LINE}\n", None),
        ("mallory[bot]", f"{FIRST_LINE}\n", "mallory"),
        (BOT, f"{FIRST_LINE}\n", "mallory"),
        (BOT, f"> {FIRST_LINE}\n", "github-actions"),
        (BOT, f"hello\n{FIRST_LINE}\n", "github-actions"),
        (BOT, f"{FIRST_LINE[:-4]}\n", "github-actions"),
        (BOT, marker(card_key("nightly", "", "eval/card.yaml2"), LIMIT), "github-actions"),
    ],
)
def test_somebody_elses_is_never_touched(hub: StandIn, place: Place, login: str, body: str, app: str | None) -> None:
    other = hub.hub.add_issue(REPO, login, "title", body, app)
    assert keep(place) == Ok(102)
    assert (other.body, other.state) == (body, "open")


def test_pull_requests_are_no_issues(hub: StandIn, place: Place) -> None:
    """GitHub lists them among the issues."""
    assert found(place) == []
    assert [request.query["state"] for request in hub.requests] == ["open"]


def test_it_is_found_on_any_page(hub: StandIn, place: Place) -> None:
    keep(place)
    for number in range(130):
        hub.hub.add_issue(REPO, "somebody", f"question {number}", "how?")
    assert keep(place, "newer") == Ok(101)
    assert sum("evalaction:issue" in issue.body for issue in held(hub)) == 1


@pytest.mark.parametrize("kind", ["error_after", "reset_after"])
def test_one_that_was_opened_without_anybody_saying_so(hub: StandIn, place: Place, kind: Any) -> None:
    hub.faults.append(Fault(kind, method="POST"))
    assert keep(place) == Ok(101)
    assert len(held(hub)) == 1


@pytest.mark.parametrize("kind", ["error", "reset"])
def test_one_that_was_not_opened_is_tried_once_more(hub: StandIn, place: Place, kind: Any) -> None:
    hub.faults.append(Fault(kind, method="POST"))
    assert keep(place) == Ok(101)
    hub.faults.append(Fault(kind, method="POST", times=None))
    assert isinstance(keep(place, key=breakage_key("drift")), Refused)
    assert len(held(hub)) == 1


def test_a_list_older_than_the_last_write(hub: StandIn, place: Place) -> None:
    """The list hides our older issue until we have opened a second one: the older one stays."""
    keep(place)
    hub.faults.append(Fault("stale", path="/issues$", value=1))
    assert keep(place, "newer") == Ok(101)
    first, second = held(hub)
    assert (first.state, first.body.endswith("newer")) == ("open", True)
    assert (second.state, second.state_reason) == ("closed", "not_planned")
    assert "goes on in issue 101" in second.body


def test_two_runs_at_the_same_moment_leave_one_open(hub: StandIn) -> None:
    meeting, met = threading.Barrier(2), threading.local()

    def meet(method: str, path: str) -> None:
        if method == "POST" and not getattr(met, "done", False):
            met.done = True
            with contextlib.suppress(threading.BrokenBarrierError):
                meeting.wait(10)

    hub.before = meet
    answers: list[object] = []

    def run() -> None:
        with placed(hub) as one:
            answers.append(keep(one))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Ok(101) in answers
    assert [issue.number for issue in held(hub) if issue.state == "open"] == [101]


@pytest.mark.parametrize("kind", ["permission", "not_found", "gone", "unauthorized", "locked"])
def test_refusals_are_sentences(hub: StandIn, place: Place, kind: Any) -> None:
    hub.faults.append(Fault(kind, method="POST", value="issues=write" if kind == "permission" else None))
    answer = keep(place)
    assert isinstance(answer, Refused) and TOKEN not in answer.sentence
    if kind == "permission":
        assert answer.permissions == ("issues: write",) and "`issues: write`" in answer.sentence


def test_a_list_that_is_refused_opens_nothing(hub: StandIn, place: Place) -> None:
    hub.faults.append(Fault("permission", method="GET"))
    assert isinstance(open_issues(place), Refused)
    assert held(hub) == []


def test_an_answer_without_a_number_is_none(hub: StandIn, place: Place) -> None:
    hub.faults.append(Fault("answer", method="POST", value={"status": 201, "body": {"title": "x"}}))
    answer = keep(place)
    assert isinstance(answer, Refused) and "which issue" in answer.sentence


def test_an_app_of_its_own_finds_its_issues_again(hub: StandIn) -> None:
    hub.hub.accounts[TOKEN] = "our-app[bot]"
    with placed(hub) as one:
        assert keep(one) == Ok(101)
    [issue] = held(hub)
    assert issue.login == "our-app[bot]"


def test_half_a_character_does_not_make_a_post_fail(hub: StandIn, place: Place) -> None:
    assert keep(place, "a\ud800b\x00c") == Ok(101)
    assert held(hub)[0].body.endswith("a\ufffdb\ufffdc")


def test_a_marker_has_whole_keys() -> None:
    for keys in ((CARD, "x"), ("--> x", LIMIT), (CARD.upper(), LIMIT)):
        with pytest.raises(ValueError, match="64 lower-case"):
            marker(*keys)
