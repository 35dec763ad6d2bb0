"""One question, one answer: when a question is drawn and when its answer is shown again, and what a trick to ask again does."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cards import SMALLEST, exam_text, text

from evalaction import schemas
from evalaction.errors import UsageError
from evalaction.github.answer import NEVER_WRITTEN, Draw, Reuse, decide
from evalaction.github.hidden import Drawn, Memory, Record, Unread, hide, reveal
from evalaction.github.marker import key_of, marker
from evalaction.github.waits import limited, wait_s
from evalaction.method.cards.parse import parse_card
from evalaction.method.exams.exam import load_exam
from evalaction.method.question import question_digest, question_of

KEY = key_of("gate", "")
CARD = "eval/card.yaml"


def digest_of(card: bytes) -> str:
    """The digest of a real card with a real exam; the requests stand for the arms' files."""
    exam = load_exam({"eval/tasks.jsonl": exam_text(30)}, tasks="eval/tasks.jsonl")
    found = parse_card(card, file="card.yaml", schema=schemas.load("card"))
    return question_digest(question_of(found, exam), exam=exam, requests={"treatment": ["1" * 64]})


QUESTION = digest_of(text(SMALLEST))


def record(outcome: Drawn = "fail", **changes: Any) -> Record:
    fields: dict[str, Any] = {
        "card": CARD,
        "question_digest": QUESTION,
        "outcome": outcome,
        "attempt": 1,
        "sealed": True,
        "commit": "b" * 40,
        "day": "2026-03-01",
        "run_url": "https://github.example/octo/demo/actions/runs/1",
    }
    return Record(**{**fields, **changes})


def asked(memory: Memory | Unread, digest: str = QUESTION, event: str = "pull_request", **more: Any) -> Draw | Reuse:
    return decide(digest, card=CARD, event=event, pull_request=more.pop("pull_request", True), memory=memory, **more)


def drawn(answer: Draw | Reuse) -> Draw:
    assert isinstance(answer, Draw), answer
    return answer


@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_a_sealed_verdict_is_final(outcome: Drawn) -> None:
    memory = Memory((record(outcome),))
    answer = asked(memory)
    assert isinstance(answer, Reuse)
    assert answer.record == memory.records[0]
    assert answer.sentence == (
        "Nothing was drawn: this question was answered before. "
        f"That was attempt 1, on 2026-03-01 at commit bbbbbbbbbbbb, with the outcome {outcome}."
    )


@pytest.mark.parametrize("outcome", ["inconclusive", "unreachable"])
def test_what_could_not_be_said_may_be_asked_again_and_is_counted(outcome: Drawn) -> None:
    answer = drawn(asked(Memory((record(outcome, attempt=2),))))
    assert (answer.attempt, answer.forced, answer.why) == (3, 0, "again")
    assert answer.sentence is not None
    assert answer.sentence.startswith("Attempt 3 at this question")
    assert outcome in answer.sentence


@pytest.mark.parametrize("outcome", get_args(Drawn))
def test_an_unsealed_run_is_no_answer(outcome: Drawn) -> None:
    answer = drawn(asked(Memory((record(outcome, sealed=False),))))
    assert (answer.attempt, answer.why) == (2, "unsealed")
    assert "incomplete" in str(answer.sentence)


def test_a_dispatch_may_force_a_redraw_and_it_is_counted() -> None:
    once = drawn(asked(Memory((record(),)), event="workflow_dispatch", redraw=True))
    assert (once.attempt, once.forced, once.why) == (2, 1, "forced")
    assert "forced by a dispatch (1 forced in all)" in str(once.sentence)
    memory = Memory((record("pass", attempt=once.attempt, forced=once.forced),))
    twice = drawn(asked(memory, event="workflow_dispatch", redraw=True))
    assert (twice.attempt, twice.forced) == (3, 2)
    shown = asked(memory)
    assert isinstance(shown, Reuse)
    assert "attempt 2, 1 forced" in shown.sentence


def test_a_dispatch_that_forces_nothing_is_like_a_push() -> None:
    assert isinstance(asked(Memory((record(),)), event="workflow_dispatch"), Reuse)


def test_a_redraw_of_what_could_not_be_said_is_no_forced_one() -> None:
    assert drawn(asked(Memory((record("inconclusive"),)), event="workflow_dispatch", redraw=True)).forced == 0


@pytest.mark.parametrize("event", ["pull_request", "pull_request_target", "push", "schedule", "merge_group", "workflow_run"])
def test_nothing_else_may_force_one(event: str) -> None:
    with pytest.raises(UsageError, match="workflow_dispatch only") as caught:
        asked(Memory((record(),)), event=event, redraw=True)
    assert caught.value.code == "redraw_event"


@pytest.mark.parametrize("event", ["schedule", "push", "merge_group"])
def test_nightly_runs_always_draw(event: str) -> None:
    answer = drawn(asked(Memory((record(),)), event=event))
    assert answer == Draw(attempt=1, why="event")


def test_a_dispatch_without_a_pull_request_draws() -> None:
    assert drawn(asked(Memory((record(),)), event="workflow_dispatch", pull_request=False)).why == "event"


def test_another_question_is_drawn() -> None:
    assert drawn(asked(Memory((record(),)), "c" * 64)) == Draw(attempt=1, why="first")


def test_a_card_that_is_moved_or_copied_asks_nothing_new() -> None:
    """Its own answer counts, else the worst that any card had to the question: copies are no further tries."""
    copies = Memory((record("pass", card="a.yaml"), record("fail", card="b.yaml"), record("inconclusive", card="c.yaml")))

    def answer(card: str) -> Draw | Reuse:
        return decide(QUESTION, card=card, event="pull_request", pull_request=True, memory=copies)

    moved, own = answer("moved.yaml"), answer("a.yaml")
    assert isinstance(moved, Reuse) and moved.record.outcome == "fail"
    assert isinstance(own, Reuse) and own.record.outcome == "pass"
    assert drawn(answer("c.yaml")).attempt == 2


