from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st
from support.runs import endpoint

from evalaction.method.arms import Asked, Resolved, Source
from evalaction.method.canonical import sha256
from evalaction.method.card import Arm, Card, Command, Draws, Endpoint, ExamRef, Header, HttpShape
from evalaction.method.changes import CONTEXT, LONGEST, MOST_COMPARED, MOST_FILES, MOST_LINES, changes_of, short_diff
from evalaction.method.records import Message
from evalaction.method.report import Change

NO_NEWLINE = "\\ No newline at end of file"
FILES: Mapping[str, bytes] = {"a.md": b"Be brief.\n", "b.md": b"Be kind.\n", "r.yaml": b"rules"}


def arm(
    *endpoints: Endpoint, entry: Arm | None = None, files: Mapping[str, bytes] = FILES, defined: Sequence[Endpoint] = ()
) -> Resolved:
    asked = tuple(Asked(endpoint=one, messages=(Message("user", "x"),), output="text") for one in endpoints)
    card = Card(
        protocol="evalaction/1",
        name="n",
        exam=ExamRef(tasks="t.jsonl", data="synthetic"),
        endpoints={one.name: one for one in (*endpoints, *defined)},
        treatment=entry or Arm(endpoint="main", system="a.md"),
        draws=Draws(count=1, timeout_ms=1),
    )
    return Resolved(source=Source(card=card, arm=card.treatment, files=files, commit=None), asked=asked)


def changed(ours: Resolved, theirs: Resolved) -> list[Change]:
    return list(changes_of(ours, theirs, redact=lambda text: text.replace("hunter22", "***")))


MAIN = endpoint(params={"temperature": Decimal("0.20"), "max_tokens": 400})


def test_nothing() -> None:
    assert changed(arm(MAIN), arm(MAIN)) == []
    assert changed(arm(MAIN, endpoint("other")), arm(MAIN, endpoint("other"))) == []


def test_model_and_parameters() -> None:
    new = replace(MAIN, model="other-model", params={"temperature": Decimal("0.2"), "stop": ["hunter22"]})
    assert changed(arm(new), arm(MAIN)) == [
        Change(lever="model", name="model", old="some-model", new="other-model"),
        Change(lever="parameters", name="temperature", old="0.20", new="0.2"),
        Change(lever="parameters", name="max_tokens", old="400", new=None),
        Change(lever="parameters", name="stop", old=None, new='["***"]'),
    ]
    turned = replace(MAIN, params={"max_tokens": 400, "temperature": Decimal("0.20")})
    assert changed(arm(turned), arm(MAIN)) == [
        Change(lever="parameters", name="order of params", old="temperature, max_tokens", new="max_tokens, temperature")
    ]
    fields = [replace(MAIN, params={"format": value}) for value in ({"a": 1, "b": 2}, {"b": 2, "a": 1})]
    assert [(one.name, one.new) for one in changed(arm(fields[1]), arm(fields[0]))] == [("format", '{"b":2,"a":1}')]
    bodies = [endpoint(api="http", http=HttpShape(body={"input": text}, text="/t")) for text in ("{{prompt}}", "Do: {{prompt}}")]
    assert changed(arm(bodies[1]), arm(bodies[0])) == [
        Change(lever="parameters", name="body", old='{"input":"{{prompt}}"}', new='{"input":"Do: {{prompt}}"}')
    ]
    long = replace(MAIN, params={**MAIN.params, "stop": "x" * 500})
    [change] = changed(arm(long), arm(MAIN))
    assert change.new is not None and len(change.new) == LONGEST and change.new.endswith("…")


def test_an_address_is_told_to_differ_and_never_shown() -> None:
    new = replace(MAIN, url=None, url_env="OTHER_URL", headers=(Header(name="X-Key", env="K"),), name="second")
    found = changed(arm(new), arm(MAIN))
    assert [(one.name, one.new) for one in found if one.name in ("endpoint", "url_env", "url")] == [
        ("endpoint", "second"), ("url", None), ("url_env", "OTHER_URL"),
    ]  # fmt: skip
    assert {one.lever for one in found} == {"endpoint"}
    assert "model.example" not in str(found) and "X-Key" not in str(found)


