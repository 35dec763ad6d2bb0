"""What is written for users is what the program does: help, exit codes, fields of the card, the card and exam of the README."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.command import Make, evalaction

from evalaction import schemas
from evalaction.cli.parser import COMMANDS
from evalaction.errors import EXIT_CODES, Outcome

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES, COLUMNS = 24, 100


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_screen_and_shows_an_example(command: str, tmp_path: Path) -> None:
    done = evalaction(*command.split(), "--help", cwd=tmp_path, env={"COLUMNS": str(COLUMNS)})
    lines = done.out.splitlines()
    assert done.code == 0 and done.err == ""
    assert len(lines) <= LINES and max(map(len, lines)) <= COLUMNS
    assert f"evalaction {command}".strip() in done.out.partition("example:")[2]
    assert "exit codes: 0 pass" in done.out


def test_the_help_of_the_program_names_every_outcome(tmp_path: Path) -> None:
    said = evalaction("--help", cwd=tmp_path).out.partition("exit codes:")[2]
    assert {int(code) for code in re.findall(r"\b(\d+) \w", said)} == set(EXIT_CODES.values())


def section(title: str) -> str:
    return re.split(r"^## ", README.partition(f"\n## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def test_the_exit_codes_of_the_readme_are_the_programs() -> None:
    table = re.findall(r"^\| (\d+) \| (?:`(\w+)`|–) \|", section("Outcomes and exit codes"), re.MULTILINE)
    assert table
    assert {Outcome(name) if name else Outcome.INTERRUPTED: int(code) for code, name in table} == EXIT_CODES


def fields(schema: Mapping[str, Any], node: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Every field by its dotted path; what is named by the user (endpoints, headers, tags) has no name of its own."""
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    for name, below in node.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        yield here
        yield from fields(schema, below, here)
    more = node.get("additionalProperties")
    if isinstance(more, dict):
        yield from fields(schema, more, path)
    for choice in node.get("anyOf", ()):
        yield from fields(schema, choice, path)


def test_the_readme_names_every_field_of_the_card_and_no_other() -> None:
    schema = schemas.load("card")
    known = set(fields(schema, schema)) - {"$schema"}
    text = section("The card")
    names = {path.rpartition(".")[2] for path in known}
    words = set(re.findall(r"[a-z_0-9]+", " ".join(re.findall(r"`([^`]+)`", text))))
    assert names - words == set(), "fields that the README does not name"
    claimed = {word for cell in re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE) for word in re.findall(r"`([^`]+)`", cell)}
    apis = set(schema["$defs"]["endpoint"]["properties"]["api"]["enum"])
    assert {name for name in claimed if "<" not in name} - known - names - apis == set(), "what the card does not have"
    assert apis <= claimed, "APIs without a row of their own"


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", README, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]


def test_the_card_and_exam_of_the_readme_can_be_locked_and_planned(make: Make) -> None:
    tasks = next(block for block in blocks("json") if '"prompt"' in block)
    card = next(block for block in blocks("yaml") if "protocol: evalaction/1" in block)
    lines = [json.loads(line) for line in tasks.splitlines()]
    more = [{**lines[0], "id": f"more{number}"} for number in range(84 - len(lines))]
    exam = tasks + "".join(json.dumps(line) + "\n" for line in more)
    files = {"tasks.jsonl": exam.encode(), "prompts/triage.md": b"Be brief.\n"}
    project = make(card.encode(), files)
    assert project("verify").code == 0
    planned = project("plan")
    assert planned.code == 0 and "84 items × 5 draws × 2 arms = 840 calls" in planned.out
    assert "without --base the control is counted as the treatment" in planned.out
