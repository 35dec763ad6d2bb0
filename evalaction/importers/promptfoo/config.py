"""The whole configuration: prompts and providers become arms, tests become items, everything else is named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evalaction.errors import SourceError, UsageError
from evalaction.importers.card_text import PUBLIC, card_text, titled
from evalaction.importers.imported import KEPT, Imported, Ledger, NotCarried, refuse_empty, unique_ids
from evalaction.importers.items import jsonl, sound
from evalaction.importers.loose_yaml import read_loose
from evalaction.importers.places import Place, Read, read_named
from evalaction.importers.promptfoo.items import Lost, item_fields
from evalaction.importers.promptfoo.prompts import Prompt, read_prompts
from evalaction.importers.promptfoo.providers import Provider, read_providers
from evalaction.importers.promptfoo.tests import Case, Test, cases, read_tests
from evalaction.importers.text_checks import STRIPPED
from evalaction.method.canonical import Json
from evalaction.method.reading.text import short

_PROGRAMS = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py")
_READ = {"prompts", "providers", "targets", "tests", "defaultTest", "description", "$schema", "assertionTemplates"}
_ELSEWHERE = {
    "evaluateOptions": "how often and how fast is said by `draws` and `pace` in the card",
    "commandLineOptions": "options of the command line have no place in a card",
    "redteam": "attacks that a model makes, judged by a model, are no frozen exam",
    "scenarios": "is not read; write its tests out under `tests`",
}


def convert(data: bytes, *, file: str, read: Read) -> Imported:
    """Exam, prompts and card of a promptfoo configuration; `read` gives the files that it names, by path from its folder.

    Raises SourceError and UsageError where there is no configuration, no test or no prompt in it.
    """
    if file.casefold().endswith(_PROGRAMS):
        raise UsageError(f"{short(file)} is a program, and none is run here; write what it makes into a YAML or JSON file.")
    document = read_loose(data, file=file)
    root, place = document.value, Place(document)
    if not isinstance(root, Mapping):
        raise SourceError(
            "this is no promptfoo configuration: it is a mapping with `prompts`, `providers` and `tests`", file=file
        )
    ledger = Ledger(file)
    for name in root:
        if name not in _READ:
            ledger.part(place.at(name).line, f"`{short(name)}`", _ELSEWHERE.get(name, "has no place here"))
    tests = list(read_tests(root.get("tests"), place.at("tests"), read, ledger))
    listed = list(cases(tests, _default(root, place, read, ledger)))
    total = len(listed) + len(ledger.items)  # files of tests that could not be read are losses already
    refuse_empty(total, "test", file)
    prompts = read_prompts(root.get("prompts"), place.at("prompts"), read, ledger)
    if not prompts:
        lost = [f"{part.place}: {part.what}: {part.why}" for part in ledger.parts if part.what.startswith("prompt ")]
        why = "; ".join(lost) or "it names none under `prompts`"
        raise UsageError(f"No prompt of {short(file)} can be carried, so there is no arm: {why}.")
    name = "providers" if "providers" in root else "targets"
    providers = read_providers(root.get(name), place.at(name), read, ledger)
    arms = _arms(prompts, providers, place, ledger)
    items = _items(listed, [prompt for prompt, _ in arms], root, read, ledger)
    return ledger.result(noun="test", total=total, files=_files(items, arms, root, file))


def _default(root: Mapping[str, Json], place: Place, read: Read, ledger: Ledger) -> Test | None:
    value = root.get("defaultTest")
    if isinstance(value, Mapping):
        return Test(value, place.at("defaultTest"))
    if isinstance(value, str):
        try:
            document = read_loose(read_named(value.removeprefix("file://"), read), file=value.removeprefix("file://"))
            if isinstance(document.value, Mapping):
                return Test(document.value, Place(document))
        except (NotCarried, SourceError) as error:
            raise UsageError(f"`defaultTest` of {short(ledger.file)} cannot be read: {error}") from None
    return None


def _arms(
    prompts: Sequence[Prompt], providers: Sequence[Provider], place: Place, ledger: Ledger
) -> list[tuple[Prompt, Provider]]:
    """One pair is the treatment; of several the first is the control and the second the treatment."""
    every = [(prompt, provider) for provider in providers for prompt in prompts]
    pairs = [(prompt, provider) for prompt, provider in every if provider.asks(prompt.called)]
    if not pairs:
        ledger.part(
            place.line, "`prompts` of the providers", "name no prompt that can be carried, so that each is asked all of them"
        )
        pairs = every
    for prompt, provider in pairs[2:]:
        what = f"prompt {short(prompt.label, 40)} at {short(provider.label, 40)}"
        ledger.part(place.line, what, "an exam is asked of two arms at most; make a card of its own for another pair")
    if len(pairs) > 1:
        said = [
            f"{arm}: prompt `{short(pair[0].label, 30)}` at `{short(pair[1].label, 30)}`"
            for arm, pair in zip(("control", "treatment"), pairs, strict=False)
        ]
        ledger.note(f"{'; '.join(said)}. Exchange them in card.yaml if the first is the new one")
    return pairs[:2]


def _items(
    listed: Sequence[Case], prompts: Sequence[Prompt], root: Mapping[str, Json], read: Read, ledger: Ledger
) -> list[dict[str, Json]]:
    names = frozenset[str]().union(*(prompt.names for prompt in prompts))
    templates = root.get("assertionTemplates")
    ids = unique_ids([case.name for case in listed], "test")
    templates = templates if isinstance(templates, Mapping) else {}
    built: list[tuple[Case, dict[str, Json], list[Lost]]] = []
    for item_id, case in zip(ids, listed, strict=True):
        try:
            built.append((case, *item_fields(item_id, case, names, read, ledger, templates=templates)))
        except NotCarried as lost:
            ledger.item(case.place.line, case.name, lost.why, file=case.place.file)
    items: list[dict[str, Json]] = []
    for (case, item, parts), why in zip(built, sound([item for _, item, _ in built]), strict=True):
        if why:
            ledger.item(case.place.line, case.name, why, file=case.place.file)
            continue
        items.append(item)
        for part in parts:
            ledger.part(part.place.line, f"{short(case.name, 40)}: {part.what}", part.why, file=part.place.file)
        ledger.partial += any(part.judges for part in parts)
    if any("expected" in item or "regex" in str(item.get("check")) for item in items):
        ledger.note(STRIPPED)
    if items:
        ledger.note(KEPT)
    if any("schema" in item or item.get("extract") == "json" for item in items):
        ledger.note("JSON is read strictly here: a key that is there twice is not JSON")
    return items


def _files(
    items: Sequence[Mapping[str, Json]], arms: Sequence[tuple[Prompt, Provider]], root: Mapping[str, Json], file: str
) -> dict[str, bytes]:
    files = {"tasks.jsonl": jsonl(items)}
    endpoints: dict[str, Mapping[str, Json]] = {}
    entries: dict[str, Json] = {}
    for arm, (prompt, provider) in zip(("control", "treatment") if len(arms) > 1 else ("treatment",), arms, strict=True):
        path = next((path for path, data in files.items() if data == prompt.data and path.endswith(prompt.suffix)), None)
        path = path or f"prompts/{arm}{prompt.suffix}"
        files[path] = prompt.data
        endpoint = next((name for name, fields in endpoints.items() if fields == provider.fields), None)
        endpoint = endpoint or _plain(provider.label, taken=endpoints)
        endpoints[endpoint] = provider.fields
        entries[arm] = {"endpoint": endpoint, "template": path}
    sign: Mapping[str, Json] = {"claim": "none", "seed": "choose-me-before-the-first-run"}
    description = root.get("description")
    files["card.yaml"] = card_text(
        titled(description),
        comment=PUBLIC.format(short(file)),
        tasks="tasks.jsonl",
        data="public",
        endpoints=endpoints,
        arms=dict(sorted(entries.items(), reverse=True)),
        draws={"count": 3, "timeout_ms": 60_000},
        sign=sign if len(arms) > 1 else None,
    )
    return files


def _plain(label: str, *, taken: Mapping[str, object]) -> str:
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", label).strip("-.")[:60] or "main"
    while name in taken:
        name += "-2"
    return name
