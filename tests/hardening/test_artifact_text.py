"""Every text in the manifest of a stranger's artifact, one after the other, made a link, a mention or a command."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.action import demo_at

from evalaction.engine.derive import derive
from evalaction.errors import EvalactionError
from evalaction.github.commands import plain
from evalaction.report.layout import document
from evalaction.report.markdown import comment_of, summary_of
from evalaction.report.outputs import outputs

HOSTILE = ("[y](http://e.example) @octocat <b>x</b>\n::error::f ##[error]f", "www.e.example", "a@e.example")
NEVER = ("http://e.example", "@octocat", "<b>x", "[y](", "www.e.example", "a@e.example")


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, str | None):
        yield at
    for key, held in entries:
        yield from places(held, (*at, key))


def replaced(text: str, at: tuple[Any, ...], word: str) -> str:
    value = held = json.loads(text)
    for key in at[:-1]:
        held = held[key]
    held[at[-1]] = word
    return json.dumps(value)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of a run, of one that was refused with its question read, and of one that was refused before."""
    with demo_at(tmp_path_factory.mktemp("demo")) as demo:
        demo.change({"prompt.md": b"Be very brief.\n"})
        kinds: dict[str, dict[str, str | None]] = {"drawn": {}, "prepared": {"EVAL_KEY": None}}
        found = {kind: demo.step(env={"EVALACTION_GITHUB_TOKEN": None, **env}).run_dir for kind, env in kinds.items()}
        demo.change({"card.yaml": b"protocol: evalaction/9\n"})
        found["unread"] = demo.step(env={"EVALACTION_GITHUB_TOKEN": None}).run_dir
    return {kind: next(folder.rglob("manifest.json")).parent for kind, folder in found.items()}


@pytest.mark.parametrize("kind", ["drawn", "prepared", "unread"])
def test_no_text_of_a_manifest_is_more_than_text(runs: dict[str, Path], tmp_path: Path, kind: str) -> None:
    text = (runs[kind] / "manifest.json").read_text("utf-8")
    accepted = set()
    for at in places(json.loads(text)):
        for word in HOSTILE:
            folder = Path(shutil.copytree(runs[kind], tmp_path / "run", dirs_exist_ok=True))
            (folder / "manifest.json").write_text(replaced(text, at, word), "utf-8")
            try:
                report = derive(folder)
            except EvalactionError as error:
                assert "::error" not in plain((error.sentence,))
                continue
            accepted.add(at)
            shown = comment_of([document(report)]) + summary_of(document(report))
            assert not [one for one in NEVER if one in shown], at
            page = (folder / "report.html").read_text("utf-8")
            assert "<b>x" not in page and not re.search('href="[^"]*e\\.example', page), at
            assert "<b>x" not in (folder / "junit.xml").read_text("utf-8"), at
            assert not any("\n" in value or "e.example" in value for value in outputs(report).values()), at
    assert kind == "unread" or ("tool_version",) in accepted


@pytest.mark.parametrize("outcome", ["pass", "unchanged", "registered", "fail"])
def test_a_manifest_cannot_say_that_it_was_judged(runs: dict[str, Path], tmp_path: Path, outcome: str) -> None:
    """Without a row there is no verdict, whatever a refusal's own words are."""
    folder = Path(shutil.copytree(runs["prepared"], tmp_path / "run"))
    path = folder / "manifest.json"
    path.write_text(replaced(path.read_text("utf-8"), ("ended", "outcome"), outcome), "utf-8")
    with pytest.raises(EvalactionError):
        derive(folder)
