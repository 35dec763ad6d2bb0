"""An item and the texts of an arm → the messages of a request. Filled-in data is never rendered again."""

from __future__ import annotations

from evalaction.errors import SourceError
from evalaction.method.exams.template import Template
from evalaction.method.reading.text import short, suggestion
from evalaction.method.records import Item, Message


def messages_for(item: Item, *, system: str | None, template: Template | None) -> tuple[Message, ...]:
    """The messages that one draw of the item sends: the system text verbatim, then the prompt.

    `system` is the text of the arm's file. A template is filled once from the vars of the item; a var that the template does
    not name is allowed, since two arms may use different ones.
    Raises SourceError where arm and item do not fit together or the template cannot be filled.
    """
    head = _system(item, system)
    if item.vars is not None:
        if template is None:
            raise _error(item, "has `vars`, and the arm has no `template` to put them in")
        _expect_one_system(item, template, head, of_arm=system is not None)
        return (*head, *_filled(item, template))
    if template is not None:
        raise _error(item, "has a `prompt`, and the arm has a `template`, which needs `vars`")
    assert item.prompt is not None, "an item has a prompt or vars"
    return (*head, Message("user", item.prompt)) if isinstance(item.prompt, str) else (*head, *item.prompt)


def _system(item: Item, system: str | None) -> tuple[Message, ...]:
    own = item.system is not None or (isinstance(item.prompt, tuple) and any(one.role == "system" for one in item.prompt))
    if system is not None and own:
        raise _error(item, "has a `system` text, and so has the arm; keep one of them")
    text = system if system is not None else item.system
    return () if text is None else (Message("system", text),)


def _expect_one_system(item: Item, template: Template, head: tuple[Message, ...], *, of_arm: bool) -> None:
    if not head or all(one.role != "system" for one in template.messages):
        return
    if of_arm:
        raise SourceError("this template has a system message, and the arm has `system`; keep one of them", file=template.file)
    raise _error(item, f"has a `system` text, and the template {short(template.file)} has a system message; keep one of them")


def _filled(item: Item, template: Template) -> tuple[Message, ...]:
    variables = item.vars or {}
    for name in sorted(template.names):
        if name not in variables:
            near = suggestion(name, tuple(variables))
            raise _error(item, f"has no `{short(name)}` among its `vars`, which {short(template.file)} names{near}")
    return template.filled(variables)


def _error(item: Item, what: str) -> SourceError:
    return SourceError(f"item `{short(item.id)}` {what}", file=item.file, line=item.line)
