"""`api: command`: a team's own program answers, in the box, from its commit's files alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from evalaction.endpoints import Call, build_request, missing_variables, secrets_of
from evalaction.endpoints.command_surface import CommandSurface, open_command
from evalaction.errors import NotRunError, UsageError
from evalaction.method.card import Command, Endpoint
from evalaction.method.records import Completion, Message
from evalaction.sandbox.records import Rung
from evalaction.sandbox.rungs import find_rung

ECHO = b"""\
import json, sys
asked = json.load(sys.stdin)
print(json.dumps({"last": asked["messages"][-1]["content"], "model": asked.get("model"), "keys": sorted(asked)}))
"""


@cache
def rung() -> Rung:
    try:
        return find_rung(allow_unsafe=False, image=None)
    except UsageError as error:
        pytest.skip(f"no box on this machine: {error}")


def program(source: bytes | str, *, name: str = "llm/main.py", **fields: Any) -> tuple[Endpoint, dict[str, bytes]]:
    values: dict[str, Any] = {"run": ("python3", name), "paths": ("llm",)}
    endpoint = Endpoint(name="router", api="command", command=Command(**(values | fields)))
    return endpoint, {f"/{name}": source if isinstance(source, bytes) else source.encode()}


def call(endpoint: Endpoint, text: str = "hello", *, timeout_ms: int = 20_000, max_body_bytes: int = 10_000) -> Call:
    request = build_request(endpoint, (Message("user", text),), "text")
    return Call(request=request, item="t1", draw=0, timeout_ms=timeout_ms, max_body_bytes=max_body_bytes)


def answers(
    endpoint: Endpoint, files: Mapping[str, bytes], *calls: Call, environ: Mapping[str, str] | None = None
) -> list[Completion]:
    async def ask() -> list[Completion]:
        async with opened(endpoint, files, environ) as surface:
            slots = [surface.slot() for _ in calls]
            return await asyncio.gather(*(slot.send(one) for slot, one in zip(slots, calls, strict=True)))

    return asyncio.run(ask())


def opened(endpoint: Endpoint, files: Mapping[str, bytes], environ: Mapping[str, str] | None = None) -> CommandSurface:
    return open_command(endpoint, environ or {}, files, rung())


def test_the_request_is_json_and_the_output_is_the_text() -> None:
    endpoint, files = program(ECHO)
    endpoint = Endpoint(name="router", api="command", command=endpoint.command, model="small", params={"top_p": 1})
    [found] = answers(endpoint, files, call(endpoint, "what {{x}}?"))
    assert found.reason is None and found.output is not None and found.status is None and found.ms > 0
    assert json.loads(found.output) == {"last": "what {{x}}?", "model": "small", "keys": ["messages", "model", "params"]}


@pytest.mark.parametrize(
    ("source", "reason", "words"),
    [
        ("import sys; print('half'); print('cannot go on', file=sys.stderr); sys.exit(3)", "exit:3", "cannot go on"),
        ("raise ValueError('broken')", "exit:1", "ValueError: broken"),
        ("import os; os.abort()", "died:SIGABRT", None),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\xfe')", "malformed", "not UTF-8"),
        ("print('   ')", "empty", None),
        ("print('x' * 20_000)", "oversize", None),
        ("while True: print('x' * 65_536)", "oversize", None),
    ],
)
def test_what_goes_wrong_in_a_program_is_a_reach_failure(source: str, reason: str, words: str | None) -> None:
    endpoint, files = program(source)
    [found] = answers(endpoint, files, call(endpoint))
    assert found.reason == reason and found.output is None
    assert words is None or words in (found.error or "")


def test_a_program_that_hangs_is_ended_and_the_others_go_on() -> None:
    endpoint, files = program(
        "import json, sys, time\n"
        "text = json.load(sys.stdin)['messages'][0]['content']\n"
        "time.sleep(600 if text == 'hang' else 0); print(text)"
    )
    found = answers(endpoint, files, call(endpoint, "hang", timeout_ms=1_500), call(endpoint, "one"), call(endpoint, "two"))
    assert [one.reason for one in found] == ["timeout", None, None]
    assert [one.output for one in found[1:]] == ["one\n", "two\n"]


def test_a_program_sees_its_variables_and_its_files_and_no_more() -> None:
    endpoint, files = program(
        "import json, os\n"
        "seen = sorted(os.path.relpath(os.path.join(at, one)) for at, _, all in os.walk('.') for one in all)\n"
        "try: open('new', 'w'); wrote = True\n"
        "except OSError: wrote = False\n"
        "open('/tmp/scratch', 'w').write('x')\n"
        "print(json.dumps({'files': seen, 'env': sorted(os.environ), 'key': os.environ['ROUTER_KEY'], 'wrote': wrote,"
        " 'git': os.path.exists('.git'), 'fresh': os.listdir('/tmp') == ['scratch']}))",
        env=("ROUTER_KEY",),
    )
    files |= {"/eval/tasks.jsonl": b"{}", "/llm/lib/helper.py": b"x = 1", "/llmx/other.py": b""}
    environ = {"ROUTER_KEY": "k-0123456789", "OPENAI_API_KEY": "secret", "GITHUB_TOKEN": "secret"}
    for found in answers(endpoint, files, call(endpoint), call(endpoint), environ=environ):
        assert found.output is not None, found
        seen = json.loads(found.output)
        assert seen["files"] == ["llm/lib/helper.py", "llm/main.py"]
        assert seen["key"] == "k-0123456789" and not {"OPENAI_API_KEY", "GITHUB_TOKEN"} & set(seen["env"])
        assert (seen["wrote"], seen["git"], seen["fresh"]) == (False, False, True)


def test_the_set_up_runs_once_and_its_work_stays() -> None:
    endpoint, files = program(
        "import os; print(open('deps/made').read(), os.access('deps', os.W_OK))",
        setup=("sh", "-c", "mkdir deps && date +%s%N >> deps/made"),
    )
    first, second = answers(endpoint, files, call(endpoint), call(endpoint))
    assert first.output == second.output and (first.output or "").split()[-1] == "False"


def test_a_set_up_that_fails_ends_everything_with_its_words() -> None:
    endpoint, files = program("print(1)", setup=("sh", "-c", "echo no such package >&2; exit 4"))
    with pytest.raises(UsageError, match=r"set-up of endpoint router failed \(exit:4\).*no such package"):
        answers(endpoint, files, call(endpoint))


def test_a_set_up_that_fails_tells_no_secret() -> None:
    setup = ("sh", "-c", "echo with $ROUTER_KEY >&2; exit 4")
    endpoint, files = program("print(1)", env=("ROUTER_KEY",), setup=setup)
    with pytest.raises(UsageError, match=r"last words: with \*\*\*"):
        answers(endpoint, files, call(endpoint), environ={"ROUTER_KEY": "k-0123456789"})


def test_what_is_missing_is_found_before_a_run() -> None:
    endpoint, files = program("print(1)", env=("ROUTER_KEY",))
    assert missing_variables([endpoint], {}) == ("ROUTER_KEY",)
    assert secrets_of([endpoint], {"ROUTER_KEY": "k-0123456789"}) == {"ROUTER_KEY": "k-0123456789"}
    with pytest.raises(NotRunError, match="ROUTER_KEY"):
        open_command(endpoint, {}, files, rung())
    with pytest.raises(UsageError, match="hold no committed file"):
        open_command(endpoint, {"ROUTER_KEY": "k"}, {"/other/main.py": b""}, rung())
    with pytest.raises(UsageError, match="there is no box for it"):
        open_command(endpoint, {"ROUTER_KEY": "k"}, files, None)
