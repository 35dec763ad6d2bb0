"""One assert → what it requires of the reply, where the meaning is the same; else the reason why it is not carried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from evalaction.errors import SourceError
from evalaction.importers.imported import MIRROR, NotCarried
from evalaction.importers.js_regex import python_pattern
from evalaction.importers.loose_yaml import read_loose
from evalaction.importers.places import Read, filled, read_named, text_of
from evalaction.importers.text_checks import ANYTHING, Need, one_check
from evalaction.method.canonical import Json
from evalaction.method.reading.text import short

_CODE = "runs code of its own; write it as `checker(parsed, fixture)` in a Python file and name that as `exam.checker`"
_SCORE = "compares a score with a threshold; `exam.checker` can say yes or no by a rule of your own"
_FIRST_JSON = "takes JSON from anywhere in a text; ask for JSON alone (`is-json`), or for one code block (`extract: fenced`)"
_CALLS = "looks at tool calls; declare `output: tool_calls` for the endpoint and give the item a `schema`"
_TRACE = "looks at a trace; an endpoint of `api: http` can keep one, and a check can read it"
_SERVICE = "asks a service beside the model under test"
_ACROSS = "compares the replies of one run with each other; here two arms are compared over the whole exam"
_REASONS: dict[str, tuple[str, ...]] = {
    MIRROR: (
        "llm-rubric", "agent-rubric", "search-rubric", "model-graded-closedqa", "model-graded-factuality", "factuality", "g-eval",
        "answer-relevance", "context-faithfulness", "context-recall", "context-relevance", "conversation-relevance", "pi",
        "trajectory:goal-success",
    ),
    "asks an embedding model how alike two texts are, which is a model that grades a model; compare with an answer": (
        "similar", "similar:cosine", "similar:dot", "similar:euclidean",
    ),
    _CODE: ("javascript", "python", "ruby"),
    _SCORE: (
        "levenshtein", "rouge-n", "bleu", "gleu", "meteor", "perplexity", "perplexity-score", "bertscore", "tool-call-f1",
    ),
    _FIRST_JSON: ("contains-json",),
    "has no named check here; `exam.checker` can parse it": (
        "is-sql", "contains-sql", "is-xml", "contains-xml", "is-html", "contains-html",
    ),
    _CALLS: ("is-valid-function-call", "is-valid-openai-function-call", "is-valid-openai-tools-call"),
    _TRACE: ("trace-span-count", "trace-span-duration", "trace-error-spans", "skill-used"),
    _SERVICE: ("webhook", "moderation", "guardrails", "classifier"),
    _ACROSS: ("select-best", "max-score"),
    "is a limit here, not a check: `limits: {max_p95_ms: …}`": ("latency",),
    "is a budget here, not a check: `budget: {usd: …}` with the `price` of the endpoint": ("cost",),
    "is told by the contract here: a reply that was cut or refused has its own reason": ("finish-reason", "is-refusal"),
}  # fmt: skip
REFUSED = {name: why for why, names in _REASONS.items() for name in names}
_DRAFT = "http://json-schema.org/draft-07/schema#"
"""What promptfoo's validator reads a schema as that does not say."""
_NEUTRAL = {"type", "value", "metric", "weight", "provider", "rubricPrompt", "threshold", "description"}
"""What an assert may say besides without another verdict; the last but one matters to scores alone."""


@dataclass(slots=True)
class Needs:
    """All that the carried asserts of one test require."""

    texts: list[Need] = field(default_factory=list)
    schemas: list[Json] = field(default_factory=list)
    json: bool = False
    equal: list[Json] = field(default_factory=list)

    @property
    def anything(self) -> bool:
        return bool(self.texts or self.json or self.equal)

    def fields(self) -> dict[str, Json]:
        """The check and the contract of the item."""
        check = one_check(self.texts) if self.texts else ANYTHING
        if self.equal:
            check = {"check": {"kind": "json", "value": self.equal[0]}}
        if not self.schemas:
            return check | ({"extract": "json"} if self.json and not self.equal else {})
        return check | {"schema": self.schemas[0] if len(self.schemas) == 1 else _all_of(self.schemas)}


def _all_of(schemas: Sequence[Json]) -> Json:
    """One schema of several of the same draft, which is named once."""
    parts = [{key: part for key, part in one.items() if key != "$schema"} if isinstance(one, Mapping) else one for one in schemas]
    return {"$schema": next(filter(None, map(_draft, schemas)), _DRAFT), "allOf": parts}


def _draft(schema: Json) -> Json:
    return schema.get("$schema") if isinstance(schema, Mapping) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """What an assert's value is filled from."""

    variables: Mapping[str, str]
    read: Read


def take(needs: Needs, assertion: Mapping[str, Json], context: Context) -> None:
    """Add what the assert requires. Raises NotCarried."""
    kind = assertion.get("type")
    if not isinstance(kind, str):
        raise NotCarried("has no type")
    negated, base = kind.startswith("not-"), kind.removeprefix("not-")
    if base in REFUSED:
        raise NotCarried(REFUSED[base])
    if base.startswith(("trajectory:", "promptfoo:redteam:")):
        raise NotCarried(_TRACE if base.startswith("trajectory:") else MIRROR)
    taken = TAKEN.get(base)
    if taken is None:
        raise NotCarried("is not an assert that this importer knows")
    for name in assertion:
        if name not in _NEUTRAL:
            raise NotCarried(f"has `{short(name)}`, which changes what is compared")
    taken(needs, assertion.get("value"), context, negated)


