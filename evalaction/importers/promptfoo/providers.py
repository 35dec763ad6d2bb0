"""`providers` of a configuration → endpoints of the card, where the service speaks an API that the card knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evalaction.errors import SourceError
from evalaction.importers.card_text import PLACEHOLDER
from evalaction.importers.imported import Ledger, NotCarried
from evalaction.importers.loose_yaml import read_loose
from evalaction.importers.places import Place, Read, read_named
from evalaction.method.canonical import Json
from evalaction.method.reading.secret_shapes import has_credentials, is_key
from evalaction.method.reading.text import short


@dataclass(frozen=True, slots=True)
class _Service:
    api: str
    url: str | None
    key_env: str | None


_OPENAI = _Service("openai", "https://api.openai.com/v1", "OPENAI_API_KEY")
_AZURE = _Service("azure-openai", None, "AZURE_API_KEY")
_SERVICES = {
    "openai:chat": _OPENAI,
    "openai:responses": _Service("openai-responses", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openai": _OPENAI,
    "anthropic:messages": _Service("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "openrouter": _Service("openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "groq": _Service("openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": _Service("openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": _Service("openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "togetherai": _Service("openai", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "azure:chat": _AZURE,
    "azureopenai:chat": _AZURE,
    "ollama:chat": _Service("openai", "http://localhost:11434/v1", None),
    "localai:chat": _Service("openai", "http://localhost:8080/v1", None),
}
"""By the beginning of a provider's id, the longest that fits."""
_PARAMS = (
    "temperature", "max_tokens", "max_completion_tokens", "max_output_tokens", "top_p", "top_k", "frequency_penalty",
    "presence_penalty", "seed", "stop", "response_format", "tools", "tool_choice", "reasoning_effort", "reasoning", "logit_bias",
    "parallel_tool_calls", "stop_sequences",
)  # fmt: skip
_VERSION = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:-preview)?")
_REASONING = re.compile(r"(?:.*/)?(?:o[0-9]|gpt-5)")
_DEFAULTS: Mapping[str, Json] = {"temperature": 0, "max_tokens": 1024}
"""What promptfoo sends to chat models where the configuration says nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    label: str
    fields: Mapping[str, Json]
    """The endpoint as the card has it."""
    prompts: tuple[str, ...] | None = None
    """The names of the only prompts that it is asked; None: all."""

    def asks(self, called: str) -> bool:
        """Whether it is asked the prompt of this name; the name of a file or a group stands for all that is in it."""
        return self.prompts is None or any(called == one or called.startswith(f"{one}:") for one in self.prompts)


def read_providers(value: Json, place: Place, read: Read, ledger: Ledger) -> list[Provider]:
    """The endpoints; one to be filled in where none of the providers is one that the card can name."""
    found: list[Provider] = []
    for entry, where in _entries(value, place, read, ledger):
        try:
            found.append(_provider(entry, where, ledger))
        except NotCarried as lost:
            ledger.part(where.line, f"provider {_shown(entry)}", lost.why, file=where.file)
    if not found:
        ledger.note("no provider could be carried: card.yaml holds an endpoint to be filled in")
        found.append(Provider(label="main", fields=PLACEHOLDER))
    return found


def _shown(entry: Json) -> str:
    name = entry.get("id") if isinstance(entry, Mapping) else entry
    return short(name, 60) if isinstance(name, str) and not is_key(name) and not has_credentials(name) else "without an id"


def _entries(value: Json, place: Place, read: Read, ledger: Ledger) -> Iterator[tuple[Json, Place]]:
    listed = value if isinstance(value, list) else [] if value is None else [value]
    for index, entry in enumerate(listed):
        where = place.at(index) if isinstance(value, list) else place
        if isinstance(entry, str) and entry.startswith("file://") and entry.casefold().endswith((".yaml", ".yml", ".json")):
            try:
                document = read_loose(read_named(entry[7:], read), file=entry[7:])
            except (NotCarried, SourceError) as error:
                ledger.part(where.line, f"provider {short(entry)}", str(error), file=where.file)
                continue
            if isinstance(document.value, list):
                yield from ((one, Place(document, (at,))) for at, one in enumerate(document.value))
            else:
                yield document.value, Place(document)
        elif isinstance(entry, Mapping) and len(entry) == 1 and "id" not in entry:
            ((name, inner),) = entry.items()  # the short form: `- openai:gpt-4o: {config: …}`
            yield {"id": name, **(inner if isinstance(inner, Mapping) else {})}, where.at(name)
        else:
            yield entry, where


def _provider(entry: Json, place: Place, ledger: Ledger) -> Provider:
    fields = entry if isinstance(entry, Mapping) else {"id": entry}
    name = fields.get("id")
    if not isinstance(name, str):
        raise NotCarried("it has no id, or one that is no text")
    known = next((one for one in sorted(_SERVICES, key=len, reverse=True) if name.startswith(f"{one}:")), None)
    if known is None:
        raise NotCarried("the card has no API for it; name one of `openai`, `anthropic`, `http` or `command` in its place")
    model = name[len(known) + 1 :]
    if not 0 < len(model) <= 200 or not model.isprintable() or is_key(model) or has_credentials(model):
        raise NotCarried("the name of its model is none that a card may hold")
    if known == "openai" and ":" in model and not model.startswith("ft:"):
        raise NotCarried("only chat and responses of this service are asked by a card")
    asked = fields.get("prompts")
    named = (
        [one.removeprefix("file://").removesuffix(":*") for one in asked if isinstance(one, str)]
        if isinstance(asked, list)
        else []
    )
    for field in ("transform", "delay", *(() if named else ("prompts",))):
        if field in fields:
            ledger.part(place.line, f"provider {short(name)}: `{field}`", "has no place in a card", file=place.file)
    endpoint = _endpoint(_SERVICES[known], model, fields.get("config"), place.at("config"), ledger)
    label = fields.get("label")
    return Provider(label=label if isinstance(label, str) else model, fields=endpoint, prompts=tuple(named) or None)


def _endpoint(service: _Service, model: str, config: Json, place: Place, ledger: Ledger) -> dict[str, Json]:
    params: dict[str, Json] = {}
    address: dict[str, Json] = {"url": service.url} if service.url else {"url_env": "EVAL_URL"}
    version: dict[str, Json] = {}
    key: dict[str, Json] = {"key_env": service.key_env} if service.key_env else {}
    for name, value in config.items() if isinstance(config, Mapping) else ():
        if name in _PARAMS and not _elsewhere(value):
            params[name] = value
        elif name == "apiKeyEnvar" and isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
            key = {"key_env": value}
        elif name in ("apiBaseUrl", "apiHost") and isinstance(value, str):
            host = f"https://{re.sub('^https?://', '', value)}"
            address = _address(value if name == "apiBaseUrl" else host if service is _AZURE else f"{host}/v1")
        elif service is _AZURE and name == "apiVersion" and isinstance(value, str) and _VERSION.fullmatch(value):
            version = {"api_version": value}
        else:
            ledger.part(place.at(name).line, f"config `{short(name)}` of {short(model)}", _why(name), file=place.file)
    if service is _AZURE and not version:
        ledger.note(
            f"`{short(model)}`: promptfoo asks a version of Azure's API of its own; write yours as `api_version` into card.yaml"
        )
    if service.api in ("openai", "anthropic", "azure-openai") and service.key_env and not _REASONING.match(model):
        for name, value in _DEFAULTS.items():
            if name not in params and not (name == "max_tokens" and "max_completion_tokens" in params):
                params[name] = value
                ledger.note(
                    f"`{name}: {value}` is what promptfoo sends to a chat model where nothing is said; it stands in card.yaml"
                )
    return {"api": service.api, **address, **version, **key, "model": model, **({"params": params} if params else {})}


def _why(name: str) -> str:
    if "key" in name.casefold():
        return "a key is never copied; set the variable that `key_env` names"
    return "its value stands in the environment or in a file; write it out" if name in _PARAMS else "has no place in a card"


def _address(url: str) -> dict[str, Json]:
    plain = re.fullmatch(r"https?://[A-Za-z0-9.:/_-]+", url) and not has_credentials(url) and not is_key(url)
    return {"url": url} if plain else {"url_env": "EVAL_URL"}


def _elsewhere(value: Json) -> bool:
    """Whether the value stands in the environment or in a file, or is none that a card may hold."""
    text = str(value)
    return "{{" in text or "file://" in text or is_key(text)
