"""A card as YAML text: one field a line, values in flow style, text in quotes wherever YAML could take it for more."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from evalaction.method.canonical import Json
from evalaction.method.reading.secret_shapes import has_credentials, is_key
from evalaction.method.reading.yaml_core import resolve

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
PLACEHOLDER: Mapping[str, Json] = {
    "api": "openai", "url_env": "EVAL_URL", "key_env": "EVAL_KEY", "model": "your-model", "params": {"max_tokens": 1024},
}  # fmt: skip
"""An endpoint for sources that name none that could be used."""

PUBLIC = "From {}. `data: public` means that a host may keep these texts; write `private` if it may not."
"""Said above a card whose texts the importer cannot know the nature of."""


def titled(text: Json) -> str:
    """A name for the card: the source's own, on one line, where a card may hold it."""
    title = re.sub(r"\s+", " ", text).strip()[:80].strip() if isinstance(text, str) else ""
    return title if title and title.isprintable() and not is_key(title) and not has_credentials(title) else "imported"


def flow(value: Json) -> str:
    """A value on one line; a mapping keeps its order, a decimal its text."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(str(key))}: {flow(part)}" for key, part in value.items()) + "}"
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and isinstance(resolve(value), str) else quoted(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, Decimal)):
        return str(value)
    assert isinstance(value, Sequence), "floats have no text of their own"
    return "[" + ", ".join(map(flow, value)) + "]"


def quoted(text: str) -> str:
    """Text in double quotes, which JSON and YAML read alike."""
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def card_text(
    name: str,
    *,
    comment: str,
    tasks: str,
    data: str,
    endpoints: Mapping[str, Mapping[str, Json]],
    arms: Mapping[str, Json],
    draws: Mapping[str, Json],
    sign: Mapping[str, Json] | None = None,
    checker: str | None = None,
) -> bytes:
    """The bytes of a card without hashes: `evalaction lock` adds them."""
    exam = {"tasks": tasks, "data": data} | ({"checker": checker} if checker else {})
    lines = [f"# {comment}", "protocol: evalaction/1", f"name: {flow(name)}", f"exam: {flow(exam)}"]
    lines += ["endpoints:", *(f"  {flow(key)}: {flow(fields)}" for key, fields in endpoints.items())]
    lines += ["arms:", *(f"  {arm}: {flow(fields)}" for arm, fields in arms.items())]
    lines.append(f"draws: {flow(draws)}")
    if sign is not None:
        lines.append(f"sign: {flow(sign)}")
    return ("\n".join(lines) + "\n").encode()


def code_card(name: str, *, tasks: str) -> bytes:
    """One arm that is asked for code, at an endpoint to be filled in."""
    return card_text(
        name,
        comment="Name your model; then `evalaction lock`, commit, `evalaction plan`.",
        tasks=tasks,
        data="public",
        endpoints={"main": PLACEHOLDER},
        arms={"treatment": {"endpoint": "main"}},
        draws={"count": 3, "timeout_ms": 60_000},
    )
