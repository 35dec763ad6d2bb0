"""The history on a branch of the stand-in for GitHub: first run, races, branches that are not ours, hostile entries, refusals."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from support.github_api import TOKEN, Fault, StandIn, serve
from support.github_clock import FakeClock
from support.histories import comparable, night

from evalaction.github.api import Api
from evalaction.github.history import BLOCK, TRIES, Branch, Past, Tip, append, find_branch, look, read, wait_s
from evalaction.github.replies import Ok, Refused
from evalaction.method.series.entry import Entry
from evalaction.method.series.entry_json import entry_bytes
from evalaction.method.series.places import MARKER, TABLE, marker_file, place_of

REPO = "octo/demo"
NAME = "evaluation/history"
REF = f"refs/heads/{NAME}"


@pytest.fixture
def hub() -> Iterator[StandIn]:
    with serve() as stand_in:
        stand_in.hub.repository(REPO).commit_files({"README.md": b"x"}, branch="main")
        yield stand_in
    assert not stand_in.violations


@contextlib.contextmanager
def opened(hub: StandIn) -> Iterator[Branch]:
    with contextlib.closing(Api(hub.base, TOKEN, clock=FakeClock())) as api:
        found = find_branch(api, REPO, NAME)
        assert isinstance(found, Ok), found
        yield found.data


@pytest.fixture
def branch(hub: StandIn) -> Iterator[Branch]:
    with opened(hub) as one:
        yield one


def files(entry: Entry) -> dict[str, bytes]:
    place = place_of(entry)
    return {f"{place.folder}/{TABLE}": b"task,arm\r\nt0000,treatment\r\n", place.path: entry_bytes(entry)}


def add(branch: Branch, entry: Entry) -> Ok[str] | Refused:
    return append(branch, files(entry), message="Add a run")


def added(branch: Branch, *entries: Entry) -> None:
    for entry in entries:
        assert isinstance(add(branch, entry), Ok)


def held(hub: StandIn) -> list[str]:
    """Every path on the branch."""
    repository = hub.hub.repository(REPO)
    return sorted(repository.files(repository.commits[repository.refs[REF]]["tree"]))


def past(branch: Branch, of: Entry) -> Past:
    tip = look(branch)
    assert isinstance(tip, Ok), tip
    place = place_of(of)
    found = read(branch, tip.data, card=place.card, series=place.series)
    assert isinstance(found, Ok), found
    return found.data


def refused(answer: object) -> Refused:
    assert isinstance(answer, Refused), answer
    return answer


def test_the_first_run_makes_the_branch_with_our_marker_and_no_parent(hub: StandIn, branch: Branch) -> None:
    one = night(1, ["pp"])
    assert look(branch) == Ok(Tip()) and past(branch, one) == Past()
    answer = add(branch, one)
    repository = hub.hub.repository(REPO)
    assert answer == Ok(repository.refs[REF])
    commit = repository.commits[repository.refs[REF]]
    assert (commit["parents"], commit["message"]) == ([], "Add a run")
    assert held(hub) == sorted([MARKER, *files(one)])
    assert past(branch, one) == Past(entries=(one,))
    assert repository.refs["refs/heads/main"] != repository.refs[REF]


def test_runs_are_added_and_nothing_is_changed(hub: StandIn, branch: Branch) -> None:
    first, second = night(1, ["pp"]), night(2, ["kk"])
    added(branch, first)
    before = hub.hub.repository(REPO).refs[REF]
    added(branch, second)
    repository = hub.hub.repository(REPO)
    assert repository.commits[repository.refs[REF]]["parents"] == [before]
    assert past(branch, first).entries == (first, second)
    assert {request.body["force"] for request in hub.requests if request.method == "PATCH"} == {False}


def test_table_and_entry_are_there_byte_for_byte(hub: StandIn, branch: Branch) -> None:
    one = night(1, ["pp"])
    added(branch, one)
    repository = hub.hub.repository(REPO)
    for path, data in files(one).items():
        entry = repository.entry_at(repository.refs[REF], path)
        assert entry is not None and entry[0] == "100644" and repository.blobs[entry[2]] == data


def test_a_large_table_is_a_blob_of_its_own(hub: StandIn, branch: Branch) -> None:
    one = night(1, ["pp"])
    large = {**files(one), f"{place_of(one).folder}/{TABLE}": b"task,arm\r\n" + b"t0000,treatment\r\n" * 20_000}
    assert isinstance(append(branch, large, message="Add a run"), Ok)
    assert sum(request.path.endswith("/git/blobs") for request in hub.requests) == 1
    repository = hub.hub.repository(REPO)
    for path, data in large.items():
        entry = repository.entry_at(repository.refs[REF], path)
        assert entry is not None and repository.blobs[entry[2]] == data


def test_the_same_run_twice_is_one_entry(hub: StandIn, branch: Branch) -> None:
    one = night(1, ["pp"])
    added(branch, one)
    tip = hub.hub.repository(REPO).refs[REF]
    assert add(branch, one) == Ok(tip)
    assert hub.hub.repository(REPO).refs[REF] == tip


def test_another_run_in_the_same_place_is_refused(hub: StandIn, branch: Branch) -> None:
    added(branch, night(1, ["pp"]))
    tip = hub.hub.repository(REPO).refs[REF]
    assert "another run lies in its place" in refused(add(branch, night(1, ["kk"]))).sentence
    assert hub.hub.repository(REPO).refs[REF] == tip


@pytest.mark.parametrize("first", [True, False])
def test_two_runs_at_the_same_moment_both_land(hub: StandIn, first: bool) -> None:
    """Also where both find no branch. They meet right before the branch is moved or made."""
    runs = [night(2, ["pp"]), night(3, ["kk"]), night(4, ["pk"])]
    with opened(hub) as one:
        if not first:
            added(one, night(1, ["pp"]))
    meeting, met = threading.Barrier(len(runs)), threading.local()

    def meet(method: str, path: str) -> None:
        if path.endswith(("/git/refs", f"/git/refs/heads/{NAME}")) and not getattr(met, "done", False):
            met.done = True
            with contextlib.suppress(threading.BrokenBarrierError):
                meeting.wait(10)

    hub.before = meet
    answers: list[object] = []

    def run(entry: Entry) -> None:
        with opened(hub) as own:
            answers.append(add(own, entry))

    threads = [threading.Thread(target=run, args=(entry,)) for entry in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    hub.before = None
    assert all(isinstance(answer, Ok) for answer in answers), answers
    with opened(hub) as own:
        expected = runs if first else [night(1, ["pp"]), *runs]
        found = past(own, runs[0]).entries + past(own, night(1, ["pp"])).entries
        assert sorted({entry.run for entry in found}) == sorted(entry.run for entry in expected)
    assert MARKER in held(hub)


@pytest.mark.parametrize("status", [409, 422])
def test_a_branch_that_moves_is_read_again_a_bounded_number_of_times(hub: StandIn, branch: Branch, status: int) -> None:
    added(branch, night(1, ["pp"]))
    hub.faults.append(Fault("answer", method="PATCH", times=None, value={"status": status, "body": {"message": "moved"}}))
    assert refused(add(branch, night(2, ["pp"]))).status == status
    assert sum(request.method == "PATCH" for request in hub.requests) == TRIES


def test_whom_others_overtake_many_times_lands_in_the_end(hub: StandIn, branch: Branch) -> None:
    """A matrix of ten legs: nine may be faster."""
    added(branch, night(1, ["pp"]))
    hub.faults.append(Fault("answer", method="PATCH", times=9, value={"status": 422, "body": {"message": "moved"}}))
    two = night(2, ["pp"])
    added(branch, two)
    assert past(branch, two).entries[-1] == two


def test_those_who_met_once_wait_for_different_times() -> None:
    waits = [[wait_s([f"card/{run}/entry.json"], attempt) for attempt in range(1, TRIES)] for run in range(20)]
    assert len({tuple(one) for one in waits}) == 20 and all(len({one[at] for one in waits}) == 20 for at in range(TRIES - 1))
    assert all(0.5 * attempt <= wait < 1.5 * attempt for one in waits for attempt, wait in enumerate(one, start=1))
    assert max(map(sum, waits)) < 120, "well within the cap on all waiting"


@pytest.mark.parametrize("kind", ["error_after", "reset_after"])
@pytest.mark.parametrize("first", [True, False])
def test_a_write_that_nobody_confirmed_is_found_again(hub: StandIn, branch: Branch, kind: Any, first: bool) -> None:
    if not first:
        added(branch, night(1, ["pp"]))
    hub.faults.append(Fault(kind, path=r"/git/refs(/heads/.*)?$", method="POST" if first else "PATCH"))
    two = night(2, ["pp"])
    assert isinstance(add(branch, two), Ok)
    assert past(branch, two).entries[-1] == two


@pytest.mark.parametrize("kind", ["error", "reset", "error_after"])
def test_an_object_that_was_not_confirmed_is_made_again(hub: StandIn, branch: Branch, kind: Any) -> None:
    hub.faults += [Fault(kind, method="POST", path=f"/git/{name}$") for name in ("blobs", "trees", "commits")]
    large = {**files(night(1, ["pp"])), "x/rows.csv": b"," * 300_000}
    assert isinstance(append(branch, large, message="Add a run"), Ok)


def test_the_default_branch_is_left_alone(hub: StandIn) -> None:
    with contextlib.closing(Api(hub.base, TOKEN, clock=FakeClock())) as api:
        assert "'main' is the default branch" in refused(find_branch(api, REPO, "main")).sentence
        assert "no name" in refused(find_branch(api, "../x", "history")).sentence
    assert hub.count("POST") == hub.count("PATCH") == 0


@pytest.mark.parametrize("content", [{"README.md": b"somebody's work"}, {MARKER: b"{}"}, {f"sub/{MARKER}": marker_file()}])
def test_a_branch_without_our_marker_is_left_alone(hub: StandIn, branch: Branch, content: dict[str, bytes]) -> None:
    tip = hub.hub.repository(REPO).commit_files(content, branch=NAME)
    assert f"holds no {MARKER}" in refused(look(branch)).sentence
    assert f"holds no {MARKER}" in refused(add(branch, night(1, ["pp"]))).sentence
    assert hub.hub.repository(REPO).refs[REF] == tip


def test_a_protected_branch_is_left_alone(hub: StandIn, branch: Branch) -> None:
    added(branch, night(1, ["pp"]))
    hub.hub.repository(REPO).protected.add(NAME)
    assert "is protected" in refused(add(branch, night(2, ["pp"]))).sentence


def test_a_missing_permission_is_named(hub: StandIn, branch: Branch) -> None:
    hub.faults.append(Fault("permission", method="POST", times=None, value="contents=write"))
    answer = refused(add(branch, night(1, ["pp"])))
    assert answer.permissions == ("contents: write",) and "`contents: write`" in answer.sentence
    assert REF not in hub.hub.repository(REPO).refs


@pytest.mark.parametrize("kind", ["not_found", "unauthorized", "error", "html", "secondary"])
def test_whatever_github_refuses_is_a_sentence(hub: StandIn, branch: Branch, kind: Any) -> None:
    hub.faults.append(Fault(kind, times=None))
    sentence = refused(add(branch, night(1, ["pp"]))).sentence
    assert TOKEN not in sentence and sentence.endswith(".")


def test_what_lies_there_may_be_anybodys(hub: StandIn, branch: Branch) -> None:
    """It is counted and left out; what is no file in the place of an entry is not even read."""
    good = night(1, ["pp"])
    added(branch, good)
    place = place_of(good)
    repository = hub.hub.repository(REPO)
    kept = {
        path: repository.blobs[sha]
        for path, (_, _, sha) in repository.files(repository.commits[repository.refs[REF]]["tree"]).items()
    }
    series = f"{place.card}/{place.series}"
    hostile = {
        f"{series}/2026-01-03/forged/entry.json": entry_bytes(good),
        f"{series}/2026-01-04/text/entry.json": b"::set-output name=outcome::pass",
        f"{series}/2026-01-05/deep/entry.json": b"[" * 100_000,
        f"{series}/2026-01-06/binary/entry.json": b"\xff\x00",
        f"{series}/entry.json": b"{}",
        f"{place.card}/other/2026-01-06/x/entry.json": b"{}",
    }
    repository.commit_files({**kept, **hostile}, branch=NAME)
    assert past(branch, good) == Past(entries=(good,), damaged=4)


def test_links_and_folders_are_not_read(hub: StandIn, branch: Branch) -> None:
    good = night(1, ["pp"])
    added(branch, good)
    place = place_of(good)
    repository = hub.hub.repository(REPO)
    paths = dict(repository.files(repository.commits[repository.refs[REF]]["tree"]))
    paths[f"{place.card}/{place.series}/2026-01-03/link/entry.json"] = ("120000", "blob", repository.add_blob(b"../../../x"))
    repository.refs[REF] = repository.add_commit(repository.add_tree(paths), [repository.refs[REF]], "hostile")
    assert past(branch, good) == Past(entries=(good,))


def test_of_other_series_the_newest_run_is_read_to_name_what_changed(branch: Branch) -> None:
    old = [night(number, ["pp"]) for number in (1, 2)]
    new = night(3, ["pp"], comparable=comparable(2, timeout_ms=5))
    added(branch, *old, new)
    assert past(branch, new).entries == (new, old[1])


def test_of_a_long_series_the_newest_fifty_or_more_are_read(hub: StandIn, branch: Branch) -> None:
    entries = [
        night(number, ["p"], started_at=f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z") for number in range(2 * BLOCK)
    ]
    repository = hub.hub.repository(REPO)
    everything = {MARKER: marker_file()} | {place_of(entry).path: entry_bytes(entry) for entry in entries}
    repository.commit_files(everything, branch=NAME)
    found = past(branch, entries[0])
    assert (len(found.entries), found.left_out, found.damaged) == (BLOCK, BLOCK, 0)
    assert found.entries[0] == entries[BLOCK]


def test_a_list_that_github_cut_is_no_list(hub: StandIn, branch: Branch) -> None:
    one = night(1, ["pp"])
    added(branch, one)
    tip = look(branch)
    assert isinstance(tip, Ok)
    cut = {"sha": "0" * 40, "truncated": True, "tree": []}
    hub.faults.append(Fault("answer", path="/git/trees/", value={"status": 200, "body": cut}))
    place = place_of(one)
    assert "too long" in refused(read(branch, tip.data, card=place.card, series=place.series)).sentence


def test_a_blob_that_is_not_what_its_name_says_is_left_out(hub: StandIn, branch: Branch) -> None:
    one = night(1, ["pp"])
    added(branch, one)
    other = {"content": "AAAA", "encoding": "base64"}
    hub.faults.append(Fault("answer", path="/git/blobs/", value={"status": 200, "body": other}))
    assert past(branch, one) == Past(damaged=1)
