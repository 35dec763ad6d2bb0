"""The outcome in plain words, and the one thing to do: pure functions of the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalaction.errors import Outcome
from evalaction.method.card import Card, Limit
from evalaction.method.counting.rates import draw_rates
from evalaction.method.counting.tally import Tally
from evalaction.method.judging.facts import ArmFacts
from evalaction.method.judging.limits import applies, limit_name
from evalaction.method.judging.sign import DISAGREE, NO_LEAD, UNPAIRED
from evalaction.method.judging.verdict import Findings
from evalaction.method.plan import items_to_add
from evalaction.method.records import ArmName, Quoted, Sentence
from evalaction.method.report import ColumnName, LimitState, Pair
from evalaction.method.telling.words import count, listed, percent, points, quoted, tallied

COIN_FLIP = Fraction(1, 10)
"""From this flip rate on, a high first draw is called a coin."""
HALF = Fraction(1, 2)
SHOWN = 3
"""Items that the advice names."""

_HEADINGS = {
    "partial_grid": "nothing can be said: the grid is not whole",
    "synthetic": "nothing can be said: the replies are scripted",
    "small_exam": "nothing can be said: too few items to claim anything",
    "cached_draws": "nothing can be said: draws came from a cache",
    "transport": "nothing can be said: transport",
    "below_min_items": "nothing can be said: too few items in a half",
    "unscored_mass": "nothing can be said: too many draws without a verdict",
    "behind": "treatment is behind",
    "wrong_direction": "control is ahead",
    NO_LEAD: "no direction earned: there is no lead in both halves",
    DISAGREE: "the two halves disagree",
    UNPAIRED: "no direction earned: the lead is gone on the paired items",
}
_PATH_REMEDIES = {
    "dns": "the host name",
    "tls": "the certificate",
    "timeout": "`draws.timeout_ms` and the load of the server",
    "status:401": "the key",
    "status:403": "the rights of the key",
    "status:404": "the address and the name of the model",
    "status:429": "`pace.per_minute` and the quota",
    "malformed": "`api` and the address: what answers 200 has not the shape of this API",
    "failed": "the runner's own log of these jobs",
}
_UNTOLD = "See why the trace does not tell the counter on every draw: the endpoint's `trace` and `counters` say where it is read."
_SEEDED = "Take the sampling seed out of `params`, or the limits that it leaves without meaning."
_ANY_REMEDY = "address, timeout and authentication"
_EMPTY_REMEDIES = {
    "empty:length": "raise `max_tokens`: the limit was used up before any text came",
    "empty:tool_calls": "the model called tools: declare `output: tool_calls` for the endpoint, or send no tools",
    "empty:refusal": "the model refused: open these items",
    "empty:filter": "the provider's filter withheld the reply: open these items",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """All that heading and advice are a function of."""

    card: Card
    arms: Mapping[ArmName, ArmFacts]
    tally: Tally
    findings: Findings
    moved: ColumnName | None
    pairs: tuple[Pair, ...]

    @property
    def claim(self) -> str:
        """Without a control nothing is claimed, whatever the card says."""
        return self.card.sign.claim if self.card.sign and "control" in self.tally.sides else "none"

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Those that this run can hold to."""
        return tuple(limit for limit in self.card.limits if applies(limit, self.card, self.tally))

    @property
    def gated(self) -> bool:
        return self.claim != "none" or bool(self.limits)


def heading(case: Case) -> Sentence:
    """The outcome in plain words, without mark, title or name."""
    found = case.findings
    if found.deciding is None:
        return _good_heading(case)
    code = found.deciding.code
    if found.verdict.outcome is Outcome.UNREACHABLE:
        return (f"nothing reached: {listed([each.code.partition(':')[0] for each in found.verdict.breaks])}",)
    if code.startswith("limit:"):
        return _limit_heading(case)
    if code == "not_shown":
        return (f"not shown to be within {_margin(case)}",)
    return (_HEADINGS[code.rpartition(":")[2]],)


