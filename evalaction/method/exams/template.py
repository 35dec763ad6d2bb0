"""What an arm makes of an item's vars: a text, a list of chat messages, or a `.prompt.yml`, read once and filled in one pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from evalaction.errors import SourceError
from evalaction.method.canonical import Json
from evalaction.method.exams.items import ROLES
from evalaction.method.reading.part import Part
from evalaction.method.reading.source import load
from evalaction.method.reading.strict_json import NotJson, loads
from evalaction.method.reading.text import decode, position, short, suggestion
from evalaction.method.records import Message, Quoted, Sentence

MAX_BYTES = 1024 * 1024
_PROMPT_FILE = (".prompt.yml", ".prompt.yaml")
_STRUCTURED = (".yaml", ".yml", ".json")
# What GitHub's own reader of such files knows; it passes over every other field, and files in the wild have more of them.
_READ = ("name", "description", "model", "modelParameters", "responseFormat", "jsonSchema", "messages")
_FIELDS = (*_READ, "testData", "evaluators")
_OPENING = re.compile(r"\{\{")
_PLACE = re.compile(r"\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}")
_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    file: str
    messages: tuple[Message, ...]
    """With their places still in them."""
    names: frozenset[str]
    """The vars that the places name."""
    model: str | None = None
    """Of a `.prompt.yml`: it takes the place of the endpoint's."""
    params: Mapping[str, Json] = field(default_factory=dict)
    """Of a `.prompt.yml`: they go over the endpoint's."""
    warnings: tuple[Sentence, ...] = ()

    def filled(self, variables: Mapping[str, str]) -> tuple[Message, ...]:
        """The messages with every place replaced once; what was filled in is never looked at again."""
        return tuple(Message(one.role, _PLACE.sub(lambda place: variables[place[1]], one.content)) for one in self.messages)


def read_template(data: bytes, *, file: str) -> Template:
    """The template that a file holds, by the end of its name. Raises SourceError with line and column."""
    name = file.casefold()
    if name.endswith(_PROMPT_FILE):
        return _prompt_file(data, file)
    if name.endswith(_STRUCTURED):
        root = Part(load(data, file=file, json=name.endswith(".json"), limit=MAX_BYTES))
        if isinstance(root.value, Mapping):
            raise root.wrong("a template of this kind is a list of messages; name a file of GitHub's form `….prompt.yml`")
        return _made(file, _messages(root))
    text = decode(data, file=file)
    _names(text, lambda offset, sentence: _placed(text, offset, sentence, file))
    return _made(file, (Message("user", text),))


def _made(file: str, messages: tuple[Message, ...]) -> Template:
    names = frozenset(name for one in messages for name in _PLACE.findall(one.content))
    return Template(file=file, messages=messages, names=names)


def _placed(text: str, offset: int, sentence: str, file: str) -> SourceError:
    line, column = position(text, offset)
    return SourceError(sentence, file=file, line=line, column=column)


def _names(text: str, wrong: Callable[[int, str], SourceError]) -> None:
    """Refuses every use of `{{` that is not a place."""
    for opening in _OPENING.finditer(text):
        if not _PLACE.match(text, opening.start()):
            shown = short(text[opening.start() : opening.start() + 20].split("\n", maxsplit=1)[0])
            raise wrong(opening.start(), f"`{shown}` is not a place; only `{{{{name}}}}` is")


def _messages(root: Part) -> tuple[Message, ...]:
    return tuple(_message(part) for part in root.parts("the list of messages"))


def _message(part: Part) -> Message:
    fields = part.fields(("role", "content"), "a message")
    for name in ("role", "content"):
        if name not in fields:
            raise part.wrong(f"this message has no `{name}`")
    role, content = fields["role"].text("`role`"), fields["content"].text("`content`")
    if role not in ROLES:
        raise fields["role"].wrong(f"the `role` of a message is `system`, `user` or `assistant`, not `{short(role)}`")
    _names(content, lambda _, sentence: fields["content"].wrong(sentence))
    return Message(role, content)


def _prompt_file(data: bytes, file: str) -> Template:
    from difflib import get_close_matches

    root = Part(load(data, file=file, limit=MAX_BYTES))
    fields = root.mapping("a prompt file")
    for name, part in fields.items():
        if name not in _FIELDS and get_close_matches(name[:80], _FIELDS, n=1, cutoff=0.8):
            raise part.wrong(f"unknown field `{short(name)}`{suggestion(name, _FIELDS)}", at_key=True)
    if "messages" not in fields:
        raise root.wrong("this prompt file has no `messages`")
    made = _made(file, _messages(fields["messages"]))
    unread = [name for name in fields if name not in _READ]
    warnings: tuple[Sentence, ...] = ()
    if unread:
        warnings = (
            ("What ", Quoted(file), " says of ", Quoted(", ".join(unread)), " is not read: the exam has items and checks"),
        )
    return Template(
        file=file,
        messages=made.messages,
        names=made.names,
        model=fields["model"].text("`model`") if "model" in fields else None,
        params=_params(fields),
        warnings=warnings,
    )


def _params(fields: Mapping[str, Part]) -> dict[str, Json]:
    """`modelParameters` under the names of the API: `maxTokens` is `max_tokens`."""
    found: dict[str, Json] = {}
    written = fields["modelParameters"].mapping("`modelParameters`") if "modelParameters" in fields else {}
    for name, part in written.items():
        param = _HUMP.sub(lambda hump: f"_{hump[0].lower()}", name)
        if param in found:
            raise part.wrong(f"`{short(name)}` is given twice, in two spellings", at_key=True)
        found[param] = part.value
    response = _response_format(fields)
    if response and "response_format" in found:
        raise fields["responseFormat"].wrong("`responseFormat` is given twice; remove it from `modelParameters`")
    return found | ({"response_format": response} if response else {})


def _response_format(fields: Mapping[str, Part]) -> Json:
    kind = fields["responseFormat"].text("`responseFormat`") if "responseFormat" in fields else "text"
    if kind not in ("text", "json_object", "json_schema"):
        raise fields["responseFormat"].wrong("`responseFormat` is `text`, `json_object` or `json_schema`")
    if kind != "json_schema":
        if "jsonSchema" in fields:
            raise fields["jsonSchema"].wrong("`jsonSchema` belongs to `responseFormat: json_schema`", at_key=True)
        return {"type": kind} if kind != "text" else None
    if "jsonSchema" not in fields:
        raise fields["responseFormat"].wrong("`responseFormat: json_schema` needs `jsonSchema`")
    try:
        schema = loads(fields["jsonSchema"].text("`jsonSchema`"))
    except NotJson as error:
        raise fields["jsonSchema"].wrong(f"`jsonSchema` is not JSON: {error.detail}") from None
    if not isinstance(schema, Mapping):
        raise fields["jsonSchema"].wrong("`jsonSchema` must be a JSON object")
    return {"type": kind, "json_schema": schema}
