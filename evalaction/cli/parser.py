"""Arguments of every command. The help of each fits a screen and shows an example."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalaction import __version__

EXIT_CODES = """\
exit codes: 0 pass, unchanged or registered · 1 fail · 2 usage · 3 internal · 4 frozen input moved
            5 inconclusive · 6 secrets missing · 7 unreachable · 130 interrupted"""

SOURCES = ("promptfoo", "prompt-yml", "openai-evals", "humaneval")
FORMATS = ("text", "markdown", "summary", "html", "junit", "csv", "json", "badge")
TREND_FORMATS = ("text", "markdown", "html", "json")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the user typed; fields a command does not have keep their defaults."""

    command: str
    card: Path = Path("card.yaml")
    run: Path = Path()
    run_dir: Path | None = None
    resume: bool = False
    draw_only: bool = False
    rehearse: bool = False
    synthetic: bool = False
    ca_bundle: str | None = None
    base: str | None = None
    question: str = "base"
    format: str = "text"
    assume_lost: str = "0.03"
    quiet: bool = False
    allow_unsafe: bool = False
    check_twice: bool = False
    keep: Path | None = None
    history: Path | None = None
    other: Path = Path()
    kind: str = ""
    file: Path | None = None
    into: Path | None = None
    folder: Path = Path("eval")
    pair: bool = False
    times: int = 1


def parse(argv: Sequence[str]) -> Options:
    """The options of one command line. argparse prints and exits with 2 where they are unusable."""
    return Options(**vars(_parser().parse_args(argv)))