def test_no_comment_to_read_is_drawn_and_said() -> None:
    answer = drawn(asked(NEVER_WRITTEN))
    assert (answer.attempt, answer.why) == (1, "unread")
    assert answer.sentence == "No earlier comment of ours is on this pull request. Drawn as the first attempt."
    odd = drawn(asked(Unread("Something is odd.", lost=True)))
    assert odd.sentence == "Something is odd. Whether this question was answered before is not known."


class TestRerollingUntilGreen:
    """A sealed `fail` stands in our comment. Each way to ask once more, and what it does."""

    memory = Memory((record("fail"),))

    def test_a_re_run_is_answered_from_the_comment(self) -> None:
        assert isinstance(asked(self.memory), Reuse)

    def test_an_empty_commit_and_an_amended_message_change_no_question(self) -> None:
        """The digest is over the question and the requests; no commit is in it."""
        assert digest_of(text(SMALLEST)) == QUESTION
        assert isinstance(asked(self.memory, digest_of(text(SMALLEST))), Reuse)

    def test_reordered_yaml_with_comments_is_the_same_question(self) -> None:
        backwards = json.dumps(dict(reversed(list(SMALLEST.items()))), indent=7)
        flow = "\n".join(f"{name}: {json.dumps(value)}  # try again" for name, value in reversed(list(SMALLEST.items())))
        renamed = text({**SMALLEST, "name": "another", "pace": {"concurrency": 1}, "budget": {"calls": 1000}})
        for card in (backwards.encode(), flow.encode(), renamed):
            assert isinstance(asked(self.memory, digest_of(card)), Reuse)

    def test_a_deleted_comment_draws_and_the_report_says_that_nothing_could_be_read(self) -> None:
        answer = drawn(asked(NEVER_WRITTEN))
        assert answer.attempt == 1
        assert "No earlier comment" in str(answer.sentence)

    def test_a_comment_without_its_hidden_line_draws_and_says_so(self) -> None:
        answer = drawn(asked(reveal(f"{marker(KEY)}\n## heading", KEY)))
        assert "not known" in str(answer.sentence)

    def test_changing_the_question_and_changing_it_back_is_no_way_either(self) -> None:
        other = digest_of(text({**SMALLEST, "limits": {"min_stable_pass": 0.81}}))
        assert drawn(asked(self.memory, other)).why == "first"
        later = self.memory.with_record(record("pass", question_digest=other))
        answer = asked(later)
        assert isinstance(answer, Reuse)
        assert answer.record.outcome == "fail"

    def test_an_undecided_answer_stays_counted_through_other_questions(self) -> None:
        memory = Memory((record("inconclusive", attempt=4),)).with_record(record("pass", question_digest="c" * 64))
        assert drawn(asked(memory)).attempt == 5


def test_the_memory_of_a_comment() -> None:
    memory = Memory((record(),))
    assert reveal(f"{marker(KEY)}\n{hide(memory, KEY).line}\n## x", KEY) == memory


@given(
    outcomes=st.lists(st.tuples(st.sampled_from(get_args(Drawn)), st.booleans(), st.booleans()), min_size=1, max_size=12),
)
def test_attempts_are_counted_one_by_one_and_nothing_replaces_a_verdict_unforced(
    outcomes: list[tuple[Drawn, bool, bool]],
) -> None:
    memory = Memory()
    draws = 0
    for outcome, sealed, redraw in outcomes:
        event = "workflow_dispatch" if redraw else "pull_request"
        before = memory.of(CARD, QUESTION)
        answer = asked(memory, event=event, redraw=redraw)
        if isinstance(answer, Reuse):
            assert before is not None
            assert before.final
            assert not redraw
            continue
        draws += 1
        assert answer.attempt == draws
        assert answer.forced < answer.attempt
        memory = memory.with_record(record(outcome, sealed=sealed, attempt=answer.attempt, forced=answer.forced))
    assert len(memory.records) == 1


def test_attempts_stop_counting_before_they_break_the_record() -> None:
    answer = drawn(asked(Memory((record("fail", attempt=9_999, forced=9_998),)), event="workflow_dispatch", redraw=True))
    assert replace(record(), attempt=answer.attempt, forced=answer.forced).forced == 9_998


@pytest.mark.parametrize(
    ("status", "headers", "message", "found"),
    [
        (429, {}, "", True),
        (403, {}, "You have exceeded a secondary rate limit", True),
        (403, {"retry-after": "5"}, "", True),
        (403, {"x-ratelimit-remaining": "0"}, "API rate limit exceeded", True),
        (403, {"x-ratelimit-remaining": "0"}, "Resource not accessible by integration", False),
        (403, {"x-ratelimit-remaining": "12"}, "Must have admin rights", False),
        (422, {}, "was submitted too quickly", True),
        (422, {}, "body is too long", False),
        (404, {"retry-after": "5"}, "rate limit", False),
    ],
)
def test_what_is_a_rate_limit(status: int, headers: dict[str, str], message: str, found: bool) -> None:
    assert limited(status, headers, message) is found


def test_a_clock_that_is_wrong_does_not_lengthen_a_wait() -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1767225630", "date": "Thu, 01 Jan 2026 00:00:00 GMT"}
    assert wait_s(headers, now=0.0, earlier=0) == 31.0
    assert wait_s({**headers, "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT"}, now=0.0, earlier=0) == 9.0
    assert wait_s({**headers, "date": "nonsense"}, now=1767225631.0, earlier=0) == 1.0
    assert wait_s({}, now=0.0, earlier=2) == 240.0
