"""A model and parameters that a rule or a prompt file puts in the place of an endpoint's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evalaction.method.canonical import Json
from evalaction.method.card import Endpoint
from evalaction.method.cards.endpoints import body_places, refused_param
from evalaction.method.reading.source import Path
from evalaction.method.reading.text import short


def overridden(endpoint: Endpoint, *, model: str | None, params: Mapping[str, Json]) -> Endpoint:
    """The endpoint as it is then asked: each parameter over the one of the same name. The same object where nothing is set."""
    if model is None and not params:
        return endpoint
    return replace(endpoint, model=model if model is not None else endpoint.model, params={**endpoint.params, **params})


def refusal(endpoint: Endpoint, *, model: str | None, params: Mapping[str, Json]) -> tuple[Path, str] | None:
    """Why these cannot be set for an endpoint, and which field it is about; None where they can."""
    of = f"endpoint `{short(endpoint.name)}` (`api: {endpoint.api}`)"
    if endpoint.http is not None and params:
        return ("params",), f"{of} has no parameters beside its `body`; remove `params`"
    if endpoint.http is not None and model is not None and "model" not in body_places(endpoint.http.body):
        return ("model",), f"the body of {of} has no `{{{{model}}}}`, so a model would change nothing"
    for name in params:
        refused = refused_param(endpoint.api, name)
        if refused:
            return ("params", name), refused
    return None