def _good_heading(case: Case) -> Sentence:
    if not case.gated:
        return ("measured, nothing gated",)
    if case.claim == "not_behind":
        return (f"treatment is within {_margin(case)}",)
    if case.claim != "none":
        return (f"{'treatment' if case.findings.verdict.sign > 0 else 'control'} is ahead in both halves",)
    limits, of = len(case.limits), len(case.card.limits)
    if limits < of:
        return (f"{limits} of {of} limits judged, and {'it holds' if limits == 1 else 'all hold'}",)
    return ("the limit holds" if limits == 1 else f"all {limits} limits hold",)


def _margin(case: Case) -> str:
    assert case.card.sign is not None and case.card.sign.margin is not None
    return points(case.card.sign.margin.value)


def _limit_heading(case: Case) -> Sentence:
    inconclusive = case.findings.verdict.outcome is Outcome.INCONCLUSIVE
    undecided = case.findings.deciding is not None and case.findings.deciding.code.endswith(":undecided")
    state: LimitState = "undecided" if undecided else "breached"
    those = [result.limit for result in case.findings.limits if result.state == state]
    prefix = "nothing can be said: " if inconclusive else ""
    if len(those) == 1:
        return (prefix, *limit_name(those[0]), f" is {state}")
    return (f"{prefix}{len(those)} limits are {state}",)


def todo(case: Case) -> Sentence | None:
    """What to do, in one sentence; None where there is nothing to do."""
    found = case.findings
    if found.deciding is None:
        return None
    if found.verdict.outcome is not Outcome.FAIL:
        return _todo_inconclusive(case, found.deciding.code)
    column = case.moved or _limited_column(case)
    if column == "reach":
        return _path(case, _worst_arm(case))
    if column == "contract":
        return _wrapper(case)
    return _draws(case) or _open_items(case)


def _todo_inconclusive(case: Case, code: str) -> Sentence:
    reason = code.rpartition(":")[2]
    fixed = {
        "partial_grid": "Run it again with the same folder and `--resume`: only the missing draws are sent.",
        "synthetic": "Point the card at a real endpoint; `--synthetic` shows what scripted replies would give.",
        "small_exam": "Add items, or claim `none`: columns, draws and pairs are shown at any size.",
        "cached_draws": "Turn off the cache between here and the model, and draw again.",
    }
    if reason in fixed:
        return (fixed[reason],)
    if reason == "below_min_items":
        return _add_items(case)
    if reason == "not_shown":
        return _show_more(case)
    arm: ArmName = "control" if code.startswith("control") else _worst_arm(case)
    if reason == "undecided" and not case.tally.sides[arm].lost():
        return (_UNTOLD if ":max_counter:" in code else _SEEDED,)
    if reason == "unscored_mass" and case.tally.sides[arm].letters.count(b"e") > case.tally.sides[arm].letters.count(b"u"):
        return ("Repair the checker, not the prompt: it failed by itself (", *tallied(case.tally.sides[arm].lost()), ").")
    return _path(case, arm)


def _add_items(case: Case) -> Sentence:
    assert case.card.sign is not None
    halves = (len(case.tally.half(0)), len(case.tally.half(1)))
    add = items_to_add(halves, case.card.sign.min_items_per_half)
    return (f"Add {count(add, 'item')}: then both halves are large enough in 99 of 100 cases.",)


def _show_more(case: Case) -> Sentence:
    bound = case.findings.verdict.bound
    assert bound is not None
    if bound.enough_items is None:
        return _open_items(case) or ("More items of this kind would change nothing.",)
    return (f"Add items: about {bound.enough_items:,} in all would show it if the difference stays as it is.",)


def _worst_arm(case: Case) -> ArmName:
    """The arm that lost more draws; the treatment when level."""
    sides = case.tally.sides
    return min(sides, key=lambda arm: (-sum(times for _, times in sides[arm].lost()), arm != "treatment"))


