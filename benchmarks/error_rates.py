"""How often `claim: not_behind` is wrong on arms of known quality: `python -m benchmarks.error_rates [--runs N]`.

An item passes with a probability of its own, Beta with mean p and variance rho·p(1 − p), the same in both arms; a loss of d
points breaks a share d / p of the items in the treatment for good. Every simulated run is judged by the method as a real one
is; the published shares are of 6,000 simulations each and say how often the bound alone holds. Then some of the runs are made
again by the command itself, from scripted replies in a real repository: it has to end as the method says.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from evalaction.errors import Outcome
from evalaction.method.card import Arm, Card, Draws, Endpoint, ExamRef, Sign
from evalaction.method.counting.halves import half_of
from evalaction.method.counting.tally import PASS, WRONG, Tally
from evalaction.method.judging.facts import ArmFacts, EndpointFacts, RunFacts
from evalaction.method.judging.verdict import judge
from evalaction.method.numbers import Threshold
from evalaction.method.records import ARMS
from evalaction.method.report import Provenance

SEED = "error-rates"
MARGIN = "0.10"


@dataclass(frozen=True)
class Quality:
    """How good both arms are, on how many items a half, read how."""

    p: float
    rho: float
    half: int
    draws: int
    metric: str
    published: Mapping[str, float]
    """Loss to the share of runs whose bound holds at a margin of ten points."""

    @property
    def name(self) -> str:
        return f"p {self.p}, rho {self.rho}, {self.half} a half, K {self.draws}, {self.metric}"


QUALITIES = (
    Quality(0.9, 0.8, 30, 1, "first", {"0": 0.950, "0.05": 0.375, "0.10": 0.065, "0.15": 0.007}),
    Quality(0.9, 0.8, 42, 5, "mean", {"0": 1.0, "0.05": 0.555, "0.10": 0.069, "0.15": 0.002}),
    Quality(0.8, 0.5, 42, 5, "mean", {"0": 0.998, "0.05": 0.473, "0.10": 0.060, "0.15": 0.003}),
    Quality(0.95, 0.8, 42, 5, "mean", {"0": 1.0, "0.05": 0.570, "0.10": 0.069, "0.15": 0.004}),
)


def ids_of(half: int) -> list[str]:
    """As many ids in either half."""
    halves: tuple[list[str], list[str]] = ([], [])
    for number in count():
        name = f"t{number:04d}"
        if len(halves[half_of(name, SEED)]) < half:
            halves[half_of(name, SEED)].append(name)
        elif len(halves[0]) == len(halves[1]) == half:
            return sorted(halves[0] + halves[1])
    raise AssertionError


def strips(quality: Quality, loss: float, chance: random.Random) -> Iterator[tuple[list[bool], list[bool]]]:
    """Per item the draws of treatment and control."""
    size = 1 / quality.rho - 1  # of the Beta distribution whose variance is rho·p(1 − p)
    for _ in range(2 * quality.half):
        passes = chance.betavariate(quality.p * size, (1 - quality.p) * size)
        broken = chance.random() < loss / quality.p
        ours = [not broken and chance.random() < passes for _ in range(quality.draws)]
        yield ours, [chance.random() < passes for _ in range(quality.draws)]


def card_of(quality: Quality) -> Card:
    return Card(
        protocol="evalaction/1",
        name="error-rates",
        exam=ExamRef(tasks="tasks.jsonl", data="synthetic"),
        endpoints={"ours": Endpoint(name="ours", api="scripted"), "theirs": Endpoint(name="theirs", api="scripted")},
        treatment=Arm(endpoint="ours"),
        control=Arm(endpoint="theirs"),
        draws=Draws(count=quality.draws, timeout_ms=1000),
        sign=Sign(claim="not_behind", seed=SEED, margin=Threshold.of(MARGIN), metric=quality.metric),  # type: ignore[arg-type]
    )


def outcome(quality: Quality, ids: list[str], drawn: list[tuple[list[bool], list[bool]]]) -> Outcome:
    tally = Tally(ids, {}, ARMS, quality.draws, SEED)
    for side, name in enumerate(ARMS):
        letters = bytes(PASS if passed else WRONG for item in drawn for passed in item[side])
        tally.sides[name].letters[:] = letters
    tally.rows = tally.cells
    facts = RunFacts(
        planned=tally.cells,
        sent=tally.cells,
        written=tally.cells,
        sealed=True,
        ended="complete",
        provenance=Provenance(tool_version="0"),
        arms={name: ArmFacts(endpoints=(EndpointFacts(name=name, api="scripted", model=None, identity=name),)) for name in ARMS},
        synthetic_allowed=True,
    )
    return judge(card_of(quality), tally, facts).outcome


def simulated(quality: Quality, loss: str, runs: int) -> float:
    """The share of runs that end green."""
    chance = random.Random(f"{quality.name} {loss}")
    ids = ids_of(quality.half)
    ended = [outcome(quality, ids, list(strips(quality, float(loss), chance))) for _ in range(runs)]
    return ended.count(Outcome.PASS) / runs


def by_command(quality: Quality, loss: str, runs: int, folder: Path) -> Iterator[tuple[int, int]]:
    """The exit code of the real command on scripted replies, beside the one that the method gives for the same draws."""
    chance = random.Random(f"command {loss}")
    ids = ids_of(quality.half)
    for number in range(runs):
        drawn = list(strips(quality, float(loss), chance))
        here = folder / f"{loss}-{number}"
        _repository(here, quality, ids, drawn)
        command = [sys.executable, "-m", "evalaction", "run", "--synthetic", "--quiet"]
        done = subprocess.run(command, cwd=here, capture_output=True, check=False)
        yield done.returncode, outcome(quality, ids, drawn).exit_code


def _repository(here: Path, quality: Quality, ids: list[str], drawn: list[tuple[list[bool], list[bool]]]) -> None:
    here.mkdir(parents=True)
    tasks = [{"id": item, "prompt": "Say yes.", "expected": "yes"} for item in ids]
    (here / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    for side, name in enumerate(("ours", "theirs")):
        replies = [
            {"id": item, "replies": ["yes" if passed else "no" for passed in draws[side]]}
            for item, draws in zip(ids, drawn, strict=True)
        ]
        (here / f"{name}.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies), encoding="utf-8")
    card = {
        "protocol": "evalaction/1",
        "name": "error-rates",
        "exam": {"tasks": "tasks.jsonl", "data": "synthetic"},
        "endpoints": {name: {"api": "scripted", "replies": f"{name}.jsonl"} for name in ("ours", "theirs")},
        "arms": {"treatment": {"endpoint": "ours"}, "control": {"endpoint": "theirs"}},
        "draws": {"count": quality.draws, "timeout_ms": 1000},
        "sign": {"claim": "not_behind", "seed": SEED, "margin": 0.10, "metric": quality.metric},
    }
    (here / "card.yaml").write_text(json.dumps(card), encoding="utf-8")
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "-q"], cwd=here, check=True)
    subprocess.run([sys.executable, "-m", "evalaction", "lock"], cwd=here, check=True, capture_output=True)
    subprocess.run([*git, "add", "."], cwd=here, check=True)
    subprocess.run([*git, "commit", "-qm", "Ask"], cwd=here, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.error_rates", description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000, help="simulated runs of each line (default: 1,000)")
    parser.add_argument("--commands", type=int, default=10, help="runs of the real command for each of two losses (default: 10)")
    options = parser.parse_args()
    print(f"claim: not_behind, margin {MARGIN}; share of {options.runs:,} runs that end green, beside the published share")
    for quality in QUALITIES:
        for loss, published in quality.published.items():
            share = simulated(quality, loss, options.runs)
            noise = math.sqrt(max(published * (1 - published), 0.0025) * (1 / options.runs + 1 / 6_000))
            away = (share - published) / noise
            print(
                f"  {quality.name}, loss {loss:>4}: {share:.3f} beside {published:.3f} ({away:+.1f} standard errors)", flush=True
            )
    with tempfile.TemporaryDirectory() as folder:
        for loss in ("0", "0.10"):
            pairs = list(by_command(QUALITIES[1], loss, options.commands, Path(folder)))
            same = sum(code == wanted for code, wanted in pairs)
            green = sum(code == 0 for code, _ in pairs)
            print(f"  the command itself, loss {loss}: {same} of {len(pairs)} ended as the method says, {green} of them green")


if __name__ == "__main__":
    main()