def test_where_a_counter_is_read_is_shown() -> None:
    old, new = (endpoint(trace=trace, counters={"hops": "/n"}) for trace in ("/trace", "/other"))
    assert changed(arm(new), arm(old)) == [Change(lever="endpoint", name="trace", old="/trace", new="/other")]
    moved = changed(arm(replace(old, counters={"hops": "/hunter22"})), arm(old))
    assert moved == [Change(lever="endpoint", name="counters", old='{"hops":"/n"}', new='{"hops":"/***"}')]


def test_another_model_comes_with_another_route() -> None:
    entry = Arm(route="r.yaml", system="a.md")
    found = changed(arm(replace(MAIN, name="cheap", model="small"), entry=entry), arm(MAIN, entry=entry))
    assert found == [Change(lever="route", name="endpoint", old="main", new="cheap")]


def test_several_endpoints_by_name() -> None:
    small, big = endpoint("small"), endpoint("big")
    gone = changed(arm(MAIN, small), arm(MAIN, big))
    assert gone == [
        Change(lever="endpoint", name="endpoint", old="big", new=None),
        Change(lever="endpoint", name="endpoint", old=None, new="small"),
    ]
    swapped = changed(arm(MAIN, replace(small, model="m2")), arm(MAIN, small))
    assert swapped == [Change(lever="model", name="small.model", old="some-model", new="m2")]
    # Rules that ask one endpoint in many ways differ in their file; the endpoint itself is compared as the card has it.
    many = [small, replace(small, model="m3")]
    assert changed(arm(*many, defined=[small]), arm(MAIN, small)) == [
        Change(lever="endpoint", name="endpoint", old="main", new=None)
    ]


def test_files() -> None:
    new = {**FILES, "a.md": b"Be very brief.\nhunter22\n"}
    assert changed(arm(MAIN, files=new), arm(MAIN)) == [
        Change(
            lever="prompt",
            name="a.md",
            old=sha256(FILES["a.md"])[:12],
            new=sha256(new["a.md"])[:12],
            diff=("@@ -1 +1,2 @@", "-Be brief.", "+Be very brief.", "+***"),
        )
    ]
    moved = arm(MAIN, entry=Arm(endpoint="main", template="c.md"), files={**FILES, "c.md": FILES["a.md"]})
    gone, came = changed(moved, arm(MAIN))
    assert (gone.name, gone.old, gone.new, gone.diff) == ("system", "a.md", None, ("@@ -1 +0,0 @@", "-Be brief."))
    assert (came.name, came.old, came.new, came.diff[1:]) == ("template", None, "c.md", ("+Be brief.",))
    same = arm(MAIN, entry=Arm(endpoint="main", system="c.md"), files={**FILES, "c.md": FILES["a.md"]})
    assert changed(same, arm(MAIN)) == [Change(lever="prompt", name="system", old="a.md", new="c.md")]
    edited = arm(MAIN, entry=Arm(endpoint="main", system="b.md"))
    assert [(one.name, one.diff[1:]) for one in changed(edited, arm(MAIN))] == [("a.md → b.md", ("-Be brief.", "+Be kind."))]
    routed = [Arm(route="r.yaml"), Arm(route="r.yaml")]
    other = changed(arm(MAIN, entry=routed[0], files={**FILES, "r.yaml": b"other"}), arm(MAIN, entry=routed[1]))
    assert [(one.lever, one.name, one.diff) for one in other] == [
        ("route", "r.yaml", ("@@ -1 +1 @@", "-rules", NO_NEWLINE, "+other", NO_NEWLINE))
    ]


