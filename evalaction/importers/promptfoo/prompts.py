"""`prompts` of a configuration → template files: text with places, or a list of chat messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from evalaction.errors import SourceError
from evalaction.importers.imported import Ledger, NotCarried
from evalaction.importers.loose_yaml import read_loose
from evalaction.importers.places import Place, Read, names_in, read_named
from evalaction.method.canonical import Json
from evalaction.method.exams.items import ROLES
from evalaction.method.reading.strict_json import NotJson, loads
from evalaction.method.reading.text import decode, short

_FILE = re.compile(r"[^\n{}]*\.(txt|md|j2|json|ya?ml|jsonl|csv|py|js|ts|cjs|mjs|rb|sh|exe|bat)(?::[A-Za-z0-9_]+)?", re.IGNORECASE)
_TEXT = ("txt", "md", "j2")


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    label: str
    data: bytes
    """The template file."""
    suffix: str
    """`.txt`, or `.json` for chat messages."""
    names: frozenset[str]
    called: str = ""
    """How the source calls it in full, by its label or by file and text: what a provider's own `prompts` are compared with."""


def read_prompts(value: Json, place: Place, read: Read, ledger: Ledger) -> list[Prompt]:
    """The prompts that can be carried, in order; each that cannot is a loss."""
    found: list[Prompt] = []
    for entry, label, where in _entries(value, place):
        try:
            for text in _texts(entry, read):
                made = _prompt(text, label or short(text.strip().split("\n", maxsplit=1)[0], 40))
                path = str(entry).removeprefix("file://")
                found.append(replace(made, called=label or (text if text == entry else f"{path}: {text}")))
        except NotCarried as lost:
            ledger.part(where.line, f"prompt {label or short(str(entry), 40)}", lost.why, file=where.file)
    return found


def _entries(value: Json, place: Place) -> Iterator[tuple[Json, str, Place]]:
    if isinstance(value, Mapping) and value and all(isinstance(part, str) for part in value.values()):
        yield from ((name, str(label), place.at(name)) for name, label in value.items())  # the old form: file to label
        return
    listed = value if isinstance(value, list) else [] if value is None else [value]
    for index, entry in enumerate(listed):
        where = place.at(index) if isinstance(value, list) else place
        if isinstance(entry, Mapping):
            text = entry.get("raw", entry.get("id"))
            label = entry.get("label", entry.get("display"))
            if "function" in entry or "config" in entry:
                text = None
            yield text, label if isinstance(label, str) else "", where
        else:
            yield entry, "", where


def _texts(entry: Json, read: Read) -> list[str]:
    if not isinstance(entry, str):
        raise NotCarried("a prompt that code makes, or that is no text, is not carried; write it out with `{{name}}` places")
    path = entry.removeprefix("file://")
    named = _FILE.fullmatch(path)
    if "*" in path.split("\n")[0] and (entry.startswith("file://") or named):
        raise NotCarried("a glob is not followed; name the files one by one")
    if not entry.startswith("file://") and not named:
        if re.match(r"[a-z0-9-]+://|exec:", entry):
            raise NotCarried("prompts are taken from texts and files only, not from services or programs")
        return [entry]
    kind = named[1].casefold() if named else ""
    if kind in _TEXT:
        text = decode(_utf8(read_named(path, read), path), file=path)
        return (
            [part.strip() for part in re.split(r"^---\r?$", text, flags=re.MULTILINE) if part.strip()]
            if kind == "txt"
            else [text]
        )
    if kind in ("json", "yaml", "yml"):
        return [decode(_utf8(read_named(path, read), path), file=path)]
    raise NotCarried(f"`{short(path)}` is made by code or is no single prompt; write the prompt into a text file")


def _utf8(data: bytes, path: str) -> bytes:
    try:
        decode(data, file=path)
    except SourceError as error:
        raise NotCarried(error.sentence) from None
    return data


def _prompt(text: str, label: str) -> Prompt:
    messages = _messages(text)
    if messages is None:
        if not text.strip():
            raise NotCarried("it is empty")
        return Prompt(label=label, data=text.encode(), suffix=".txt", names=frozenset(names_in(text)))
    names: set[str] = set()
    for message in messages:
        names |= set(names_in(message["content"]))
    data = json.dumps(messages, indent=1, ensure_ascii=False).encode() + b"\n"
    return Prompt(label=label, data=data, suffix=".json", names=frozenset(names))


def _messages(text: str) -> list[dict[str, str]] | None:
    """Chat messages, if that is what the text holds: JSON, or YAML that begins with `- role:`."""
    value: Json = None
    if text.lstrip().startswith(("[", "{")):
        try:
            value = loads(text)
        except NotJson:
            return None
    elif re.match(r"\s*- role:", text):
        try:
            value = read_loose(text.encode(), file="prompt").value
        except SourceError as error:
            raise NotCarried(f"its messages cannot be read: {error.sentence}") from None
    if isinstance(value, Mapping) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if not isinstance(value, list) or not value:
        return None
    return [_message(one) for one in value]


def _message(value: Json) -> dict[str, str]:
    role, content = (value.get("role"), value.get("content")) if isinstance(value, Mapping) else (None, None)
    if role not in ROLES or not isinstance(content, str) or not content.strip() or not isinstance(role, str):
        raise NotCarried("a message has another role than system, user or assistant, or a content that is no text")
    if isinstance(value, Mapping) and set(value) != {"role", "content"}:
        raise NotCarried("a message has more than `role` and `content`")
    return {"role": role, "content": content}
