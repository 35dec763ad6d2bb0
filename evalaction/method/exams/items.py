"""Raw fields → Item: every field has one meaning, an unknown one is an error, nothing is ignored."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import TypeVar, cast, get_args

from evalaction.method.canonical import Json
from evalaction.method.exams.checks import check_of, named
from evalaction.method.exams.sources import FIELDS, RawItem
from evalaction.method.reading.text import invisible, short, suggestion
from evalaction.method.records import Check, Extract, Item, Message, Output

ROLES = ("system", "user", "assistant")
EXTRACTS: tuple[Extract, ...] = get_args(Extract)
OUTPUTS: tuple[Output, ...] = get_args(Output)
MAX_ID = 200
_BACKTICKS = re.compile(r"`+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_Word = TypeVar("_Word", bound=str)


def item_of(raw: RawItem, index: int, checker: str | None = None) -> Item:
    """The item that one line, row or file holds; `checker` as for `check_of`. Raises SourceError with its place."""
    for field in raw.fields:
        if field not in FIELDS:
            raise raw.error(f"unknown field `{short(field)}`{suggestion(field, FIELDS)}")
    item_id = _id(raw)
    prompt, variables = _prompt(raw), _vars(raw)
    if (prompt is None) == (variables is None):
        raise raw.error(f"an item has either `prompt` or `vars`, {'not both' if prompt is not None else 'this one has neither'}")
    system = _text(raw, "system")
    if system is not None and isinstance(prompt, tuple) and any(message.role == "system" for message in prompt):
        raise raw.error("`system` is given twice: as a field and in the messages of `prompt`")
    check = check_of(raw, checker)
    extract = _extract(raw, check)
    return Item(
        id=item_id,
        index=index,
        file=raw.file,
        line=raw.line,
        prompt=prompt,
        vars=variables,
        system=system,
        schema=_schema(raw),
        extract=extract,
        output=_output(raw, check),
        check=check,
        tags=_tags(raw),
        cluster=_label(raw, "cluster"),
        reference=_reference(raw, extract),
        sha256=raw.sha256,
    )


def same_id(item_id: str) -> str:
    """The form under which two ids count as one: Unicode NFC."""
    return unicodedata.normalize("NFC", item_id)


def _id(raw: RawItem) -> str:
    item_id = raw.fields.get("id", raw.stem or raw.folder)
    if item_id is None and "id" not in raw.fields:
        raise raw.error("this item has no `id`")
    if not isinstance(item_id, str):
        raise raw.error(f"`id` must be text, not {named(item_id)}; put it in quotes")
    if raw.stem is not None and item_id != raw.stem:
        raise raw.error(f"the id of this item is its file name, `{short(raw.stem)}`; remove `id` or make it the same")
    if not 1 <= len(item_id) <= MAX_ID:
        raise raw.error(f"an `id` has 1 to {MAX_ID} characters, this one has {len(item_id)}")
    bad = invisible(item_id)
    if bad:
        raise raw.error(f"the id `{short(item_id)}` holds {bad}, which cannot be seen")
    if item_id != item_id.strip():
        raise raw.error(f"the id `{short(item_id)}` has white space around it")
    if item_id[0] in "=+-@":
        raise raw.error(f"the id `{short(item_id)}` begins with `{item_id[0]}`, which a spreadsheet would run as a formula")
    return item_id


def _prompt(raw: RawItem) -> str | tuple[Message, ...] | None:
    prompt = raw.fields.get("prompt")
    if isinstance(prompt, list) and prompt:
        return tuple(_message(raw, message) for message in prompt)
    if "prompt" in raw.fields and not (isinstance(prompt, str) and prompt.strip()):
        raise raw.error("`prompt` must be text or a list of messages, and not empty")
    return cast("str | None", prompt)


def _message(raw: RawItem, message: Json) -> Message:
    if not isinstance(message, Mapping) or set(message) != {"role", "content"}:
        raise raw.error("a message of `prompt` has exactly the fields `role` and `content`")
    role, content = message["role"], message["content"]
    if role not in ROLES or not isinstance(role, str):
        raise raw.error("the `role` of a message is `system`, `user` or `assistant`")
    if not isinstance(content, str) or not content.strip():
        raise raw.error("the `content` of a message must be text, and not empty")
    return Message(role, content)


def _vars(raw: RawItem) -> Mapping[str, str] | None:
    if "vars" not in raw.fields:
        return None
    variables = raw.fields["vars"]
    if not isinstance(variables, Mapping) or not variables:
        raise raw.error("`vars` must be an object of names and texts, and not empty")
    for name, value in variables.items():
        if not _VARIABLE.fullmatch(name):
            raise raw.error(f"the variable `{short(name)}` must consist of letters, digits and `_`, not beginning with a digit")
        if not isinstance(value, str):
            raise raw.error(f"the variable `{short(name)}` must be text; put its value in quotes")
    return cast("Mapping[str, str]", variables)


def _text(raw: RawItem, field: str) -> str | None:
    value = raw.fields.get(field)
    if field in raw.fields and not (isinstance(value, str) and value.strip()):
        raise raw.error(f"`{field}` must be text, and not empty")
    return cast("str | None", value)


def _label(raw: RawItem, field: str) -> str | None:
    value = _text(raw, field)
    if value is not None:
        _refuse_label(raw, field, value)
    return value


def _tags(raw: RawItem) -> tuple[str, ...]:
    tags = raw.fields.get("tags", [])
    if not isinstance(tags, list):
        raise raw.error("`tags` must be a list of texts")
    for tag in tags:
        if not isinstance(tag, str):
            raise raw.error("`tags` must be a list of texts")
        _refuse_label(raw, "tags", tag)
    if len(set(tags)) != len(tags):
        raise raw.error("a tag appears twice")
    return tuple(tags)


def _refuse_label(raw: RawItem, field: str, value: str) -> None:
    if not 1 <= len(value) <= 100 or value != value.strip() or invisible(value):
        raise raw.error(f"`{field}` has 1 to 100 visible characters and no white space around them")


def _schema(raw: RawItem) -> Json:
    schema = raw.fields.get("schema")
    if "schema" in raw.fields and not isinstance(schema, (Mapping, bool)):
        raise raw.error("`schema` must be a JSON Schema: an object, `true` or `false`")
    return schema


def _output(raw: RawItem, check: Check) -> Output | None:
    output = _word(raw, "output", OUTPUTS)
    if check.kind == "code" and output == "tool_calls":
        raise raw.error("a `code` check runs text; remove `output: tool_calls`")
    return output


def _reference(raw: RawItem, extract: Extract) -> str | None:
    """An output that must pass: the field, or the code of the file beside the item in the form that `extract` asks for."""
    if raw.reference is None:
        return _text(raw, "reference")
    if "reference" in raw.fields:
        raise raw.error("a `reference.py` lies beside this item, which has a `reference` too; keep one of them")
    if extract != "fenced":
        return raw.reference
    fence = "`" * max([3, *(len(run) + 1 for run in _BACKTICKS.findall(raw.reference))])
    return f"{fence}python\n{raw.reference.removesuffix(chr(10))}\n{fence}\n"


def _extract(raw: RawItem, check: Check) -> Extract:
    declared = _word(raw, "extract", EXTRACTS)
    if check.kind == "code":
        return _code_extract(raw, declared)
    parses = "a schema" if "schema" in raw.fields else "a `json` check" if _reads_json(check) else None
    if parses and declared not in (None, "json", "fenced"):
        raise raw.error(f"{parses} reads JSON, which `extract: {declared}` does not give; use `json` or `fenced`")
    if declared is None:
        return "json" if parses else "raw"
    return declared


def _reads_json(check: Check) -> bool:
    return check.kind == "json" and check.source == "output"


def _code_extract(raw: RawItem, declared: Extract | None) -> Extract:
    if "schema" in raw.fields:
        raise raw.error("a schema reads JSON, and a `code` check runs Python; remove `schema`")
    if declared not in (None, "raw", "fenced"):
        raise raw.error(f"a `code` check runs Python, which `extract: {declared}` does not give; use `raw` or `fenced`")
    return declared or "raw"


def _word(raw: RawItem, field: str, words: tuple[_Word, ...]) -> _Word | None:
    if field not in raw.fields:
        return None
    value = raw.fields[field]
    for word in words:
        if value == word:
            return word
    near = suggestion(value, words) if isinstance(value, str) else ""
    raise raw.error(f"`{field}` must be one of {', '.join(words)}{near}")
