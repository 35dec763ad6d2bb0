"""A registry file of openai/evals with its samples → exam and card, for the classes that compare texts.

Meanings follow github.com/openai/evals (`evals/elsuite/basic`): Match accepts a reply that begins with an ideal answer, Includes
one that holds it, JsonMatch one that is the same JSON, JsonValidator one that is JSON; what FuzzyMatch accepts is said by a
checker that is written beside the exam.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evalaction.errors import SourceError, UsageError
from evalaction.importers.card_text import PLACEHOLDER, card_text
from evalaction.importers.imported import MIRROR, Imported, Ledger, NotCarried, refuse_empty
from evalaction.importers.items import jsonl, tried
from evalaction.importers.loose_yaml import read_loose
from evalaction.importers.places import Place, Read, read_named
from evalaction.importers.text_checks import ANYTHING, STRIPPED, Need, one_check
from evalaction.method.canonical import Json
from evalaction.method.exams.items import ROLES
from evalaction.method.reading.strict_json import NotJson, loads
from evalaction.method.reading.text import decode, short

MAX_SAMPLES = 50_000
_POINTER = b"version https://git-lfs.github.com/spec/"
_CLASSES = {"Match": "match", "Includes": "includes", "JsonMatch": "json", "JsonValidator": "validator", "FuzzyMatch": "fuzzy"}
_LENGTHS = {"json": 512, "fuzzy": 100}
"""What these classes let a model write where the registry says nothing; the others leave it to the client."""
_READ_ARGS = {"samples_jsonl", "few_shot_jsonl", "num_few_shot", "ignore_case", "max_tokens"}
CHECKER = b'''\
"""Whether a reply holds an accepted answer, or an answer the reply, with case, punctuation and articles left aside."""

import re
import string


def checker(parsed, fixture):
    got = plain(parsed)
    for answer in fixture:
        wanted = plain(answer)
        if got == wanted or (got and wanted and (got in wanted or wanted in got)):
            return True, "alike"
    return False, "alike to none of the accepted answers"


def plain(text):
    kept = "".join(character for character in text.lower() if character not in string.punctuation)
    return " ".join(re.sub(r"\\b(a|an|the)\\b", " ", kept).split())
'''
"""The comparison of FuzzyMatch, for exams that need it."""
_DATA = "../data/"
"""Where samples lie, from the folder of the registry file."""


@dataclass(frozen=True, slots=True)
class _Eval:
    """One entry with a class."""

    name: str
    kind: str
    args: Mapping[str, Json]
    place: Place


def convert(data: bytes, *, file: str, read: Read) -> Imported:
    """The exam of all evals of one registry file that can be carried; `read` gives the samples, by path from its folder.

    Raises SourceError and UsageError where there is no eval in it.
    """
    if file.casefold().endswith(".jsonl"):
        raise UsageError(
            "Samples alone do not say how a reply is compared; name the YAML file of `registry/evals` that names them."
        )
    document = read_loose(data, file=file)
    root = document.value
    entries = (
        [(name, value) for name, value in root.items() if isinstance(value, Mapping) and "class" in value]
        if isinstance(root, Mapping)
        else []
    )
    if not entries:
        raise SourceError("this is no registry file of openai/evals: no entry in it has a `class`", file=file)
    ledger = Ledger(file)
    samples = [sample for name, value in entries for sample in _samples(name, value, Place(document, (name,)), read, ledger)]
    total = len(samples) + len(ledger.items)
    refuse_empty(total, "sample", file)
    several = len({eval_.name for eval_, *_ in samples}) > 1
    items: list[dict[str, Json]] = []
    for number, (eval_, value, source, line, shots) in enumerate(samples, 1):
        try:
            fields = _item(value, eval_, shots, ledger)
            tags: dict[str, Json] = {"tags": [eval_.name[:100]]} if several else {}
            items.append(tried({"id": f"sample-{number:04d}", **fields, **tags}, checker="checker.py"))
        except NotCarried as lost:
            ledger.item(line, f"sample {number}", lost.why, file=source)
    if items:
        ledger.note(
            "an eval names no model: card.yaml holds an endpoint to be filled in, with the temperature 0 of these classes"
        )
        ledger.note("descriptions, disclaimers and metrics of the registry stay behind")
        ledger.note(STRIPPED)
    return ledger.result(noun="sample", total=total, files=_files(items, entries[0][0], file, samples))


_Sample = tuple[_Eval, Json, str, int, list[Json]]


def _samples(name: str, value: Mapping[str, Json], place: Place, read: Read, ledger: Ledger) -> Iterator[_Sample]:
    try:
        eval_ = _eval(name, value, place, ledger)
        path = eval_.args.get("samples_jsonl")
        rows = list(_rows(path, read))
        shots = _few_shots(eval_, read)
    except NotCarried as lost:
        ledger.item(place.line, f"eval {name}", lost.why)
        return
    for source, line, text in rows:
        try:
            yield eval_, loads(text), source, line, shots
        except NotJson as error:
            ledger.item(line, "sample", f"this is not JSON: {error.detail}", file=source)


def _eval(name: str, value: Mapping[str, Json], place: Place, ledger: Ledger) -> _Eval:
    path = str(value.get("class"))
    short_name = path.rpartition(":")[2]
    if "modelgraded" in path or short_name.startswith("ModelBased"):
        raise NotCarried(MIRROR)
    kind = _CLASSES.get(short_name) if path.startswith("evals.elsuite.basic.") else None
    if kind is None:
        raise NotCarried(
            f"`{short(path)}` is code of its own; write it as `checker(parsed, fixture)` and name it as `exam.checker`"
        )
    args = value.get("args")
    args = args if isinstance(args, Mapping) else {}
    for arg in args:
        if arg not in _READ_ARGS:
            ledger.part(place.at("args", arg).line, f"eval {name}: `{short(arg)}`", "is not read by this importer")
    return _Eval(name, kind, args, place)


def _rows(path: Json, read: Read) -> list[tuple[str, int, str]]:
    if not isinstance(path, str) or not path.casefold().endswith(".jsonl"):
        raise NotCarried("its samples are not named as a JSONL file")
    data = read_named(_DATA + path, read)
    if data.startswith(_POINTER):
        raise NotCarried(f"the file `{short(path)}` is a Git LFS pointer; fetch its content with `git lfs pull` first")
    try:
        lines = decode(data, file=path).split("\n")
    except SourceError as error:
        raise NotCarried(f"its samples cannot be read: {error.sentence}") from None
    rows = [(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if len(rows) > MAX_SAMPLES:
        raise NotCarried(f"it has {len(rows):,} samples; at most {MAX_SAMPLES:,} are imported")
    return rows


def _few_shots(eval_: _Eval, read: Read) -> list[Json]:
    """The messages that go before the last one of every sample."""
    count = eval_.args.get("num_few_shot", 0)
    if not isinstance(count, int) or count <= 0:
        return []
    if eval_.kind != "match":
        raise NotCarried("has `num_few_shot`, which only Match reads")
    messages: list[Json] = []
    for _, _, text in _rows(eval_.args.get("few_shot_jsonl"), read)[:count]:
        try:
            shot = loads(text)
        except NotJson:
            shot = None
        sample = shot.get("sample") if isinstance(shot, Mapping) else None
        if not isinstance(sample, list):
            raise NotCarried("its few-shot examples are not lists of messages")
        messages += sample
    return messages


def _item(value: Json, eval_: _Eval, shots: list[Json], ledger: Ledger) -> dict[str, Json]:
    if not isinstance(value, Mapping):
        raise NotCarried("a sample is a JSON object with `input` and `ideal`")
    prompt = _prompt(value.get("input"), shots, ledger)
    if eval_.kind == "validator":
        return {"prompt": prompt, "extract": "json", **ANYTHING}
    ideal = value.get("ideal")
    answers = ideal if isinstance(ideal, list) else [ideal]
    texts = tuple(one for one in answers if isinstance(one, str) and one.strip())
    if not texts or len(texts) != len(answers):
        raise NotCarried("its `ideal` is not a text, nor a list of texts")
    if eval_.kind == "json":
        return {"prompt": prompt, "check": {"kind": "json", "value": _json(texts)}}
    if eval_.kind == "fuzzy":
        return {"prompt": prompt, "check": "python", "fixture": list(texts)}
    fold = eval_.kind == "includes" and eval_.args.get("ignore_case") is True
    need = Need(kind="start" if eval_.kind == "match" else "anywhere", texts=texts, fold=fold)
    return {"prompt": prompt, **one_check([need])}


def _prompt(value: Json, shots: list[Json], ledger: Ledger) -> Json:
    if isinstance(value, str) and value.strip():
        if shots:
            raise NotCarried("examples go into a list of messages, and its `input` is a text")
        ledger.note("an `input` that is a text is sent as the user's message here; openai/evals sends it as the system's")
        return value
    if not isinstance(value, list) or not value:
        raise NotCarried("its `input` is neither a text nor a list of messages")
    for message in [*shots, *value]:
        fields = message if isinstance(message, Mapping) else {}
        if set(fields) != {"role", "content"}:
            raise NotCarried("a message has more than `role` and `content` (a `name`, say), or less")
        if fields["role"] not in ROLES or not isinstance(fields["content"], str) or not fields["content"].strip():
            raise NotCarried("a message has another role than system, user or assistant, or a content that is no text")
    return [*value[:-1], *shots, value[-1]]


def _json(texts: tuple[str, ...]) -> Json:
    if len(texts) > 1:
        raise NotCarried("it has several ideal answers in JSON, and a check compares with one")
    try:
        value = loads(texts[0])
    except NotJson as error:
        raise NotCarried(f"its `ideal` is not JSON: {error.detail}") from None
    if _holds_null(value):
        raise NotCarried("its `ideal` holds null, which no reply ever matches there")
    return value


def _holds_null(value: Json) -> bool:
    parts = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    return value is None or any(map(_holds_null, parts))


def _files(items: list[dict[str, Json]], name: str, file: str, samples: list[_Sample]) -> dict[str, bytes]:
    lengths = {eval_.args.get("max_tokens", _LENGTHS.get(eval_.kind)) for eval_, *_ in samples}
    length = next(iter(lengths)) if len(lengths) == 1 else None
    params: dict[str, Json] = {"temperature": 0, "max_tokens": length if isinstance(length, int) and length > 0 else 500}
    fuzzy = any(item.get("check") == "python" for item in items)
    card = card_text(
        re.sub(r"[^A-Za-z0-9._-]+", "-", name.partition(".")[0])[:80] or "imported",
        comment=f"From {short(file)}. Name your model; then `evalaction lock`, commit, `evalaction plan`.",
        tasks="tasks.jsonl",
        data="public",
        endpoints={"main": {**PLACEHOLDER, "params": params}},
        arms={"treatment": {"endpoint": "main"}},
        draws={"count": 3, "timeout_ms": 60_000},
        checker="checker.py" if fuzzy else None,
    )
    return {"card.yaml": card, "tasks.jsonl": jsonl(items)} | ({"checker.py": CHECKER} if fuzzy else {})