def _texts(value: Json, context: Context) -> list[str]:
    """The texts of a list, or of one text with commas between. Raises NotCarried."""
    if isinstance(value, str):
        value = _rendered(value, context)
        if '"' in value or "'" in value:
            raise NotCarried("has a list in one text with quotes in it; write it as a YAML list")
        parts: Sequence[Json] = [part.strip() for part in value.split(",")]
    else:
        parts = value if isinstance(value, list) else []
    texts = [_rendered(part, context) for part in parts]
    if not texts or not all(texts):
        raise NotCarried("has no value, or an empty one, which every reply holds")
    return texts


def _rendered(value: Json, context: Context) -> str:
    if isinstance(value, str) and value.startswith(("file://", "package:")):
        raise NotCarried(f"takes its value from `{short(value)}`; write it out")
    return filled(value, context.variables) if isinstance(value, str) else text_of(value)


def _text(value: Json, context: Context) -> str:
    text = _rendered(value, context)
    if value is None or not text.strip():
        raise NotCarried("has no value, or a blank one")
    return text


def _equals(needs: Needs, value: Json, context: Context, negated: bool) -> None:
    if isinstance(value, (Mapping, list)):
        if negated or needs.texts or needs.equal:
            raise NotCarried("compares JSON, and only one check fits an item")
        if "{{" in str(value):
            raise NotCarried("has a template inside JSON; write the value out")
        needs.equal.append(value)
        needs.json = True
    else:
        _add(needs, Need(kind="whole", texts=(_text(value, context),), negated=negated))


def _one(kind: str, *, fold: bool = False) -> _Take:
    def taken(needs: Needs, value: Json, context: Context, negated: bool) -> None:
        text = _rendered(value, context)
        if not text:
            raise NotCarried("has no value, or an empty one, which every reply holds")
        _add(needs, Need(kind="start" if kind == "start" else "anywhere", texts=(text,), fold=fold, negated=negated))

    return taken


def _any(*, fold: bool = False) -> _Take:
    def taken(needs: Needs, value: Json, context: Context, negated: bool) -> None:
        _add(needs, Need(kind="anywhere", texts=tuple(_texts(value, context)), fold=fold, negated=negated))

    return taken


def _all(*, fold: bool = False) -> _Take:
    def taken(needs: Needs, value: Json, context: Context, negated: bool) -> None:
        texts = _texts(value, context)
        if negated and len(texts) > 1:
            looks = "".join(Need(kind="anywhere", texts=(text,), fold=fold).look for text in texts)
            _add(needs, Need(kind="pattern", texts=(rf"\A{looks}",), negated=True))
            return
        for text in texts:
            _add(needs, Need(kind="anywhere", texts=(text,), fold=fold, negated=negated))

    return taken


def _regex(needs: Needs, value: Json, context: Context, negated: bool) -> None:
    if not isinstance(value, str):
        raise NotCarried("has no pattern")
    _add(needs, Need(kind="pattern", texts=(python_pattern(_text(value, context)),), negated=negated))


def _word_count(needs: Needs, value: Json, _: Context, negated: bool) -> None:
    bounds = value if isinstance(value, Mapping) else {"min": value, "max": value}
    low, high = bounds.get("min", 1), bounds.get("max")
    whole = [bound for bound in (low, high) if bound is not None]
    if not all(isinstance(bound, int) and not isinstance(bound, bool) and 0 < bound < 10_000 for bound in whole):
        raise NotCarried("has bounds that are not whole numbers from 1 to 9,999")
    assert isinstance(low, int)
    upper = high - 1 if isinstance(high, int) else ""
    _add(needs, Need(kind="pattern", texts=(rf"\A\S+(?:\s+\S+){{{low - 1},{upper}}}\Z",), negated=negated))


def _is_json(needs: Needs, value: Json, context: Context, negated: bool) -> None:
    if negated:
        raise NotCarried("asks for what is not JSON, which no contract here does")
    if value not in (None, ""):
        schema = _schema(value, context)
        if len({_draft(one) for one in [*needs.schemas, schema]} - {None}) > 1:
            raise NotCarried("has a schema of another draft than the one before it")
        needs.schemas.append(schema)
    needs.json = True


def _schema(value: Json, context: Context) -> Json:
    if isinstance(value, str):
        data = read_named(value[7:], context.read) if value.startswith("file://") else filled(value, context.variables).encode()
        try:
            value = read_loose(data, file=short(value) if value.startswith("file://") else "schema").value
        except SourceError as error:
            raise NotCarried(f"has a schema that cannot be read: {error.sentence}") from None
    if value is False:
        raise NotCarried("has the schema `false`, which nothing fits")
    if value is True:
        return value
    if not isinstance(value, Mapping):
        raise NotCarried("has a schema that is no mapping")
    _refuse_formats(value)
    return value if "$schema" in value else {"$schema": _DRAFT, **value}


def _refuse_formats(value: Json) -> None:
    """`format` is only a comment to the validator here, and a rule in promptfoo."""
    if isinstance(value, Mapping):
        if isinstance(value.get("format"), str):
            raise NotCarried("has a schema with `format`, which is not checked here; say it with `pattern`")
        for name, part in value.items():
            if name not in ("const", "enum", "default", "examples"):
                _refuse_formats(part)
    elif isinstance(value, list):
        for part in value:
            _refuse_formats(part)


def _add(needs: Needs, need: Need) -> None:
    if needs.equal:
        raise NotCarried("stands beside a comparison of JSON, and only one check fits an item")
    needs.texts.append(need)


_Take = Callable[[Needs, Json, Context, bool], None]
TAKEN: dict[str, _Take] = {
    "equals": _equals,
    "contains": _one("anywhere"),
    "icontains": _one("anywhere", fold=True),
    "starts-with": _one("start"),
    "contains-any": _any(),
    "icontains-any": _any(fold=True),
    "contains-all": _all(),
    "icontains-all": _all(fold=True),
    "regex": _regex,
    "is-json": _is_json,
    "word-count": _word_count,
}
