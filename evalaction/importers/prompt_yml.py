"""A `.prompt.yml` with test data and evaluators → exam, prompt file and card.

Meanings follow github.com/github/gh-models, August 2025: replies are trimmed, `contains`, `startsWith` and `endsWith` take upper
and lower case for the same, and values of evaluators are filled from the test data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from evalaction.errors import SourceError, UsageError
from evalaction.importers.card_text import PLACEHOLDER, PUBLIC, card_text, titled
from evalaction.importers.imported import KEPT, MIRROR, Imported, Ledger, NotCarried
from evalaction.importers.items import jsonl, tried
from evalaction.importers.loose_yaml import read_loose
from evalaction.importers.places import Place, filled, names_in, text_of
from evalaction.importers.text_checks import Kind, Need, one_check
from evalaction.method.canonical import Json
from evalaction.method.exams.items import ROLES
from evalaction.method.exams.template import read_template
from evalaction.method.reading.secret_shapes import is_key
from evalaction.method.reading.source import Document
from evalaction.method.reading.text import short

_FIELDS = (
    "name", "description", "model", "modelParameters", "responseFormat", "jsonSchema", "messages", "testData", "evaluators",
)  # fmt: skip
_CUT = ("testData", "evaluators")
_STRING = ("equals", "contains", "startsWith", "endsWith")
"""In the order in which gh-models looks for them; it reads the first alone."""
_NEEDS: Mapping[str, Kind] = {"equals": "whole", "contains": "anywhere", "startsWith": "start", "endsWith": "end"}
EDGES = "white space at the edge of a text is left out here; gh-models trims the reply alone, and never passes such an evaluator"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class _Evaluator:
    kind: str
    value: str
    place: Place
    name: str


def convert(data: bytes, *, file: str) -> Imported:
    """Exam, prompt and card of one prompt file. Raises SourceError and UsageError where there is none, or no test data."""
    document = read_loose(data, file=file)
    root, place = document.value, Place(document)
    if not isinstance(root, Mapping) or not isinstance(root.get("messages"), list):
        raise SourceError("this is no prompt file: it is a mapping with `messages`, `testData` and `evaluators`", file=file)
    ledger = Ledger(file)
    for name in root:
        if name not in _FIELDS:
            ledger.part(place.at(name).line, f"`{short(name)}`", "is no field of a prompt file")
    tests = root.get("testData")
    tests = tests if isinstance(tests, list) else []
    if not tests:
        raise UsageError(
            f"{short(file)} holds no testData, so there is no exam in it; an arm of a card can name it as its `template`."
        )
    names = _places(root["messages"], file)
    evaluators, left_out = _evaluators(root.get("evaluators"), place.at("evaluators"), ledger)
    items = []
    for index, test in enumerate(tests):
        where = place.at("testData", index)
        try:
            items.append(_item(f"test-{index + 1:04d}", test, where, names=names, evaluators=evaluators, ledger=ledger))
        except NotCarried as lost:
            ledger.item(where.line, f"test {index + 1}", lost.why)
    ledger.partial = len(items) if left_out else 0
    if items:
        ledger.note(KEPT)
        ledger.note("the card asks an endpoint of your own for this model: EVAL_URL is the base address, EVAL_KEY its key")
    return ledger.result(noun="test", total=len(tests), files=_files(items, root, document, ledger))


def _places(messages: Json, file: str) -> frozenset[str]:
    """The names that the messages are filled with. Raises UsageError where they cannot be a template here."""
    found: set[str] = set()
    try:
        for message in messages if isinstance(messages, list) else []:
            _message(message)
            found |= set(names_in(message["content"]))
    except NotCarried as lost:
        raise UsageError(f"The messages of {short(file)} cannot be carried, so there is no arm: {lost.why}.") from None
    return frozenset(found)


def _message(message: Json) -> dict[str, str]:
    role, content = (message.get("role"), message.get("content")) if isinstance(message, Mapping) else (None, None)
    if not isinstance(role, str) or role.lower() not in ROLES or not isinstance(content, str) or not content.strip():
        raise NotCarried("a message has another role than system, user or assistant, or a content that is no text")
    return {"role": role.lower(), "content": content}


def _evaluators(value: Json, place: Place, ledger: Ledger) -> tuple[list[_Evaluator], bool]:
    """The evaluators that can be carried, and whether one is left out: they hold for every test."""
    found: list[_Evaluator] = []
    lost = False
    for index, entry in enumerate(value if isinstance(value, list) else []):
        where = place.at(index)
        fields = entry if isinstance(entry, Mapping) else {}
        name = str(fields.get("name", f"evaluator {index + 1}"))
        try:
            found.append(_evaluator(fields, where, name, ledger))
        except NotCarried as error:
            lost = True
            ledger.part(where.line, f"evaluator {name}", error.why)
    return found, lost


def _evaluator(fields: Mapping[str, Json], place: Place, name: str, ledger: Ledger) -> _Evaluator:
    string = fields.get("string")
    if "llm" in fields or "uses" in fields:
        raise NotCarried(MIRROR)
    if not isinstance(string, Mapping):
        raise NotCarried("is not of the kinds `string`, `llm` and `uses`, which are all that gh-models knows")
    kinds = [kind for kind in _STRING if string.get(kind) not in (None, "")]
    for unread in [kind for kind in string if kind not in kinds[:1]]:
        ledger.part(
            place.line, f"evaluator {name}: `{short(unread)}`", "is not read by gh-models, which takes one rule of an evaluator"
        )
    if not kinds:
        raise NotCarried("has no rule that gh-models knows: `equals`, `contains`, `startsWith` or `endsWith`")
    value = text_of(string[kinds[0]], place.at("string", kinds[0]))
    names_in(value)
    return _Evaluator(kinds[0], value, place, name)


def _item(
    item_id: str, test: Json, place: Place, *, names: frozenset[str], evaluators: list[_Evaluator], ledger: Ledger
) -> dict[str, Json]:
    if not isinstance(test, Mapping):
        raise NotCarried("it is not a mapping of names and values")
    if not evaluators:
        raise NotCarried("no evaluator of the file can be carried, and without one there is nothing to compare")
    variables: dict[str, str] = {}
    used = names.union(*(names_in(evaluator.value) for evaluator in evaluators))
    for name, value in test.items():
        try:
            if not _NAME.fullmatch(name):
                raise NotCarried("its name is not made of letters, digits and `_`")
            variables[name] = "<nil>" if value is None else text_of(value)
        except NotCarried as lost:
            if name in used:
                raise NotCarried(f"its `{short(name)}`: {lost.why}") from None
            ledger.part(place.at(name).line, f"{item_id}: `{short(name)}`", lost.why)
    for name in sorted(used - variables.keys()):
        raise NotCarried(f"it has no `{name}`, so that gh-models leaves the place as it stands")
    needs = [Need(kind=_NEEDS[one.kind], texts=(_text(one, variables),), fold=one.kind != "equals") for one in evaluators]
    if any(need.edged(text) != text for need in needs for text in need.texts):
        ledger.note(EDGES)
    return tried({"id": item_id, "vars": variables, **one_check(needs)})


def _text(evaluator: _Evaluator, variables: Mapping[str, str]) -> str:
    text = filled(evaluator.value, variables)
    if not text.strip():
        raise NotCarried(f"the evaluator {short(evaluator.name)} compares with nothing")
    return text


def _files(items: list[dict[str, Json]], root: Mapping[str, Json], document: Document, ledger: Ledger) -> dict[str, bytes]:
    path, data = _prompt(root, document, ledger)
    model = root.get("model")
    named = isinstance(model, str) and 0 < len(model) <= 200 and model.isprintable() and not is_key(model)
    endpoint = {**PLACEHOLDER, "model": model} if named else PLACEHOLDER
    params = {} if path.endswith(".yml") else _params(root)
    card = card_text(
        titled(root.get("name")),
        comment=PUBLIC.format(short(document.file)),
        tasks="tasks.jsonl",
        data="public",
        endpoints={"main": {**endpoint, "params": params} if params else {k: v for k, v in endpoint.items() if k != "params"}},
        arms={"treatment": {"endpoint": "main", "template": path}},
        draws={"count": 3, "timeout_ms": 60_000},
    )
    return {"card.yaml": card, "tasks.jsonl": jsonl(items), path: data}


def _prompt(root: Mapping[str, Json], document: Document, ledger: Ledger) -> tuple[str, bytes]:
    """The prompt file without its tests, if a card can read it as it stands; else its messages."""
    lines = document.text.split("\n")
    starts = sorted(document.key_place((name,))[0] - 1 for name in root)
    for name in _CUT:
        if name in root:
            start = document.key_place((name,))[0] - 1
            end = next((other for other in starts if other > start), len(lines))
            lines[start:end] = [""] * (end - start)
    data = (re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n").encode()
    try:
        read_template(data, file="prompt.prompt.yml")
    except SourceError as error:
        why = f"only its messages, model and parameters are carried: {error.sentence.partition(': ')[2]}"
        ledger.part(error.line, "the prompt file as it stands", why)
        messages = [_message(message) for message in root["messages"]] if isinstance(root["messages"], list) else []
        return "prompts/prompt.json", json.dumps(messages, indent=1, ensure_ascii=False).encode() + b"\n"
    return "prompts/prompt.prompt.yml", data


def _params(root: Mapping[str, Json]) -> dict[str, Json]:
    known = {"maxTokens": "max_tokens", "temperature": "temperature", "topP": "top_p"}
    given = root.get("modelParameters")
    return {known[name]: value for name, value in given.items() if name in known} if isinstance(given, Mapping) else {}