class _Wide(argparse.RawDescriptionHelpFormatter):
    """An option and what it does on one line: the help of every command fits a screen."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        """Many options are listed below, not here."""
        many = [action for action in actions if action.option_strings and action.dest != "help"]
        places = [action for action in actions if not action.option_strings]
        named = " ".join(f"[{one.dest}]" if one.nargs == "?" else str(one.metavar or one.dest) for one in places)
        super().add_usage(f"{self._prog} [OPTIONS] {named}" if len(many) > 3 else usage, actions, groups, prefix)


class _Program(argparse.ArgumentParser):
    """The program itself: its help is the list of commands, on one screen."""

    def format_help(self) -> str:
        width = max(map(len, COMMANDS))
        listed = "".join(f"  {name:<{width}}  {words}\n" for name, (words, _, _) in COMMANDS.items())
        head = f"{self.format_usage()}{self.description}\n\n{listed}\n"
        return f"{head}example: evalaction demo; `evalaction COMMAND --help` shows one of each\n{EXIT_CODES}\n"


def _parser() -> argparse.ArgumentParser:
    parser = _Program(
        prog="evalaction",
        description="An honest verdict on a change to a prompt or to model routing.",
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"evalaction {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=argparse.ArgumentParser)
    for name, (words, example, fill) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=words,
            description=words[0].upper() + words[1:] + ".",
            epilog=f"example: {example}\n{EXIT_CODES}",
            formatter_class=_Wide,
            allow_abbrev=False,
        )
        fill(command)
    return parser


def _card(command: argparse.ArgumentParser) -> None:
    command.add_argument("card", nargs="?", type=Path, default=Path("card.yaml"), help="path of the card (default: card.yaml)")


def _ca_bundle(command: argparse.ArgumentParser) -> None:
    command.add_argument("--ca-bundle", metavar="FILE", help="certificates to trust instead of the built-in ones")


def _unsafe(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--allow-unsafe-execution",
        action="store_true",
        dest="allow_unsafe",
        help="run models' code where no isolation is to be had",
    )


def _verify(command: argparse.ArgumentParser) -> None:
    _card(command)
    command.add_argument(
        "--check-twice", action="store_true", help="run each check twice on its reference and on a blank candidate"
    )
    _base(command)
    _unsafe(command)


def _probe(command: argparse.ArgumentParser) -> None:
    _card(command)
    _ca_bundle(command)


def _base(command: argparse.ArgumentParser) -> None:
    command.add_argument("--base", metavar="REF", help="what `control: base` is compared with")
    command.add_argument("--question", choices=("base", "head"), default="base", help="whose exam, claim and limits (base)")


def _plan(command: argparse.ArgumentParser) -> None:
    _card(command)
    _base(command)
    command.add_argument(
        "--assume-lost",
        metavar="SHARE",
        default="0.03",
        help="share of draws that will not arrive, for the warning (default: 0.03)",
    )


def _run(command: argparse.ArgumentParser) -> None:
    _card(command)
    command.add_argument("--run-dir", type=Path, metavar="DIR", help="where the run is written (runs/NAME-TIME)")
    _base(command)
    command.add_argument("--resume", action="store_true", help="draw what the run in --run-dir still lacks")
    command.add_argument("--draw-only", action="store_true", help="judge nothing; `evalaction judge` does")
    command.add_argument("--rehearse", action="store_true", help="uncommitted, any machine, unsealed: no result")
    command.add_argument("--synthetic", action="store_true", help="judge scripted replies; titled SYNTHETIC")
    command.add_argument("--history", type=Path, metavar="DIR", help="add the run to the history in this folder")
    command.add_argument("--quiet", action="store_true", help="no progress")
    _unsafe(command)
    _ca_bundle(command)


def _folder(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", type=Path, metavar="RUN", help="folder of a run")


def _judge(command: argparse.ArgumentParser) -> None:
    _folder(command)
    command.add_argument("--quiet", action="store_true", help="no progress")
    _unsafe(command)


def _report(command: argparse.ArgumentParser) -> None:
    _folder(command)
    command.add_argument("--format", choices=FORMATS, default="text", help="what to print (default: text)")


def _trend(command: argparse.ArgumentParser) -> None:
    command.add_argument("history", type=Path, metavar="DIR", help="folder that `run --history` wrote, or a clone of its branch")
    command.add_argument("--format", choices=TREND_FORMATS, default="text", help="what to print (default: text)")


def _compare(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", type=Path, metavar="RUN", help="folder of the earlier run, or of an entry of a history")
    command.add_argument("other", type=Path, metavar="RUN", help="folder of the later one")
    command.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="what to print (default: text)")


def _demo(command: argparse.ArgumentParser) -> None:
    command.add_argument("--keep", type=Path, metavar="DIR", help="keep the demo repository and its run in this new folder")


def _init(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", nargs="?", type=Path, default=Path("eval"), metavar="DIR", help="new folder (default: eval)")
    command.add_argument("--pair", action="store_true", help="a gate: the change against its base; takes about 84 items")


def _calibrate(command: argparse.ArgumentParser) -> None:
    _card(command)
    command.add_argument("--times", type=int, default=1, metavar="N", help="draw N runs, each whole (default: 1)")
    command.add_argument("--run-dir", type=Path, metavar="DIR", help="folder of the run folders (default: runs/NAME-TIME)")
    command.add_argument("--quiet", action="store_true", help="no progress")
    _ca_bundle(command)


def _import(command: argparse.ArgumentParser) -> None:
    command.add_argument("kind", choices=SOURCES, help="what FILE is a configuration of")
    command.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="may be left out for humaneval, if its package is here"
    )
    command.add_argument("--into", type=Path, metavar="DIR", help="new or empty folder for card and exam (default: eval-KIND)")


def _nothing(_command: argparse.ArgumentParser) -> None:
    pass


Fill = Callable[[argparse.ArgumentParser], None]
COMMANDS: dict[str, tuple[str, str, Fill]] = {
    "init": ("write a card, three tasks, a prompt and a workflow to begin with", "evalaction init eval", _init),
    "lock": ("write the hashes of exam and checkers into the card", "evalaction lock eval/card.yaml && git commit -a", _card),
    "verify": ("check card, exam and files against the commit; offline", "evalaction verify eval/card.yaml", _verify),
    "probe": (
        "send one fixed prompt to each endpoint; never a result",
        "evalaction probe eval/card.yaml",
        _probe,
    ),
    "plan": ("show calls, tokens, cost, time and halves; offline", "evalaction plan eval/card.yaml", _plan),
    "run": ("draw, judge and report", "EVAL_URL=http://127.0.0.1:8080 evalaction run eval/card.yaml", _run),
    "judge": ("judge the draws of `run --draw-only`; no key, offline", "evalaction judge runs/support-triage-1", _judge),
    "score": ("derive every file of a run again from its rows; offline", "evalaction score runs/support-triage-1", _folder),
    "report": ("print the report of a run", "evalaction report runs/support-triage-1 --format markdown", _report),
    "compare": ("pair the items of two runs of one exam; offline", "evalaction compare runs/monday runs/tuesday", _compare),
    "trend": ("show the runs of a history over time; offline", "evalaction trend history --format html > trend.html", _trend),
    "calibrate": (
        "draw one arm against itself: how often this card earns a sign out of nothing",
        "evalaction calibrate eval/card.yaml --times 5",
        _calibrate,
    ),
    "import": (
        "make card and exam from another tool's file; says what it could not carry over",
        "evalaction import promptfoo promptfooconfig.yaml --into eval",
        _import,
    ),
    "action": ("what action.yml runs in a job on GitHub; reads its inputs from EVALACTION_*", "evalaction action", _nothing),
    "selfcheck": ("compare the arithmetic with published values; offline", "evalaction selfcheck", _nothing),
    "demo": ("lock, commit and judge a small exam; needs no endpoint", "evalaction demo", _demo),
}
