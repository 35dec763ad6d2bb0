from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cards import item, jsonl

from evalaction.errors import UsageError
from evalaction.method.exams.exam import load_exam
from evalaction.method.exams.prompt import messages_for
from evalaction.method.exams.template import Template, read_template
from evalaction.method.records import Item, Message


def made(**fields: Any) -> Item:
    base = {key: value for key, value in (item(1) | fields).items() if value is not ...}
    return load_exam({"t.jsonl": jsonl([base])}, tasks="t.jsonl").items[0]


def plain(text: str) -> Template:
    return read_template(text.encode(), file="p.md")


def filled(template: str, **variables: str) -> str:
    (message,) = messages_for(made(prompt=..., vars=variables), system=None, template=plain(template))
    assert message.role == "user"
    return message.content


def test_prompt_and_system() -> None:
    system = "Be brief.\n\n  {{name}} stays.\n"
    assert messages_for(made(), system=None, template=None) == (Message("user", "Say 1."),)
    assert messages_for(made(), system=system, template=None) == (Message("system", system), Message("user", "Say 1."))
    assert messages_for(made(system="Own."), system=None, template=None)[0] == Message("system", "Own.")


def test_chat_prompts_follow_the_system_text() -> None:
    chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "{{c}}"}]
    found = messages_for(made(prompt=chat), system="s", template=None)
    assert found == (Message("system", "s"), *(Message(one["role"], one["content"]) for one in chat))


def test_templates_are_filled_once() -> None:
    assert filled("Say {{a}} and {{ b }}, {{a}}.\n", a="{{b}}", b="\\1 {{a}}") == "Say {{b}} and \\1 {{a}}, {{b}}.\n"
    assert filled('{"x": {{n}}}', n="1") == '{"x": 1}'
    assert filled("no place", n="1") == "no place"
    assert filled("{ {n}} }}", n="1") == "{ {n}} }}"


def test_a_template_goes_below_the_system_text() -> None:
    found = messages_for(made(prompt=..., vars={"n": "1"}), system="s", template=plain("{{n}}"))
    assert found == (Message("system", "s"), Message("user", "1"))


@pytest.mark.parametrize(
    ("fields", "system", "template", "words"),
    [
        ({"system": "x"}, "y", None, "has a `system` text, and so has the arm"),
        ({"prompt": [{"role": "system", "content": "x"}]}, "y", None, "has a `system` text, and so has the arm"),
        ({"prompt": ..., "vars": {"n": "1"}}, None, None, "has `vars`, and the arm has no `template`"),
        ({}, None, "{{n}}", "has a `prompt`, and the arm has a `template`"),
        ({"prompt": ..., "vars": {"name": "1"}}, None, "{{nmae}}", "has no `nmae` among its `vars`"),
        ({"prompt": ..., "vars": {"name": "1"}}, None, "{{nam}}", "did you mean `name`?"),
    ],
)
def test_what_does_not_fit_is_an_error_with_a_place(
    fields: dict[str, Any], system: str | None, template: str | None, words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        messages_for(made(**fields), system=system, template=plain(template) if template else None)
    assert str(caught.value).startswith("t.jsonl:1: item `t0001` ")
    assert words in str(caught.value)


CHAT = b"[{role: system, content: 'Be {{how}}.'}, {role: user, content: '{{n}}'}]"


def test_one_system_text() -> None:
    chat = read_template(CHAT, file="p.yaml")
    item = made(prompt=..., vars={"n": "1", "how": "brief"})
    assert messages_for(item, system=None, template=chat) == (Message("system", "Be brief."), Message("user", "1"))
    with pytest.raises(UsageError, match=r"p\.yaml: this template has a system message, and the arm has `system`; keep one"):
        messages_for(item, system="s", template=chat)
    with pytest.raises(UsageError, match=r"t\.jsonl:1: item `t0001` has a `system` text, and the template p\.yaml has a system"):
        messages_for(made(prompt=..., vars={"n": "1", "how": "x"}, system="s"), system=None, template=chat)
    later = read_template(b"[{role: user, content: '{{n}}'}, {role: assistant, content: Hm}]", file="p.yaml")
    assert messages_for(item, system="s", template=later) == (
        Message("system", "s"), Message("user", "1"), Message("assistant", "Hm"),
    )  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=20).filter(lambda text: "\x00" not in text), st.text(max_size=20))
def test_data_is_never_rendered_again(first: str, second: str) -> None:
    source = Item(
        id="a", index=0, file="f", line=1, vars={"a": first, "b": second}, check=made().check, sha256="0" * 64,
    )  # fmt: skip
    (message,) = messages_for(source, system=None, template=plain("<{{a}}|{{b}}|{{a}}>"))
    assert message.content == f"<{first}|{second}|{first}>"
