"""What a hostile server or a hostile card puts into the files of a run, through the real command."""

from __future__ import annotations

import base64
import json
import re
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command import KEY, Project, exam, files_of, gated
from support.endpoint_server import Answer, Received, chat, response, serving

SHOWN = 8  # as many characters of a key in a row are a leak


def worded(text: str | None, **fields: str) -> Answer:
    body = chat(text) | {name: value for name, value in fields.items() if name != "finish_reason"}
    body["choices"][0]["finish_reason"] = fields.get("finish_reason", "stop")
    return response(body)


LEAKS: dict[str, Callable[[Received], Answer]] = {
    "an error body that echoes the header, across the cut of 240": lambda received: response(
        "x" * 225 + received.headers["authorization"], status=500
    ),
    "base64 of the header": lambda received: response(base64.b64encode(received.headers["authorization"].encode()), status=500),
    "the names of a reply, across any cut of them": lambda _: worded(
        "ok", model="m" * 190 + KEY, id="i" * 180 + KEY, system_fingerprint="f" * 230 + KEY, finish_reason="s" * 199 + KEY
    ),
    "the names of a reply, url-encoded": lambda _: worded("ok", model=urllib.parse.quote(KEY.replace("-", "%2D"))),
    "a Retry-After": lambda _: response("busy", status=429, headers={"Retry-After": "y" * 190 + KEY}),
    "a key that appears twice in a reply": lambda _: response('{"%s":1,"%s":2}' % (("k" * 60 + KEY,) * 2)),
    "a key that appears twice in an output": lambda _: response(chat('{"%s":1,"%s":2}' % (("k" * 60 + KEY,) * 2))),
    "an output, plain and in base64": lambda _: response(
        chat("y" * 230 + KEY + " " + base64.b64encode(b"a" + KEY.encode()).decode())
    ),
    "an output in JSON escapes": lambda _: response(chat("".join(f"\\u{ord(char):04x}" for char in KEY))),
    "a refusal": lambda _: response(chat(None, refusal="r" * 230 + KEY)),
    "the name of a cache": lambda _: response(chat("ok"), headers={"x-cache": f"HIT {KEY}"}),
    "a status line": lambda _: Answer((b"HTTP/1.1 " + KEY.encode() + b"\r\n\r\n",)),
    "a coding": lambda _: response(chat("ok"), headers={"Content-Encoding": KEY}),
}


def forms(piece: str) -> list[bytes]:
    """A piece of the key as it could stand in a file."""
    escaped = "".join(f"\\\\u{ord(char):04x}" for char in piece)
    percent = "".join(f"%{ord(char):02x}" for char in piece)
    return [piece.encode(), escaped.encode(), percent.encode(), percent.upper().encode()]


@pytest.mark.parametrize("behaviour", LEAKS.values(), ids=LEAKS)
def test_redacted_then_cut_then_written(tmp_path: Path, behaviour: Callable[[Received], Answer]) -> None:
    """Neither the key nor a piece of it that a cut left over stands in a file or on the terminal."""
    as_json = {"tasks.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in _json_items())}
    with serving(behaviour) as server:
        project = Project(tmp_path / "p", gated(2), exam(4) | as_json, url=server.url, own_process=False)
        done = project.run()
    everything = b"\n".join([*files_of(project.root / "run").values(), done.said.encode()])
    assert done.code in {1, 5, 7} and server.count >= 4
    pieces = [KEY[start : start + SHOWN] for start in range(len(KEY) - SHOWN + 1)]
    assert [form for piece in pieces for form in forms(piece) if form in everything] == []
    for shift in range(3):
        core = base64.b64encode(b"\0" * shift + KEY.encode())[4:24]
        assert core not in everything


def _json_items() -> list[dict[str, Any]]:
    return [{"id": f"t{number}", "prompt": "?", "check": "json", "expected": {"a": number}} for number in range(4)]


def test_a_secret_that_stands_in_the_card_is_found_before_the_first_call(tmp_path: Path) -> None:
    """A card is kept with its run, comments and all."""
    with serving(lambda _: response(chat("ok"))) as server:
        card = json.dumps(gated(2)).encode().replace(b'"name"', b'"$schema": "https://h.example/" , "name"')
        project = Project(tmp_path / "p", card, exam(4), url=server.url, own_process=False)
        done = project.run(env={"EVAL_KEY": "https://h.example/"})
        assert done.code == 2 and "The card holds the value of EVAL_KEY" in done.err and server.count == 0
    assert all(b"h.example" not in data for data in files_of(project.root / "run").values())


HOSTILE = "</details><script>alert(1)</script>|![x](http://evil.example/p.png)@org/team#1 ::error::`"


def test_names_of_the_card_and_of_the_server_are_untrusted(tmp_path: Path) -> None:
    def answer(received: Received) -> Answer:
        return worded(
            "no", model=HOSTILE + "\u202e\n", id=str(received.number), system_fingerprint=HOSTILE, finish_reason=HOSTILE
        )

    changes = {
        "name": HOSTILE,
        "endpoints": {HOSTILE: {"api": "openai", "url_env": "EVAL_URL", "key_env": "EVAL_KEY", "model": HOSTILE}},
        "arms.treatment.endpoint": HOSTILE,
    }
    with serving(answer) as server:
        project = Project(tmp_path / "p", gated(2, changes), exam(4), url=server.url, own_process=False)
        done = project.run()
    assert done.code == 1, done.said
    for name in ("comment.md", "summary.md"):
        text = (project.root / "run" / name).read_text(encoding="utf-8")
        assert "<script" not in text and "![" not in text and "@org" not in text and "\u202e" not in text
        assert text.count("<details>") == text.count("</details>")
        assert not re.search(r"https?://evil", text)
    assert not [line for line in done.said.splitlines() if line.startswith("::") or "\x1b" in line]


def test_a_lone_surrogate_fails_its_draw_and_no_file(tmp_path: Path) -> None:
    with serving(lambda _: response(json.dumps(chat("half \ud800")))) as server:
        project = Project(tmp_path / "p", gated(2), exam(4), url=server.url, own_process=False)
        done = project.run()
    assert done.code == 7 and {row["reach_reason"] for row in project.rows()} == {"malformed"}
    for name, data in files_of(project.root / "run").items():
        assert data.decode("utf-8"), name
