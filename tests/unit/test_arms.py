from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from support.runs import endpoint

from evalaction.errors import SourceError, UsageError
from evalaction.method.arms import (
    Asked,
    Resolved,
    Source,
    check_allowed,
    connection,
    digested,
    distinct,
    facts_of,
    moved_levers,
    resolve,
    resolve_arms,
)
from evalaction.method.card import Arm, Budget, Card, Command, Draws, Endpoint, ExamRef, Header, HttpShape
from evalaction.method.exams.exam import Exam, load_exam
from evalaction.method.numbers import Threshold
from evalaction.method.records import ArmName, Check, Message, Quoted

FILES: Mapping[str, bytes] = {"a.md": b"Be brief.", "b.md": b"Be kind.", "t.txt": b"Sort {{text}}.", "r.jsonl": b"{}"}


def exam(count: int = 2, **fields: Any) -> Exam:
    lines = [{"id": f"t{number}", "prompt": f"Say {number}.", "expected": "x"} | fields for number in range(count)]
    return load_exam({"t.jsonl": "\n".join(map(json.dumps, lines)).encode()}, tasks="t.jsonl")


def source(arm: Arm | None = None, commit: str | None = "c" * 40, **endpoints: Endpoint) -> Source:
    made = Card(
        protocol="evalaction/1",
        name="n",
        exam=ExamRef(tasks="t.jsonl", data="synthetic"),
        endpoints=endpoints or {"main": endpoint()},
        treatment=arm or Arm(endpoint="main"),
        draws=Draws(count=1, timeout_ms=1),
    )
    return Source(card=made, arm=made.treatment, files=FILES, commit=commit)


def test_an_arm_is_resolved_for_every_item() -> None:
    found = resolve(source(Arm(endpoint="main", system="a.md")), exam())
    assert [one.messages for one in found.asked] == [
        (Message("system", "Be brief."), Message("user", f"Say {number}.")) for number in range(2)
    ]
    assert {one.output for one in found.asked} == {"text"} and found.endpoints == (endpoint(),)
    filled = resolve(source(Arm(endpoint="main", template="t.txt")), vars_exam())
    assert filled.asked[0].messages == (Message("user", "Sort {{text}}."),)


def vars_exam() -> Exam:
    line = {"id": "t0", "vars": {"text": "{{text}}"}, "expected": "x", "output": "tool_calls"}
    return load_exam({"t.jsonl": json.dumps(line).encode()}, tasks="t.jsonl")


def test_an_item_may_declare_its_output() -> None:
    found = resolve(source(Arm(endpoint="main", template="t.txt")), vars_exam())
    assert found.asked[0].output == "tool_calls"


ROUTE = (
    b"rules: [{when: {tag: code}, endpoint: other, model: larger, params: {top_p: 1}}]\ndefault: {endpoint: main, name: rest}\n"
)


def routed(arm: Arm, files: Mapping[str, bytes], tags: tuple[str, ...] = ("code",), **endpoints: Endpoint) -> Resolved:
    lines = [{"id": tag or "none", "vars": {"x": "1"}, "expected": "x", "tags": [tag] if tag else []} for tag in (*tags, "")]
    made = load_exam({"t.jsonl": "\n".join(map(json.dumps, lines)).encode()}, tasks="t.jsonl")
    both = {"main": endpoint(params={"temperature": 0}), "other": endpoint("other", params={"temperature": 0})} | endpoints
    origin = source(arm)
    return resolve(replace(origin, card=replace(origin.card, endpoints=both), files={**FILES, **files}), made)


def test_a_route_chooses_item_by_item() -> None:
    found = routed(Arm(route="r.yaml", template="t.txt"), {"r.yaml": ROUTE, "t.txt": b"{{x}}"})
    code, rest = found.asked
    assert (code.endpoint.name, code.endpoint.model, code.endpoint.params, code.route) == (
        "other", "larger", {"temperature": 0, "top_p": 1}, "other (larger)",
    )  # fmt: skip
    assert (rest.endpoint, rest.route) == (endpoint(params={"temperature": 0}), "rest")
    assert found.notes == ()
    idle = routed(Arm(route="r.yaml", template="t.txt"), {"r.yaml": ROUTE, "t.txt": b"{{x}}"}, tags=()).notes
    assert idle == (("The rule in line ", "1", " of ", Quoted("r.yaml"), " chooses for no item: it matches none"),)


