"""Input over its limits ends in one sentence that names file and line, before anything is drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.command import Project, exam, gated
from support.endpoint_server import chat, response, serving

MIB = 1 << 20


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"tasks.jsonl": cards.jsonl([cards.item(1), cards.item(2, prompt="x" * 4 * MIB)])}, "tasks.jsonl:2"),
        ({"prompt.md": b"x" * (MIB + 1)}, "prompt.md"),
        (
            {"tasks.jsonl": cards.jsonl([cards.item(1), cards.item(2, schema=json.loads('{"not":' * 201 + "{}" + "}" * 201))])},
            "tasks.jsonl:2",
        ),
        ({"tasks.jsonl": b'{"id": "a", "prompt": "p", "check": "number", "expected": ' + b"9" * 1001 + b"}\n"}, "tasks.jsonl:1"),
        ({"tasks.jsonl": b'{"id": "a", "prompt": "p", "check": "number", "expected": 1e400}\n'}, "tasks.jsonl:1"),
        ({"tasks.jsonl": cards.jsonl([cards.item(1), cards.item(2, schema={"$ref": "#"})])}, "tasks.jsonl:2"),
        ({"tasks.jsonl": cards.jsonl([cards.item(1, schema={"$ref": "http://127.0.0.1:9/s.json"})])}, "tasks.jsonl:1"),
        ({"card.yaml": b"a: 1 #" + b"x" * 262_144}, "card.yaml"),
        ({"card.yaml": b"a: " + b"[" * 51}, "card.yaml:1"),
        ({"card.yaml": b"name: 12:30:45\nlimits: &a {min_reach: 017}\n"}, "card.yaml:2"),
    ],
)
def test_over_a_limit_is_one_sentence_with_its_place(tmp_path: Path, files: dict[str, bytes], named: str) -> None:
    project = Project(tmp_path / "p", gated(2), exam(2) | files, lock=False, own_process=False)
    done = project.run(env={"EVAL_URL": "http://127.0.0.1:9", "EVAL_KEY": "0123456789"})
    assert done.code == 2 and named in done.err, done.said
    assert not (project.root / "run" / "rows.jsonl").exists()


OUTPUTS: list[Any] = ["[" * 100_000, "9" * 5_000, "1e400", '{"a": 1, "a": 1}', "NaN", '{"n": ' * 300]


def test_hostile_json_is_not_json(tmp_path: Path) -> None:
    items = [cards.item(number, schema={}) for number in range(len(OUTPUTS))]

    def answer(received: Any) -> Any:
        return response(chat(OUTPUTS[int(received.json["messages"][-1]["content"][4:-1])]))

    with serving(answer) as server:
        project = Project(
            tmp_path / "p", gated(1, {"limits": ...}), exam(1) | {"tasks.jsonl": cards.jsonl(items)}, url=server.url
        )
        done = project.run()
    assert done.code == 0, done.said
    rows = project.rows()
    assert len(rows) == len(OUTPUTS) and all(row["contract_reason"].startswith("not_json: ") for row in rows)
