"""One case → the fields of one item: its vars as texts, its asserts as one check, its metadata as tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evalaction.importers.imported import Ledger, NotCarried
from evalaction.importers.items import tried
from evalaction.importers.places import Place, Read, file_text, names_in, text_of
from evalaction.importers.promptfoo.asserts import Context, Needs, take
from evalaction.importers.promptfoo.tests import Case
from evalaction.method.canonical import Json
from evalaction.method.reading.text import invisible, short

_READ = {"vars", "assert", "description", "metadata", "options", "threshold"}
_KEPT_OPTIONS = {"disableVarExpansion", "disableDefaultAsserts", "rubricPrompt", "provider", "factuality", "repeat"}
"""Options without meaning for what is carried: most set the grader of asserts that are refused."""
_WHY_FIELDS = {
    "provider": "it asks a provider of its own; `route` can send a tag to another endpoint",
    "providers": "it is for some of the providers only",
    "prompts": "it is for some of the prompts only",
    "providerOutput": "its output is given and not drawn",
    "assertScoringFunction": "it is scored by code",
    "columns": "its row has more or fewer cells than the header",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Lost:
    """A part of a carried test that is left out."""

    place: Place
    what: str
    why: str
    judges: bool = False
    """It judged the reply."""


def item_fields(
    item_id: str, case: Case, names: frozenset[str], read: Read, ledger: Ledger, *, templates: Mapping[str, Json]
) -> tuple[dict[str, Json], list[Lost]]:
    """The item, and those of its asserts and vars that are left out. Raises NotCarried."""
    _refuse_settings(case)
    variables, unread = _variables(case, names, read, ledger)
    needs, lost = _needs(case, Context(variables=variables, read=read), templates, ledger)
    if not needs.anything:
        raise NotCarried(_nothing(lost))
    fields: dict[str, Json] = {"id": item_id, "vars": variables or {"test": item_id}, **needs.fields()}
    tags, untagged = _tags(case)
    return tried(fields | ({"tags": tags} if tags else {})), [*lost, *unread, *untagged]


def _refuse_settings(case: Case) -> None:
    for name in ("vars", "options"):
        if case.fields.get(name) is not None and not isinstance(case.fields[name], Mapping):
            raise NotCarried(f"its `{name}` are no mapping; write them out")
    for name in case.fields:
        if name not in _READ:
            raise NotCarried(_WHY_FIELDS.get(name, f"it has `{short(name)}`, which this importer does not know"))
    if case.fields.get("threshold") not in (None, ""):
        raise NotCarried("its `threshold` passes it by a mean of scores; here every assert must hold")
    options = case.fields.get("options")
    for name in options if isinstance(options, Mapping) else ():
        if name not in _KEPT_OPTIONS:
            raise NotCarried(f"`options.{short(name)}` changes what is sent or what is compared")


def _variables(case: Case, names: frozenset[str], read: Read, ledger: Ledger) -> tuple[dict[str, str], list[Lost]]:
    found: dict[str, str] = {}
    unread: list[Lost] = []
    for name, value in case.variables.items():
        place = case.place.at("vars", name)
        try:
            if not _NAME.fullmatch(name):
                raise NotCarried("its name is not made of letters, digits and `_`")
            found[name] = _variable(value, place, read)
        except NotCarried as lost:
            if name in names:
                raise NotCarried(f"its var `{short(name)}`: {lost.why}") from None
            unread.append(Lost(place, f"var `{short(name)}`", lost.why))
    missing = sorted(names - found.keys())
    if missing:
        ledger.note(f"`{missing[0]}` is no var of some tests and is sent empty there, as promptfoo does")
    return found | dict.fromkeys(missing, ""), unread


def _variable(value: Json, place: Place, read: Read) -> str:
    text = file_text(value, read) if isinstance(value, str) and value.startswith("file://") else text_of(value, place)
    if names_in(text):
        raise NotCarried("it holds a template, and data is never rendered here; write it out")
    return text


def _needs(case: Case, context: Context, templates: Mapping[str, Json], ledger: Ledger) -> tuple[Needs, list[Lost]]:
    """What is carried of the asserts, and what is not."""
    needs = Needs()
    lost: list[Lost] = []
    found = list(_flat(case, templates, lost))
    found.sort(key=lambda pair: not isinstance(pair[0].get("value"), Mapping) or pair[0].get("type") != "equals")
    for assertion, place in found:
        kind = str(assertion.get("type", "without a type"))
        if "metric" in assertion or assertion.get("weight", 1) != 1:
            ledger.note("weights and names of metrics stay behind: there are no scores here, every check of a test must hold")
        if assertion.get("weight") == 0:
            lost.append(Lost(place, f"assert `{short(kind)}`", "its weight is 0, so it decides nothing"))
            continue
        try:
            take(needs, assertion, context)
        except NotCarried as error:
            lost.append(Lost(place, f"assert `{short(kind)}`", error.why, judges=True))
    return needs, lost


def _flat(case: Case, templates: Mapping[str, Json], lost: list[Lost]) -> Iterator[tuple[Mapping[str, Json], Place]]:
    """The asserts with their templates looked up; a set without a threshold is all of its asserts."""
    waiting = list(case.asserts)
    while waiting:
        assertion, place = waiting.pop(0)
        if isinstance(assertion, Mapping) and isinstance(assertion.get("$ref"), str):
            assertion = templates.get(str(assertion["$ref"]).removeprefix("#/assertionTemplates/"))
        if not isinstance(assertion, Mapping):
            lost.append(Lost(place, "assert", "it is not a mapping with a `type`, or its template is not there", judges=True))
        elif assertion.get("type") == "assert-set":
            inner = assertion.get("assert")
            if "threshold" in assertion or not isinstance(inner, list):
                lost.append(
                    Lost(place, "assert `assert-set`", "passes by a mean of scores; here every assert must hold", judges=True)
                )
            else:
                waiting[:0] = [(one, place.at("assert", index)) for index, one in enumerate(inner)]
        else:
            yield assertion, place


def _nothing(lost: list[Lost]) -> str:
    if not lost:
        return "it has no assert, so that promptfoo passes it whatever comes"
    return "; ".join(dict.fromkeys(f"{one.what}: {one.why}" for one in lost))


def _tags(case: Case) -> tuple[list[str], list[Lost]]:
    """Metadata as tags `name:value`, and what of them cannot be one."""
    tags: dict[str, None] = {}
    lost: list[Lost] = []
    metadata = case.fields.get("metadata")
    for name, value in metadata.items() if isinstance(metadata, Mapping) else ():
        if value in ("", None):  # an empty cell of a CSV file
            continue
        tag = f"{name}:{text_of(value)}".strip() if isinstance(value, (str, int, bool)) else ""
        if tag and len(tag) <= 100 and not invisible(tag):
            tags[tag] = None
        else:
            why = "only short texts, whole numbers and `true` or `false` become tags"
            lost.append(Lost(case.place.at("metadata", name), f"metadata `{short(name)}`", why))
    return list(tags), lost