def _limited_column(case: Case) -> ColumnName | None:
    """The column that a breached limit of an arm bounds by name."""
    breached = {result.limit.name for result in case.findings.limits if result.state == "breached"}
    return "contract" if "min_contract" in breached else None


def _path(case: Case, arm: ArmName) -> Sentence:
    lost = case.tally.sides[arm].lost()
    asked = case.arms[arm]
    worst = lost[0][0] if lost else ""
    ours = worst.startswith("checker:")
    reasons = [reason for reason in lost if reason[0].startswith("checker:") == ours]  # a checker is on no path
    where: Sentence = (Quoted(asked.endpoint), " (", *tallied(reasons), ")") if reasons else (Quoted(asked.endpoint),)
    program = any(one.api == "command" for one in asked.endpoints)
    if worst == "empty" and program:
        return ("Look at the program of endpoint ", *where, ": it ended well and wrote nothing to its standard output.")
    if worst.startswith("empty"):
        otherwise = (
            "the model answered without a tool call: ask for one with `tool_choice`"
            if any(one.output == "tool_calls" for one in asked.endpoints)
            else "look at the output declared for the endpoint"
        )
        return ("Empty replies from endpoint ", *where, f": {_EMPTY_REMEDIES.get(worst, otherwise)}.")
    if ours:
        return ("Repair the checker, not the prompt: it failed by itself (", *tallied(reasons), ").")
    if program:
        return (
            "Look at the program of endpoint ",
            *where,
            ": `error_head` of its rows holds what it wrote to its standard error.",
        )
    failed = worst.removeprefix("poll:")
    otherwise = "the load and the log of the server" if failed.startswith("status:5") else _ANY_REMEDY
    remedy = _PATH_REMEDIES.get(failed, otherwise)
    return ("Look at the path, not at the prompt: ", remedy, " of endpoint ", *where, ".")


def _wrapper(case: Case) -> Sentence:
    side = case.tally.sides["treatment"]
    reasons = side.reasons()["contract"]
    cut = f"; {count(side.cut, 'reply was', 'replies were')} cut by the length limit" if side.cut else ""
    failing: Sentence = (*tallied(reasons), cut) if reasons else ("the treatment has none of these failures, the control has",)
    return ("Look at truncation and at the wrapper around the model first: ", *failing, ".")


def _draws(case: Case) -> Sentence | None:
    """A coin, or a break: only where no column moved and the draws of the treatment say so."""
    side = case.tally.sides["treatment"]
    draws = draw_rates(side.strips(range(side.items)), side.draws)
    if case.moved or draws.flip is None:
        return None
    first, flip = Fraction(draws.first.low, draws.first.total), Fraction(draws.flip.low, draws.flip.total)
    if first >= HALF and flip >= COIN_FLIP:
        shown = f"{draws.first.low} of {side.items} items pass at first, {draws.flip.low} both pass and fail ({percent(flip)})"
        return (f"This is a coin: {shown}; do not read the first draw as an ability.",)
    if first < HALF and not draws.flip.high:
        shown = f"{draws.first.low} of {count(side.items, 'item')} pass at first and none flips"
        return (f"This class of task is a break, not a teaser: {shown}; change the tasks or the tool.",)
    return None


def _open_items(case: Case) -> Sentence | None:
    """The items to look at first: what was lost, else what fails or flips in the treatment."""
    worse = dict.fromkeys(pair.item for pair in case.pairs if pair.kind in {"lost", "broke"})
    if worse:
        verb = f"The {case.moved} column moved: open " if case.moved else "Open "
        return (verb, *_first(list(worse)))
    side = case.tally.sides["treatment"]
    failing = [name for item, name in enumerate(case.tally.ids) if {*side.strip(item)} & {*b"kc"}]
    return ("Open ", *_first(failing)) if failing else None


def _first(names: Sequence[str]) -> Sentence:
    more = f" first ({len(names) - SHOWN:,} more below)." if len(names) > SHOWN else " first."
    return (*quoted(names[:SHOWN]), more)