PROMPT = b"model: larger\nmodelParameters: {maxTokens: 9}\nmessages: [{role: user, content: '{{x}}'}]\n"


def test_a_prompt_file_sets_model_and_parameters_and_says_so() -> None:
    found = routed(Arm(endpoint="main", template="p.prompt.yml"), {"p.prompt.yml": PROMPT})
    assert found.endpoints == (endpoint(model="larger", params={"temperature": 0, "max_tokens": 9}),)
    assert found.notes == (("Not the card but ", Quoted("p.prompt.yml"), " sets ", Quoted("the model, max_tokens")),)
    same = endpoint(model="larger", params={"max_tokens": 9})
    assert routed(Arm(endpoint="main", template="p.prompt.yml"), {"p.prompt.yml": PROMPT}, main=same).notes == ()
    messages = b"messages: [{role: user, content: '{{x}}'}]\ntestData: []\n"
    unread = routed(Arm(endpoint="main", template="p.prompt.yml"), {"p.prompt.yml": messages})
    why = " is not read: the exam has items and checks"
    assert unread.notes == (("What ", Quoted("p.prompt.yml"), " says of ", Quoted("testData"), why),)


def test_a_rule_goes_over_a_prompt_file_which_may_not_choose_the_model_too() -> None:
    arm = Arm(route="r.yaml", template="p.prompt.yml")
    params = PROMPT.replace(b"model: larger\n", b"").replace(b"maxTokens: 9", b"topP: 0, maxTokens: 9")
    code, rest = routed(arm, {"r.yaml": ROUTE, "p.prompt.yml": params}).asked
    assert code.endpoint.params == {"temperature": 0, "top_p": 1, "max_tokens": 9}
    assert rest.endpoint.params == {"temperature": 0, "top_p": 0, "max_tokens": 9}
    with pytest.raises(SourceError, match=r"p\.prompt\.yml: this prompt file names a model, and the rules of r\.yaml choose it"):
        routed(arm, {"r.yaml": ROUTE, "p.prompt.yml": PROMPT})


def test_what_a_prompt_file_sets_must_fit_its_endpoint() -> None:
    arm = Arm(endpoint="main", template="p.prompt.yml")
    with pytest.raises(
        SourceError, match=r"p\.prompt\.yml: what this prompt file sets does not fit: endpoint `main` .* no param"
    ):
        routed(arm, {"p.prompt.yml": PROMPT}, main=endpoint(api="http", http=HttpShape(body={"q": "{{prompt}}"}, text="/t")))
    with pytest.raises(SourceError, match=r"`params\.stream` is written by evalaction"):
        routed(arm, {"p.prompt.yml": PROMPT.replace(b"maxTokens", b"stream")})
    formatted = {"p.prompt.yml": PROMPT + b"responseFormat: json_object\n"}
    assert routed(arm, formatted).asked[0].endpoint.params["response_format"] == {"type": "json_object"}
    with pytest.raises(SourceError, match=r"which `api: anthropic` does not take"):
        routed(arm, formatted, main=endpoint(api="anthropic"))


def checked(file: str | None = "c.py", **check: Any) -> Exam:
    """An exam whose only item has another check than its file says."""
    made = exam(1)
    return replace(made, items=(replace(made.items[0], check=Check(file=file, **check)),))


def test_what_an_endpoint_gives_must_fit_the_check() -> None:
    calls = endpoint(output="tool_calls")
    with pytest.raises(
        UsageError, match=r"item `t0` is judged by a `check\.py`, which runs text, and endpoint `main` gives tool"
    ):
        resolve(source(main=calls), checked(kind="code"))
    with pytest.raises(UsageError, match=r"item `t0` is judged by its trace, and endpoint `main` declares none"):
        resolve(source(), checked(None, kind="json", source="trace"))
    traced = endpoint(api="http", http=HttpShape(body={"q": "{{prompt}}"}, text="/t"), trace="/steps")
    assert resolve(source(main=traced), checked(None, kind="json", source="trace")).endpoints == (traced,)
    program = endpoint(api="command", command=Command(run=("x",), paths=("x",)))
    assert resolve(source(main=program), exam()).endpoints == (program,)
    with pytest.raises(UsageError, match=r"asks for tool calls, and endpoint `main` is a program that writes text"):
        resolve(source(main=program), exam(output="tool_calls"))


