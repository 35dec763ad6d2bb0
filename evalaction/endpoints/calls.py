"""Tool calls as text: canonical JSON of `[{"arguments": …, "name": …}]`."""

from __future__ import annotations

from collections.abc import Sequence

from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.reading import strict_json


def render(calls: Sequence[tuple[str, Json]]) -> str:
    """The gradable text of (name, arguments) pairs; empty without calls."""
    return canonical.dumps([{"arguments": arguments, "name": name} for name, arguments in calls]) if calls else ""


def render_unparsed(calls: Sequence[tuple[str, str]]) -> str:
    """The same from arguments that are still JSON text.

    Nothing is repaired: at the first arguments that are not strict JSON the text ends with them as they came, so that the
    contract fails there, as cut off if they are cut off.
    """
    parsed: list[tuple[str, Json]] = []
    for name, arguments in calls:
        try:
            parsed.append((name, strict_json.loads(arguments)))
        except (ValueError, RecursionError):
            head = "".join(f"{canonical.dumps({'arguments': value, 'name': one})}," for one, value in parsed)
            return f'[{head}{{"name":{canonical.dumps(name)},"arguments":{arguments}'
    return render(parsed)
