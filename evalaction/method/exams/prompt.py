"""An item and the texts of an arm → the messages of a request. Filled-in data is never rendered again."""

from __future__ import annotations

import re

from evalaction.errors import SourceError, UsageError
from evalaction.method.reading.text import short, suggestion
from evalaction.method.records import Item, Message

_OPENING = re.compile(r"\{\{")
_PLACE = re.compile(r"\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}")


def messages_for(item: Item, *, system: str | None, template: str | None) -> tuple[Message, ...]:
    """The messages that one draw of the item sends: the system text verbatim, then the prompt.

    `system` and `template` are the texts of the arm's files. A template is one user message, filled once from the vars of the
    item; a var that the template does not name is allowed, since two arms may use different ones.
    Raises UsageError where arm and item do not fit together or the template cannot be filled.
    """
    head = _system(item, system)
    if item.vars is not None:
        if template is None:
            raise _error(item, "has `vars`, and the arm has no `template` to put them in")
        return (*head, Message("user", _filled(item, template)))
    if template is not None:
        raise _error(item, "has a `prompt`, and the arm has a `template`, which needs `vars`")
    assert item.prompt is not None, "an item has a prompt or vars"
    return (*head, Message("user", item.prompt)) if isinstance(item.prompt, str) else (*head, *item.prompt)


def template_names(template: str) -> frozenset[str]:
    """The names of the places `{{name}}` in a template. Raises UsageError for any other use of `{{`."""
    for opening in _OPENING.finditer(template):
        if not _PLACE.match(template, opening.start()):
            line = template.count("\n", 0, opening.start()) + 1
            shown = short(template[opening.start() : opening.start() + 20].split("\n", maxsplit=1)[0])
            raise UsageError(f"line {line} of the template: `{shown}` is not a place; only `{{{{name}}}}` is")
    return frozenset(_PLACE.findall(template))


def _system(item: Item, system: str | None) -> tuple[Message, ...]:
    own = item.system is not None or (isinstance(item.prompt, tuple) and any(one.role == "system" for one in item.prompt))
    if system is not None and own:
        raise _error(item, "has a `system` text, and so has the arm; keep one of them")
    text = system if system is not None else item.system
    return () if text is None else (Message("system", text),)


def _filled(item: Item, template: str) -> str:
    variables = item.vars or {}
    for name in sorted(template_names(template)):
        if name not in variables:
            near = suggestion(name, tuple(variables))
            raise _error(item, f"has no `{short(name)}` among its `vars`, which the template names{near}")
    return _PLACE.sub(lambda place: variables[place[1]], template)


def _error(item: Item, what: str) -> SourceError:
    return SourceError(f"item `{short(item.id)}` {what}", file=item.file, line=item.line)