def test_what_the_question_forbids_holds_for_every_endpoint_that_is_asked() -> None:
    found = routed(Arm(route="r.yaml", template="t.txt"), {"r.yaml": ROUTE, "t.txt": b"{{x}}"})
    asking = source().card
    check_allowed(asking, found)
    with pytest.raises(UsageError, match=r"may not go to the shared endpoint `other`"):
        check_allowed(replace(asking, exam=ExamRef(tasks="t", data="private")), found)
    with pytest.raises(UsageError, match=r"needs the `price` of endpoint `other`"):
        check_allowed(replace(asking, budget=Budget(usd=Threshold.of("1"))), found)
    scripted = resolve(source(main=endpoint(api="scripted", replies="r.jsonl")), exam())
    check_allowed(replace(asking, exam=ExamRef(tasks="t", data="private"), budget=Budget(usd=Threshold.of("1"))), scripted)


def test_http_endpoints_must_have_a_place_for_what_is_sent() -> None:
    shape = HttpShape(body={"q": "{{prompt}}"}, text="/t")
    http = endpoint(api="http", http=shape)
    assert len(resolve(source(main=http), exam()).asked) == 2
    with pytest.raises(UsageError, match=r"item `t0` has a `system` text, and the body of endpoint `main` has no place for it"):
        resolve(source(main=http), exam(system="s"))
    roomy = replace(http, http=HttpShape(body={"q": "{{messages}}"}, text="/t"))
    assert resolve(source(main=roomy), exam(system="s")).asked[1].messages[0].role == "system"


def arm(
    *endpoints: Endpoint, routes: tuple[str | None, ...] = (), text: str = "x", files: Mapping[str, bytes] = FILES
) -> Resolved:
    labels = routes or (None,) * len(endpoints)
    asked = tuple(
        Asked(endpoint=one, messages=(Message("user", text),), output="text", route=label)
        for one, label in zip(endpoints, labels, strict=True)
    )
    return Resolved(source=replace(source(), files=files), asked=asked)


def test_a_mistake_of_another_commit_says_so() -> None:
    good, bad = source(Arm(endpoint="main", system="a.md")), source(Arm(endpoint="main", template="t.txt"), commit="d" * 40)
    assert list(resolve_arms({"treatment": good, "control": good}, exam())) == ["treatment", "control"]
    with pytest.raises(UsageError) as caught:
        resolve_arms({"treatment": good, "control": bad}, exam())
    assert caught.value.sentence.endswith(f". This is about the control, as commit {'d' * 12} defines it.")
    assert str(caught.value) == caught.value.sentence
    for own in ({"treatment": bad}, {"treatment": good, "control": replace(bad, commit=good.commit)}):
        with pytest.raises(UsageError) as caught:
            resolve_arms(cast("Mapping[ArmName, Source]", own), exam())
        assert "This is about" not in caught.value.sentence


def test_equal_endpoints_are_one() -> None:
    main, other = endpoint(), endpoint("other")
    assert distinct([main, endpoint(), other, main]) == (main, other)
    assert connection(endpoint(model="a", params={"top_p": 1})) == connection(endpoint(model="b"))
    assert connection(main) != connection(other)


def test_the_digest_covers_which_item_goes_where() -> None:
    main, other = endpoint(), endpoint("other", url="https://other.example")
    assert digested(arm(main, main)) == digested(arm(main, endpoint("renamed", model="m"))) != digested(arm(other, other))
    mixed = digested(arm(main, other, endpoint()))
    assert isinstance(mixed, dict) and mixed["of"] == [0, 1, 0]
    assert mixed != digested(arm(other, main, main))


def test_the_replies_of_a_scripted_endpoint_are_part_of_it() -> None:
    scripted = endpoint(api="scripted", url=None, replies="r.jsonl")
    assert digested(arm(scripted)) != digested(arm(scripted, files={"r.jsonl": b"[]"}))


def test_what_a_report_says_of_an_arm() -> None:
    found = facts_of(arm(endpoint(), endpoint("other", model=None, params={"seed": 1}), endpoint("other", model="m")))
    assert found.endpoint == "main, other" and found.model == "some-model, m"
    assert found.seeded and not found.scripted and found.commit == "c" * 40
    assert facts_of(arm(endpoint(model=None))).model is None


def levers(theirs: Endpoint, **changes: Any) -> tuple[str, ...]:
    return moved_levers(arm(endpoint(), endpoint()), arm(endpoint("renamed"), theirs, **changes))