def test_a_diff_is_bounded() -> None:
    many = "".join(f"line {number}\n" for number in range(400))
    found = short_diff("", many)
    assert len(found) == MOST_LINES + 1 and found[-1] == f"… {401 - MOST_LINES} more"
    assert short_diff("a" * 1000, "b")[1] == "-" + "a" * (LONGEST - 2) + "…"
    lines = [f"{number}" for number in range(3 * MOST_COMPARED)]
    assert short_diff("\n".join(lines), "\n".join(reversed(lines))) == ()
    one = short_diff("\n".join(lines), "\n".join([*lines[:1500], "new", *lines[1500:]]))
    assert one == ("@@ -1499,4 +1499,5 @@", " 1498", " 1499", "+new", " 1500", " 1501")


def test_what_cannot_be_seen_is_written_out() -> None:
    assert short_diff("Be brief.\n", "Be brief.\r\n") == ("@@ -1 +1 @@", "-Be brief.", "+Be brief.\\r")
    assert short_diff("a b\n", "a\u00a0b\u2009\n")[1:] == ("-a b", "+a\\xa0b\\u2009")
    assert short_diff("x\r-y\n", "z\tz\n")[1:] == ("-x\\r-y", "+z\tz")  # no line of its own in what shows a lone CR as a break
    assert short_diff("x\n", "x") == ("@@ -1 +1 @@", "-x", "+x", NO_NEWLINE)
    assert short_diff("x\n", "") == ("@@ -1 +0,0 @@", "-x")


TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(st.sampled_from(["a", "b", "@@ -1 +1 @@", "-x", "\\ No newline at end of file", ""]), max_size=30),
    st.sampled_from(["", "\n"]),
)


@settings(max_examples=150)
@given(TEXTS, TEXTS)
def test_a_short_diff_is_one_that_can_be_applied(before: str, after: str) -> None:
    found = short_diff(before, after)
    if found and found[-1].startswith("…"):
        return
    result, at = [], 0
    source = before.splitlines(keepends=True)
    for place, line in enumerate(found):
        text = line[1:] + ("" if list(found[place + 1 : place + 2]) == [NO_NEWLINE] else "\n")
        if heading := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+.* @@", line):
            start = int(heading[1]) - (0 if heading[2] == "0" else 1)
            result += source[at:start]
            at = start
        elif line[0] == "+":
            result.append(text)
        elif line != NO_NEWLINE:
            assert source[at] == text
            at += 1
            result += [text] if line[0] == " " else []
    assert "".join(result + source[at:]) == after
    assert (found == ()) == (before == after)
    assert CONTEXT == 2


def test_how_a_program_is_run() -> None:
    old, new = (
        Endpoint(name="router", api="command", command=Command(run=("python3", "a.py"), paths=("llm",), env=env, setup=setup))
        for env, setup in (((), ("make",)), (("KEY", "URL"), ()))
    )
    entry = Arm(endpoint="router")
    assert changed(arm(new, entry=entry), arm(old, entry=entry)) == [
        Change(lever="endpoint", name="command.setup", old="make", new=None),
        Change(lever="endpoint", name="command.env", old=None, new="KEY URL"),
    ]


def test_the_files_of_a_program() -> None:
    runs = Endpoint(name="router", api="command", command=Command(run=("python3", "llm/main.py"), paths=("llm",)))
    here = {"/llm/main.py": b"a\nhunter22\n", "/llm/same.py": b"1", "/llm/new.py": b"n\n", "/out.py": b"1"}
    there = {"/llm/main.py": b"b\n", "/llm/same.py": b"1", "/llm/old.py": b"o\n", "/out.py": b"2"}
    entry = Arm(endpoint="router")
    found = changed(arm(runs, entry=entry, files=here), arm(runs, entry=entry, files=there))
    assert [(one.lever, one.name, one.old is None, one.new is None) for one in found] == [
        ("program", "llm/main.py", False, False), ("program", "llm/new.py", True, False), ("program", "llm/old.py", False, True),
    ]  # fmt: skip
    assert found[0].diff == ("@@ -1 +1,2 @@", "-b", "+a", "+***")
    many = {f"/llm/{number:02}.py": b"x\n" for number in range(MOST_FILES + 1)}
    found = changed(arm(runs, entry=entry, files=many), arm(runs, entry=entry, files={}))
    assert [bool(one.diff) for one in found] == [True] * MOST_FILES + [False]
