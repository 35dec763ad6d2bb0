"""Fields that a later version brings: each is refused with one sentence, never ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalaction.errors import SourceError
from evalaction.method.reading.source import Document, Path

_NOT_YET = "is not in this version of evalaction"
_LATER_APIS = ("openai-responses", "azure-openai", "command")
_LATER_TEMPLATES = (".yaml", ".yml", ".json")


def first_later(document: Document) -> SourceError | None:
    """The first field of the document that this version cannot honour; None when there is none."""
    found = sorted(
        ((document.key_place(path), path, sentence) for path, sentence in _refused(document.value)), key=lambda one: one[0]
    )
    return document.error(found[0][1], found[0][2], at_key=True) if found else None


def _refused(value: Any) -> Iterator[tuple[Path, str]]:
    card = _mapping(value)
    sign, exam, checks = (_mapping(card.get(name)) for name in ("sign", "exam", "checks"))
    if "strict" in sign:
        yield ("sign", "strict"), f"`sign.strict` {_NOT_YET}; remove it"
    if "items" in sign:
        yield ("sign", "items"), f"`sign.items` {_NOT_YET}; remove it and all items are judged"
    if "checker" in exam:
        yield ("exam", "checker"), f"`exam.checker` (a Python checker) {_NOT_YET}; give each item a named check"
    if card.get("stop") == "decided":
        yield ("stop",), f"`stop: decided` {_NOT_YET}; remove it and the whole grid is drawn"
    if isinstance(checks.get("isolation"), str) and checks["isolation"] != "split":
        yield ("checks", "isolation"), f"`checks.isolation` other than `split` {_NOT_YET}; remove it"
    if "image" in checks and checks["image"] not in (None, "none"):
        yield ("checks", "image"), f"`checks.image` {_NOT_YET}; remove it"
    yield from _arms(_mapping(card.get("arms")))
    for name, endpoint in _mapping(card.get("endpoints")).items():
        yield from _endpoint(name, _mapping(endpoint))


def _arms(arms: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    control = arms.get("control")
    if isinstance(control, str) or "ref" in _mapping(control):
        what = "`control: base`" if control == "base" else "a control at another commit"
        yield ("arms", "control"), f"{what} {_NOT_YET}; give the control an `endpoint` like the treatment"
    for name in ("treatment", "control"):
        arm = _mapping(arms.get(name))
        if "route" in arm:
            yield ("arms", name, "route"), f"`route` {_NOT_YET}; name one `endpoint`"
        template = arm.get("template")
        if isinstance(template, str) and template.casefold().endswith(_LATER_TEMPLATES):
            yield ("arms", name, "template"), f"a YAML or JSON template {_NOT_YET}; use a text file with `{{{{name}}}}` places"


def _endpoint(name: str, endpoint: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    if endpoint.get("api") in _LATER_APIS:
        sentence = f"`api: {endpoint['api']}` {_NOT_YET}; use `openai`, `anthropic`, `http` or `scripted`"
        yield ("endpoints", name, "api"), sentence
    for field in ("poll", "trace"):
        if field in endpoint:
            yield ("endpoints", name, field), f"`{field}` {_NOT_YET}; remove it"


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
