"""Reports made by hand for the renderers: one for each thing a reader may have to be told. The numbers are invented."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from evalaction.errors import Outcome
from evalaction.method.card import Limit, LimitScope
from evalaction.method.numbers import Bounded, Rate, Threshold
from evalaction.method.records import ArmName, Break, Quoted, Sentence
from evalaction.method.report import (
    ArmReport,
    Change,
    ColumnName,
    ColumnRates,
    Counts,
    DrawRates,
    FalseAlarm,
    Flip,
    HalfReport,
    HalfSide,
    LimitResult,
    LimitState,
    MarginBound,
    Pair,
    Provenance,
    Report,
    RouteGroup,
    TagReport,
    Verdict,
)

HOSTILE = (
    "a|b",
    "a\\|b",
    "x\r\ny",
    "<!-- evalaction:0 -->",
    "</details>",
    "```",
    "@org/team fixes #123, GH-7",
    "![x](http://t.invalid/p.png)",
    "www.evil.invalid https://evil.invalid",
    "\u202egnp.exe",
    "zero\u200bwidth",
    "**bold** _it_ ~~s~~ $x$ $y$",
    "<script>alert(1)</script>",
    "\x1b]0;owned\x07\x1b[31mred\x9b2J",
    "::error::no ##[error]no",
    "\ud800lone",
    "&#124;&amp;",
    "日本語 🤖👩\u200d💻",
)


def columns(draws: int, reached: int, contracted: int, passed: int, errors: int = 0) -> ColumnRates:
    return ColumnRates(
        reach=Rate(reached, draws),
        contract=Rate(contracted, reached),
        check=Rate(passed, contracted - errors),
        end_to_end=Rate(passed, draws),
        checker_errors=errors,
    )


def counted(total: int, first: Any, stable: Any, flip: Any, runner_errors: int = 0) -> DrawRates:
    def bounded(value: int | tuple[int, int]) -> Bounded:
        low, high = value if isinstance(value, tuple) else (value, value)
        return Bounded(low, high, total)

    return DrawRates(
        first=bounded(first),
        stable=bounded(stable),
        flip=None if flip is None else bounded(flip),
        runner_error_items=runner_errors,
    )


def arm(name: ArmName, cols: ColumnRates, draws: DrawRates, **changes: Any) -> ArmReport:
    items = draws.first.total
    report = ArmReport(
        arm=name,
        endpoint="main",
        model="some-model-2026-05",
        columns=cols,
        first_columns=changes.pop("first_columns", columns(items, items, items, draws.first.low)),
        draws=draws,
        reasons={},
        tar_raw=Rate(items // 2, items) if draws.flip else None,
        tar_parsed=Rate(items * 3 // 4, items) if draws.flip else None,
        p50_ms=840,
        p95_ms=2310,
        tokens_in=41_280,
        tokens_out=9_615,
        served=(("some-model-2026-05-14", cols.reach.hits),) if cols.reach.hits else (),
        fingerprints=(),
        by_tag=(),
    )
    return replace(report, **changes)


def half(number: int, items: int, control: tuple[int, int], treatment: tuple[int, int], sign: int, **changes: Any) -> HalfReport:
    invalid = changes.pop("invalid", ())
    gap = Fraction(*treatment) - Fraction(*control) if control[1] and treatment[1] else None
    report = HalfReport(
        half=number,
        items=items,
        control=HalfSide(passed=control[0], scored=control[1], reasons=()),
        treatment=HalfSide(passed=treatment[0], scored=treatment[1], reasons=invalid),
        gap=gap,
        lead_items=None if gap is None else gap * items,
        sign=sign,
        paired_items=items,
        paired_sign=sign,
    )
    return replace(report, **changes)


def limit(scope: LimitScope, name: str, bound: str, state: LimitState, measured: Any, **more: Any) -> LimitResult:
    return LimitResult(
        limit=Limit(scope=scope, name=name, bound=Threshold.of(bound), tag=more.pop("tag", None)),
        state=state,
        measured=measured,
        sentence=more.pop("says", (f"{name} is {state}.",)),
        **more,
    )


PROVENANCE = Provenance(
    tool_version="0.1.0",
    commit="3f5c2a9d81b64e7c9a0d7f21c5be8840a1d2e3f4",
    base="9b1d0c7e5a2f4d3b8c6e1f0a7d9b5c3e2a4f6d8b",
    card_path="eval/card.yaml",
    card_sha256="1" * 64,
    exam_id="5c1f" * 16,
    question_digest="a70b" * 16,
    rows_sha256="9e2d" * 16,
    started_at="2026-05-14T09:30:00.000Z",
    duration_ms=192_400,
    runner={"ImageOS": "ubuntu24", "ImageVersion": "20260510.1", "arch": "x86_64"},
    run_url="https://github.com/octo/app/actions/runs/123456789",
)


def verdict(outcome: Outcome, *breaks: Break, **changes: Any) -> Verdict:
    base = Verdict(outcome=outcome, earned=False, sign=0, half_signs=None, breaks=breaks)
    return replace(base, **changes)


def report(outcome: Outcome, heading: Sentence, *breaks: Break, **changes: Any) -> Report:
    given: Verdict = changes.pop("verdict", None) or verdict(outcome, *breaks)
    base = Report(
        name="support-triage",
        titles=(),
        items=64,
        draws=5,
        claim=None,
        metric=None,
        verdict=given,
        heading=heading,
        todo=None,
        callouts=(),
        arms=(),
        moved=None,
        halves=(),
        discordant={},
        pairs=(),
        flips=(),
        limits=(),
        counts=Counts(planned=0, sent=0, written=0),
        provenance=PROVENANCE,
        gated=True,
    )
    return replace(base, **changes)


def _pair(kind: Any, item: str, control: str, treatment: str, reason: str | None, column: ColumnName = "check") -> Pair:
    return Pair(kind=kind, item=item, control=control, treatment=treatment, column=column, reason=reason)


def _behind_arms() -> tuple[ArmReport, ArmReport]:
    control = arm(
        "control",
        columns(320, 320, 318, 290),
        counted(64, 58, 52, 9),
        reasons={"contract": (("not_json", 2),), "check": (("differs", 28),)},
        by_tag=(
            TagReport(tag="billing", columns=columns(100, 100, 100, 88), draws=counted(20, 18, 16, 3)),
            TagReport(tag="outage", columns=columns(220, 220, 218, 202), draws=counted(44, 40, 36, 6)),
        ),
    )
    treatment = arm(
        "treatment",
        columns(320, 319, 317, 265),
        counted(64, 53, (44, 45), 17, 1),
        reasons={"reach": (("status:503", 1),), "contract": (("not_json", 2),), "check": (("differs", 50), ("not_a_number", 2))},
        by_tag=(
            TagReport(tag="billing", columns=columns(100, 100, 99, 70), draws=counted(20, 14, 11, 8)),
            TagReport(tag="outage", columns=columns(220, 219, 218, 195), draws=counted(44, 39, (33, 34), 9, 1)),
        ),
    )
    return control, treatment


def behind() -> Report:
    return report(
        Outcome.FAIL,
        ("treatment is behind",),
        claim="not_behind",
        metric="mean",
        verdict=verdict(
            Outcome.FAIL,
            Break("behind", ("Both halves have control ahead: half 0 by 14 of 155 draws, half 1 by 11 of 165.",)),
            Break("limit:between:max_flip_gain", ("The flip rate rose by 12.5 points, 9/64 to 17/64; at most 10 are allowed.",)),
            earned=True,
            sign=-1,
            half_signs=(-1, -1),
            claim_met=False,
            bound=MarginBound(lower=-0.1403, mean=-0.078, variance=0.094, items=64, margin="0.10", enough_items=512),
            false_alarm=FalseAlarm(rate=0.00004, pass_rate=0.87, shared=0.62),
        ),
        todo=("Open these items first: ", Quoted("t0014"), ", ", Quoted("t0031"), ", ", Quoted("t0052"), "."),
        callouts=(("One lever moved: `model`, from ", Quoted("old-model-2025-11"), " to ", Quoted("some-model-2026-05"), "."),),
        arms=_behind_arms(),
        moved="check",
        discordant={"reach": (0, 0), "contract": (1, 1), "check": (7, 2)},
        halves=(half(0, 31, (142, 155), (128, 155), -1), half(1, 33, (148, 165), (137, 165), -1)),
        pairs=(
            _pair("lost", "t0014", "ppppp", "kkkkk", "differs: expected “refund”, got “rebate”"),
            _pair("lost", "t0031", "ppppp", "kpkkp", "differs: expected “P2”, got “P3”"),
            _pair("lost", "t0052", "ppkpp", "ckkkk", "not_json", "contract"),
            _pair("gained", "t0007", "kkkkk", "ppppp", "differs: expected “P1”, got “P2”"),
            _pair("broke", "t0014", "ppppp", "kkkkk", "differs: expected “refund”, got “rebate”"),
            _pair("broke", "t0031", "ppppp", "kpkkp", "differs: expected “P2”, got “P3”"),
            _pair("broke", "t0060", "ppppp", "ppupp", "status:503", "reach"),
            _pair("steadied", "t0007", "kkkkk", "ppppp", None),
        ),
        flips=(
            Flip(item="t0031", arm="treatment", strip="kpkkp", reason="differs"),
            Flip(item="t0052", arm="control", strip="ppkpp", reason="differs"),
            Flip(item="t0044", arm="treatment", strip="pkppk", reason="differs"),
        ),
        limits=(
            limit("treatment", "min_contract", "0.98", "held", Rate(317, 319)),
            limit("between", "max_flip_gain", "0.10", "breached", (Fraction(8, 64), Fraction(8, 64))),
            limit("treatment", "min_stable_pass", "0.60", "held", Bounded(44, 45, 64)),
            limit("treatment", "max_p95_ms", "5000", "held", 2310),
        ),
        counts=Counts(planned=640, sent=640, written=640),
    )


def earned_ahead() -> Report:
    return report(
        Outcome.PASS,
        ("treatment is ahead in both halves",),
        items=84,
        claim="ahead",
        metric="first",
        verdict=verdict(
            Outcome.PASS,
            earned=True,
            sign=1,
            half_signs=(1, 1),
            claim_met=True,
            false_alarm=FalseAlarm(rate=0.0194, pass_rate=0.9, shared=0.8),
        ),
        arms=(
            arm("control", columns(420, 420, 420, 330), counted(84, 66, 60, 12)),
            arm("treatment", columns(420, 420, 419, 388), counted(84, 78, 74, 6)),
        ),
        moved="check",
        discordant={"reach": (0, 0), "contract": (0, 0), "check": (1, 13)},
        halves=(half(0, 41, (32, 41), (38, 41), 1), half(1, 43, (34, 43), (40, 43), 1)),
        pairs=(_pair("gained", "t0001", "kkpkk", "ppppp", "differs"), _pair("lost", "t0009", "ppppp", "kpppp", "differs")),
        counts=Counts(planned=840, sent=840, written=840),
    )


def within_margin() -> Report:
    return report(
        Outcome.PASS,
        ("within 10 points",),
        items=84,
        claim="not_behind",
        metric="mean",
        verdict=verdict(
            Outcome.PASS,
            half_signs=(0, -1),
            claim_met=True,
            notes=(Break("gap_below_floor_or_unscored", ("Half 0 is within the floor of 2 points.",)),),
            bound=MarginBound(
                lower=-0.04831, mean=-0.009, variance=0.05, items=84, margin="0.10", enough_items=84, missed=0.08038
            ),
        ),
        arms=(
            arm("control", columns(420, 420, 418, 371), counted(84, 74, 66, 14)),
            arm("treatment", columns(420, 420, 419, 367), counted(84, 73, 65, 15)),
        ),
        halves=(half(0, 41, (182, 205), (181, 205), 0), half(1, 43, (189, 215), (184, 215), -1)),
        discordant={"reach": (0, 0), "contract": (0, 0), "check": (2, 1)},
        counts=Counts(planned=840, sent=840, written=840),
    )


def rerouted() -> Report:
    """A prompt and a route moved between two commits; the questions of both are shown."""
    moved = {f"t{number:04d}": ("default", "rule 1: code") for number in range(10)}
    small = columns(50, 50, 50, 48), counted(10, 10, 9, 1)
    worse = columns(50, 50, 50, 30), counted(10, 6, 4, 3)
    rest = columns(270, 270, 270, 242), counted(54, 48, 43, 8)
    return replace(
        behind(),
        changed=("2 levers moved: route and prompt (", Quoted("llm/routes.yaml"), " +2 −1 lines; ", Quoted("model"), " ",
                 Quoted("small|1"), " → ", Quoted("<b>big</b>"), ")."),
        changes=(
            Change(lever="route", name="llm/routes.yaml", old="0" * 12, new="1" * 12,
                   diff=("@@ -1,2 +1,3 @@", " rules:", "+  - {when: {tag: code}, endpoint: small}", "+```", "-  []")),
            Change(lever="model", name="model", old="small|1", new="<b>big</b>"),
        ),
        rerouted=moved,
        unchanged=frozenset({"t0031"}),
        routes=(
            RouteGroup(control="default", treatment="rule 1: code", items=10, arms={"control": small, "treatment": worse}),
            RouteGroup(control="default", treatment="default", items=54, arms={"control": rest, "treatment": rest}),
        ),
    )  # fmt: skip


def halves_disagree() -> Report:
    return report(
        Outcome.FAIL,
        ("the two halves disagree",),
        Break("halves_disagree", ("Half 0 has treatment ahead by 3 of 40 items, half 1 has control ahead by 3 of 40.",)),
        items=80,
        draws=1,
        claim="ahead",
        metric="first",
        verdict=verdict(
            Outcome.FAIL,
            Break("halves_disagree", ("Half 0 has treatment ahead by 3 of 40 items, half 1 has control ahead by 3 of 40.",)),
            half_signs=(1, -1),
            claim_met=False,
        ),
        arms=(
            arm("control", columns(80, 80, 80, 70), counted(80, 70, 70, None)),
            arm("treatment", columns(80, 80, 80, 70), counted(80, 70, 70, None)),
        ),
        halves=(half(0, 40, (34, 40), (37, 40), 1), half(1, 40, (36, 40), (33, 40), -1, paired_sign=0, paired_items=38)),
        discordant={"reach": (0, 0), "contract": (0, 0), "check": (4, 4)},
        counts=Counts(planned=160, sent=160, written=160),
    )


def not_shown() -> Report:
    return report(
        Outcome.INCONCLUSIVE,
        ("not shown to be within 5 points",),
        claim="not_behind",
        metric="first",
        items=84,
        draws=1,
        verdict=verdict(
            Outcome.INCONCLUSIVE,
            Break("not_shown", ("The lower bound is −7.2 points, the margin 5; with these differences 163 items would do.",)),
            half_signs=(0, 0),
            claim_met=False,
            bound=MarginBound(lower=-0.0717, mean=0.0, variance=0.16, items=84, margin="0.05", enough_items=163),
        ),
        arms=(
            arm("control", columns(84, 84, 84, 76), counted(84, 76, 76, None)),
            arm("treatment", columns(84, 84, 84, 76), counted(84, 76, 76, None)),
        ),
        halves=(half(0, 42, (38, 42), (38, 42), 0), half(1, 42, (38, 42), (38, 42), 0)),
        discordant={"reach": (0, 0), "contract": (0, 0), "check": (3, 3)},
        counts=Counts(planned=168, sent=168, written=168),
    )


def transport() -> Report:
    why = ("Half 0 of treatment lost 61 of 205 draws in transport; at most 5 % may be lost.",)
    return report(
        Outcome.INCONCLUSIVE,
        ("nothing can be said: transport",),
        Break("treatment.h0:transport", why),
        items=84,
        claim="not_behind",
        metric="mean",
        todo=("Mend the path, not the prompt: address, timeout, authentication. Do not rewrite instructions.",),
        arms=(
            arm("control", columns(420, 418, 417, 371), counted(84, 74, (65, 66), 14, 2)),
            arm(
                "treatment",
                columns(420, 300, 299, 270, errors=3),
                counted(84, (55, 80), (20, 71), (10, 60), 57),
                reasons={"reach": (("status:503", 80), ("timeout", 38), ("reset", 2)), "check": (("checker:timeout", 3),)},
                p95_ms=None,
            ),
        ),
        moved="reach",
        discordant={"reach": (24, 1), "contract": (0, 0), "check": (1, 1)},
        halves=(
            half(0, 41, (180, 204), (130, 144), 0, invalid=("transport", "unscored_mass")),
            half(1, 43, (191, 214), (140, 153), 0, invalid=("transport",)),
        ),
        counts=Counts(planned=840, sent=840, written=840),
    )  # fmt: skip


def unreachable() -> Report:
    return report(
        Outcome.UNREACHABLE,
        ("treatment did not answer once",),
        Break("unreachable", ("None of the 84 first draws of treatment reached: 84 × ", Quoted("status:404"), ".")),
        items=84,
        todo=("Check the model name and the address of endpoint ", Quoted("main"), "."),
        counts=Counts(planned=840, sent=168, written=168),
    )


def small_single() -> Report:
    return report(
        Outcome.PASS,
        ("all limits hold",),
        titles=("SMALL",),
        items=12,
        arms=(arm("treatment", columns(60, 60, 59, 56), counted(12, 11, 10, 2)),),
        flips=(
            Flip(item="capital-of-australia", arm="treatment", strip="pppkp", reason="differs"),
            Flip(item="json-address", arm="treatment", strip="ppcpp", reason="truncated"),
        ),
        limits=(limit("treatment", "min_stable_pass", "0.80", "held", Bounded(10, 10, 12)),),
        counts=Counts(planned=60, sent=60, written=60),
        provenance=replace(PROVENANCE, base=None),
    )


def ungated_single() -> Report:
    return report(
        Outcome.PASS,
        ("measured, nothing gated",),
        arms=(arm("treatment", columns(320, 320, 320, 301), counted(64, 60, 57, 6)),),
        counts=Counts(planned=320, sent=320, written=320),
        gated=False,
    )


def undecided_limits() -> Report:
    stable = limit(
        "treatment", "min_stable_pass", "0.90", "undecided", Bounded(72, 84, 84),
        says=("Stable pass is 72–84 of 84 items, 90 % is asked: 12 items lost a draw.",),
    )  # fmt: skip
    return report(
        Outcome.INCONCLUSIVE,
        ("lost draws leave a limit undecided",),
        Break("limit:treatment:min_stable_pass:undecided", stable.sentence),
        Break("limit:treatment:max_flip_rate:undecided", ("Flip is 0–12 of 84 items, at most 5 % is allowed: 12 lost a draw.",)),
        items=84,
        todo=("Mend the path, not the prompt: 13 draws answered ", Quoted("status:503"), "."),
        arms=(
            arm(
                "treatment", columns(420, 407, 407, 407), counted(84, (81, 84), (72, 84), (0, 12), 12),
                reasons={"reach": (("status:503", 13),)},
            ),
        ),
        limits=(
            stable,
            limit("treatment", "max_flip_rate", "0.05", "undecided", Bounded(0, 12, 84)),
            limit("treatment", "min_first_pass", "0.95", "held", Bounded(81, 84, 84)),
        ),
        counts=Counts(planned=420, sent=420, written=420),
    )  # fmt: skip


def tool_call_contract() -> Report:
    return report(
        Outcome.FAIL,
        ("a limit is breached: contract",),
        Break("limit:treatment:min_contract", ("Contract holds in 130 of 160 replies, 95 % is asked.",)),
        items=40,
        draws=4,
        todo=("Look at truncation and the wrapper first: 22 replies were cut by the token limit.",),
        arms=(
            arm(
                "treatment", columns(160, 160, 130, 124), counted(40, 33, 27, 9),
                reasons={"contract": (("truncated", 22), ("schema", 8)), "check": (("differs", 6),)},
            ),
        ),
        limits=(limit("treatment", "min_contract", "0.95", "breached", Rate(130, 160)),),
        flips=(Flip(item="book-table", arm="treatment", strip="pcpp", reason="truncated"),),
        counts=Counts(planned=160, sent=160, written=160),
    )  # fmt: skip


def hash_mismatch() -> Report:
    return report(
        Outcome.UNREGISTERED,
        ("the exam is not the registered one",),
        Break("hash_mismatch", (Quoted("eval/tasks.jsonl: exam.sha256 in the card is 5c1f5c1f…, the file's is 77aa01de…"),)),
        todo=("If the change is meant, run evalaction lock and commit the card: that is a new exam.",),
        items=84,
        provenance=replace(PROVENANCE, rows_sha256=None, question_digest=None),
    )


def unchanged() -> Report:
    return report(Outcome.UNCHANGED, ("nothing to judge: both arms send the same requests",), items=84)


def not_run() -> Report:
    return report(
        Outcome.NOT_RUN,
        ("no secrets, so nothing was drawn",),
        Break("secrets_missing", ("EVAL_KEY is not set.",)),
        titles=("NOT RUN",),
        todo=("A maintainer can run it by hand from the Actions page.",),
        items=84,
    )


def synthetic() -> Report:
    return replace(small_single(), titles=("SYNTHETIC", "SMALL"), name="demo")


def rehearsal() -> Report:
    return replace(earned_ahead(), titles=("REHEARSAL",))


def hostile() -> Report:
    """Every untrusted place holds every hostile text."""
    base = behind()
    everything: Sentence = tuple(part for text in HOSTILE for part in (Quoted(text), "; "))
    texts = "\n".join(HOSTILE)
    control, treatment = base.arms
    bad: dict[str, Any] = {
        "endpoint": HOSTILE[4],
        "model": texts,
        "served": tuple((text, 1) for text in HOSTILE),
        "fingerprints": tuple((text, 1) for text in HOSTILE),
        "reasons": {"check": tuple((text, 1) for text in HOSTILE)},
        "by_tag": tuple(replace(control.by_tag[0], tag=text) for text in HOSTILE),
    }
    return replace(
        base,
        name=HOSTILE[3] + HOSTILE[4],
        heading=("treatment is behind ", *everything),
        verdict=replace(
            base.verdict, breaks=tuple(Break(f"limit:treatment:min_reach:{text}", (Quoted(text),)) for text in HOSTILE)
        ),
        todo=everything,
        callouts=tuple((Quoted(text), " changed") for text in HOSTILE),
        arms=(replace(control, **bad), replace(treatment, **bad)),
        pairs=tuple(_pair("lost", text, "ppppp", "kcuep", text) for text in HOSTILE),
        flips=tuple(Flip(item=text, arm="control", strip="pkkpp", reason=text) for text in HOSTILE),
        limits=tuple(
            limit("treatment", "min_check", "0.9", "breached", Rate(1, 2), says=(Quoted(text),), tag=text) for text in HOSTILE
        ),
        provenance=replace(
            base.provenance,
            card_path=HOSTILE[0],
            runner=dict.fromkeys(HOSTILE, "x"),
            inputs={"base": texts},
            record={"terms": HOSTILE[7]},
            run_url="https://evil.invalid/) ![x](y",
        ),
    )


def enormous() -> Report:
    """5,000 items moved, ids of 500 characters with emoji, 400 tags, 300 breaks."""
    base = behind()
    ids = [f"{number:04d}-" + "🤖|&" * 165 for number in range(5000)]
    control, treatment = base.arms
    tags = tuple(replace(control.by_tag[0], tag=f"tag-{number:03d}-" + "é<" * 40) for number in range(400))
    return replace(
        base,
        items=5000,
        arms=(replace(control, by_tag=tags), replace(treatment, by_tag=tags)),
        pairs=tuple(_pair("lost", item, "ppppp", "kkkkk", "differs " + "🤖" * 200) for item in ids),
        flips=tuple(Flip(item=item, arm="treatment", strip="pkpkp", reason=None) for item in ids),
        verdict=replace(base.verdict, breaks=tuple(Break(f"b{n}", ("Lost ", *[Quoted(ids[n])] * 50)) for n in range(300))),
        callouts=tuple(("Changed ", Quoted(item)) for item in ids[:300]),
    )


GOLDEN = {
    make.__name__: make
    for make in (
        behind, earned_ahead, within_margin, halves_disagree, not_shown, transport, unreachable, small_single, ungated_single,
        undecided_limits, tool_call_contract, hash_mismatch, unchanged, not_run, synthetic, rehearsal, hostile, rerouted,
    )
}  # fmt: skip
EVERY = {**GOLDEN, "enormous": enormous}