def test_texts_that_are_mostly_a_slip_are_noted_and_sent() -> None:
    empty = resolve(replace(source(Arm(endpoint="main", system="a.md")), files={"a.md": b" \n"}), exam())
    assert empty.notes == ((Quoted("a.md"), " is empty: every item is sent an empty system message"),)
    assert empty.asked[0].messages[0] == Message("system", " \n")
    same = routed(Arm(endpoint="main", template="t.txt"), {"t.txt": b"{x} $x"})
    assert same.notes == ((Quoted("t.txt"), " has no place such as {{name}}: every item is asked the same"),)
    assert {one.messages for one in same.asked} == {(Message("user", "{x} $x"),)}
    assert resolve(replace(source(Arm(endpoint="main", template="t.txt")), files={"t.txt": b"x"}), vars_exam()).notes == ()


def test_levers() -> None:
    assert levers(endpoint("local")) == ()
    assert levers(endpoint(model="other")) == ("model",)
    assert levers(endpoint(url="http://127.0.0.1:1/v1")) == ("endpoint",)
    assert levers(endpoint(headers=(Header(name="X", value="1"),))) == ("endpoint",)
    assert levers(endpoint(params={"temperature": 0})) == ("parameters",)
    ordered = [endpoint(params=value) for value in ({"a": 1, "b": 2}, {"b": 2, "a": 1})]
    assert moved_levers(arm(ordered[0]), arm(ordered[1])) == ("parameters",)
    bodies = [endpoint(api="http", http=HttpShape(body={"input": text}, text="/t")) for text in ("{{prompt}}", "Do: {{prompt}}")]
    assert moved_levers(arm(bodies[0]), arm(bodies[1])) == ("parameters",)
    assert levers(endpoint(), text="y") == ("prompt",)
    assert levers(endpoint(model="other"), text="y") == ("model", "prompt")


def test_an_item_that_goes_another_way_moves_the_route_alone() -> None:
    big, small = endpoint("big", model="b"), endpoint("small", model="s")
    ours = arm(big, small, small, routes=("1", "default", "default"))
    assert moved_levers(ours, arm(big, big, small, routes=("1", "1", "default"))) == ("route",)
    assert moved_levers(ours, arm(big, big, endpoint("small", model="t"), routes=("1", "1", "2"))) == ("route", "model")
    assert moved_levers(ours, arm(big, small, small, routes=("2", "2", "2"))) == ()


def test_an_arm_that_takes_or_loses_its_rules_moves_the_route() -> None:
    big, small = endpoint("big", model="b"), endpoint("small", model="s")
    ours, theirs = arm(small, small), arm(big, small, routes=("1", "default"))
    assert moved_levers(ours, theirs) == moved_levers(theirs, ours) == ("route",)


def test_an_endpoint_of_another_name_is_no_other_way() -> None:
    small, tiny = endpoint("small", model="s"), endpoint("tiny", model="s")
    ours, theirs = (arm(one, routes=("default",)) for one in (tiny, small))
    assert moved_levers(ours, theirs) == ()
    assert moved_levers(arm(tiny, routes=("default",), text="y"), theirs) == ("prompt",)
    assert moved_levers(arm(replace(tiny, model="t"), routes=("default",)), theirs) == ("route",)


def test_a_program_of_another_commit_is_a_lever_of_its_own() -> None:
    runs = Endpoint(name="router", api="command", command=Command(run=("python3", "llm/main.py"), paths=("llm",)))
    ours, same, theirs = (arm(runs, files={"/llm/main.py": data}) for data in (b"1", b"1", b"2"))
    assert moved_levers(ours, same) == () and digested(ours) == digested(same)
    assert moved_levers(ours, theirs) == ("program",) and digested(ours) != digested(theirs)
    other = replace(runs, command=Command(run=("python3", "llm/other.py"), paths=("llm",)))
    assert moved_levers(ours, arm(other, files={"/llm/main.py": b"1"})) == ("endpoint",)


def test_a_script_of_replies_is_a_lever_only_where_nothing_else_moved() -> None:
    scripted = endpoint(api="scripted", url=None, replies="r.jsonl")
    ours, theirs = arm(scripted), arm(scripted, files={"r.jsonl": b"[]"})
    assert moved_levers(ours, theirs) == ("endpoint",)
    assert moved_levers(ours, arm(scripted, text="y", files={"r.jsonl": b"[]"})) == ("prompt",)
