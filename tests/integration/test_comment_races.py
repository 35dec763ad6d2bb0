"""Runs at the same moment, reads older than writes, writes that nobody confirmed: in the end there is one comment, the newest."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from support.github_api import BOT, TOKEN, Fault, StandIn, serve
from support.github_clock import FakeClock

from evalaction.github.api import Api
from evalaction.github.comment import Outcome, Posted, upsert
from evalaction.github.marker import key_of, marker
from evalaction.github.replies import Refused

KEY = key_of("gate", "")
REPO = "octo/demo"
COMMENTS = "/issues/7/comments$"


@pytest.fixture
def hub() -> Iterator[StandIn]:
    with serve() as stand_in:
        yield stand_in
    assert not stand_in.violations


def put(hub: StandIn, body: str) -> Outcome:
    with contextlib.closing(Api(hub.base, TOKEN, clock=FakeClock(), timeout_s=5)) as api:
        return upsert(api, REPO, 7, KEY, body, me=BOT)


def bodies(hub: StandIn) -> list[str]:
    return [one.body.removeprefix(marker(KEY)).strip() for one in hub.hub.repositories[REPO].comments.values()]


@pytest.mark.parametrize("kind", ["error_after", "reset_after"])
def test_a_create_that_failed_but_happened(hub: StandIn, kind: Any) -> None:
    hub.faults.append(Fault(kind, method="POST"))
    answer = put(hub, "verdict")
    assert isinstance(answer, Posted)
    assert (answer.created, answer.id) == (True, 1001)
    assert hub.count("POST") == 1
    assert bodies(hub) == ["verdict"]


def test_a_create_that_answered_too_late(hub: StandIn) -> None:
    hub.faults.append(Fault("slow", method="POST", value=0.5))
    with contextlib.closing(Api(hub.base, TOKEN, clock=FakeClock(), timeout_s=0.15)) as api:
        assert isinstance(upsert(api, REPO, 7, KEY, "verdict", me=BOT), Posted)
    assert bodies(hub) == ["verdict"]


@pytest.mark.parametrize("kind", ["error", "reset"])
def test_a_create_that_failed_and_did_not_happen(hub: StandIn, kind: Any) -> None:
    hub.faults.append(Fault(kind, method="POST"))
    assert isinstance(put(hub, "verdict"), Posted)
    assert hub.count("POST") == 2
    assert bodies(hub) == ["verdict"]


@pytest.mark.parametrize("stale", [1, 2, 3])
def test_a_create_that_happened_and_is_not_listed_yet(hub: StandIn, stale: int) -> None:
    hub.faults += [Fault("error_after", method="POST"), Fault("stale", method="GET", path=COMMENTS, skip=1, times=stale, value=1)]
    assert isinstance(put(hub, "verdict"), Posted)
    assert hub.count("POST") == 1
    assert bodies(hub) == ["verdict"]


def test_a_create_that_is_listed_only_after_the_second_one(hub: StandIn) -> None:
    hub.faults += [Fault("error_after", method="POST"), Fault("stale", method="GET", path=COMMENTS, skip=1, times=4, value=1)]
    assert isinstance(put(hub, "verdict"), Posted)
    assert hub.count("POST") == 2
    assert bodies(hub) == ["verdict"]


def test_creates_that_always_fail_end(hub: StandIn) -> None:
    hub.faults.append(Fault("error", method="POST", times=None))
    answer = put(hub, "verdict")
    assert isinstance(answer, Refused)
    assert (answer.kind, hub.count("POST")) == ("server", 2)


def test_a_stale_list_hides_the_older_comment(hub: StandIn) -> None:
    put(hub, "first")
    hub.faults.append(Fault("stale", method="GET", path=COMMENTS, value=1))
    answer = put(hub, "second")
    assert isinstance(answer, Posted)
    assert answer.id == 1001
    assert bodies(hub) == ["second"]


def test_a_list_that_stays_stale_leaves_a_comment_at_least(hub: StandIn) -> None:
    hub.faults.append(Fault("stale", method="GET", path=COMMENTS, times=None, value=1))
    answer = put(hub, "verdict")
    assert isinstance(answer, Posted)
    assert bodies(hub) == ["verdict"]


def test_a_list_that_fails_after_the_create_leaves_the_comment(hub: StandIn) -> None:
    hub.faults.append(Fault("not_found", method="GET", path=COMMENTS, skip=1, times=None))
    assert isinstance(put(hub, "verdict"), Posted)
    assert bodies(hub) == ["verdict"]


def test_both_legs_list_before_either_creates(hub: StandIn) -> None:
    """Two jobs of a matrix with one key, at the same moment, on real threads."""
    barrier = threading.Barrier(2)
    met: set[int] = set()

    def meet(method: str, path: str) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            if method == "POST" and len(met) < 2:
                met.add(threading.get_ident())
                barrier.wait(5)

    hub.before = meet
    legs = [threading.Thread(target=put, args=(hub, name)) for name in ("a", "b")]
    for leg in legs:
        leg.start()
    for leg in legs:
        leg.join()
    assert hub.count("POST") == 2
    newest = [request.body["body"] for request in hub.requests if request.method == "POST"][-1]
    assert [f"{marker(KEY)}\n{body}" for body in bodies(hub)] == [newest]


@pytest.mark.parametrize("existing", [0, 1, 2])
@pytest.mark.parametrize("call", range(1, 5))
def test_a_whole_other_run_between_any_two_calls(hub: StandIn, call: int, existing: int) -> None:
    """Before call number `call` of `a` a whole run of `b` takes place; whoever wrote later stays."""
    for number in range(existing):
        hub.hub.add_comment(REPO, 7, BOT, f"{marker(KEY)}\nold {number}")
    seen = 0

    def other(method: str, path: str) -> None:
        nonlocal seen
        seen += 1
        if seen == call:
            hub.before = None
            put(hub, "b")

    hub.before = other
    assert isinstance(put(hub, "a"), Posted)
    first_write = 2
    came_that_far = hub.before is None
    assert bodies(hub) == ["b" if came_that_far and call > first_write else "a"]
    assert came_that_far or call > (3, 2, 4)[existing]


@pytest.mark.parametrize("call", range(1, 8))
def test_a_run_that_dies_anywhere_is_tidied_by_the_next(hub: StandIn, call: int) -> None:
    """Two duplicates and a run that loses its network before call number `call`: the next run leaves one comment."""
    for text in ("x", "y"):
        hub.hub.add_comment(REPO, 7, BOT, f"{marker(KEY)}\n{text}")
    hub.faults.append(Fault("reset", skip=call - 1, times=None))
    put(hub, "a")
    hub.faults.clear()
    assert bodies(hub)
    assert isinstance(put(hub, "c"), Posted)
    assert bodies(hub) == ["c"]


def test_two_loose_ends_meet(hub: StandIn) -> None:
    """The older leg finds the newer one's comment beside its own: it hands over the newer text before it deletes anything."""
    state = {"done": False}

    def other(method: str, path: str) -> None:
        listed_again = method == "GET" and hub.count("POST") == 1
        if listed_again and not state["done"]:
            state["done"] = True
            hub.hub.add_comment(REPO, 7, BOT, f"{marker(KEY)}\nnewer")  # its run is about to tidy up, or was killed

    hub.before = other
    answer = put(hub, "older")
    assert isinstance(answer, Posted)
    assert answer.id == 1001
    assert bodies(hub) == ["newer"]
    written = [(one.method, one.path[-4:]) for one in hub.requests if one.method in {"PATCH", "DELETE"}]
    assert written == [("PATCH", "1001"), ("DELETE", "1002")]
