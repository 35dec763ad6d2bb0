"""Each limit ends a process, with its own word, and nobody else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pytest
from support.boxes import ALL, NAMESPACES, SAFE, run, run_all, rung, script

from evalaction.sandbox.records import Ending, How


class Case(NamedTuple):
    source: str
    limit: str | None
    limits: Mapping[str, Any]


EVERYWHERE = {
    "cpu": Case("while True: pass", "cpu", {"cpu_ms": 300}),
    "cpu, signals ignored": Case(
        "import signal\nfor n in (15, 24, 26): signal.signal(n, signal.SIG_IGN)\nwhile True: pass", "cpu", {"cpu_ms": 300}
    ),
    "cpu of a thread": Case(
        "import threading, time\nthreading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()\ntime.sleep(600)",
        "cpu",
        {"cpu_ms": 300},
    ),
    "wall": Case("import time; time.sleep(600)", "wall", {"wall_ms": 800}),
    "memory": Case("x = bytearray(2**29)", "memory", {"memory_mb": 128}),
    "memory, caught": Case("try: bytearray(2**29)\nexcept MemoryError: print('caught')", None, {"memory_mb": 128}),
    "output": Case(
        "import sys\nwhile True: sys.stdout.write('x' * 999); sys.stderr.write('y')", "output", {"output_bytes": 9_000}
    ),
    "output, just enough": Case("print('x' * 8_999)", None, {"output_bytes": 9_000}),
    "files": Case("x = [open('/dev/null') for _ in range(100)]", "files", {"open_files": 32}),
}
SAFELY = {
    "a fork": Case("import os; os.fork()", "processes", {}),
    "a program": Case("import subprocess; subprocess.run(['x'])", "processes", {}),
    "few threads": Case(
        "import threading\nt = [threading.Thread(target=print) for n in range(8)]\n[x.start() for x in t]\n[x.join() for x in t]",
        None,
        {},
    ),
}
WITH_A_DISK = {
    "one file": Case("open('a', 'wb').write(bytes(5 * 2**20))", "disk", {"disk_mb": 4}),
    "many files": Case("for n in range(9): open(str(n), 'wb').write(bytes(2**19))", "disk", {"disk_mb": 4}),
    "many names": Case("import os\nfor n in range(10**6): os.mkdir(str(n))", "disk", {"disk_mb": 4}),
}
ENDS: dict[str, tuple[int | None, int | None]] = {
    "raise SystemExit(7)": (7, None),
    "raise SystemExit('no')": (1, None),
    "raise ValueError('x')": (1, None),
    "import os; os._exit(137)": (137, None),
    "import os; os.kill(os.getpid(), 9)": (None, 9),
    "import os; os.abort()": (None, 6),
    "import ctypes; ctypes.string_at(0)": (None, 11),
    "print('fine')": (0, None),
    "quit(3)": (3, None),
}


def endings(how: How, cases: Iterable[Case]) -> list[Ending]:
    return run_all(how, [script(case.source, **case.limits) for case in cases])


@pytest.mark.parametrize("how", ALL)
def test_each_limit_has_its_word(how: How) -> None:
    cases = EVERYWHERE | (SAFELY if how in SAFE else {}) | (WITH_A_DISK if how in NAMESPACES else {})
    found = dict(zip(cases, endings(how, cases.values()), strict=True))
    assert {name: ending.limit for name, ending in found.items()} == {name: case.limit for name, case in cases.items()}
    assert {name for name, ending in found.items() if ending.exit == 0} == {
        name for name, case in cases.items() if case.limit is None
    }
    assert found["cpu"].cpu_ms >= 300
    assert found["wall"].wall_ms >= 800
    assert len(found["output"].stdout) + len(found["output"].stderr) == 9_000
    assert len(found["output, just enough"].stdout) == 9_000
    assert found["memory, caught"].stdout == b"caught\n"


@pytest.mark.parametrize("how", ALL)
def test_an_end_of_its_own_has_no_limit(how: How) -> None:
    found = run_all(how, [script(source) for source in ENDS])
    assert {source: (ending.exit, ending.signal) for source, ending in zip(ENDS, found, strict=True)} == ENDS
    assert {(ending.limit, ending.killed) for ending in found} == {(None, False)}


@pytest.mark.parametrize("how", NAMESPACES)
def test_a_bounded_number_of_processes(how: How) -> None:
    if how == "user_namespaces" and os.geteuid() == 0:
        pytest.skip("the kernel never counts the processes of user 0; the case of an ordinary user is in test_sandbox_users")
    ending = run(how, "import os, time\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(60)", processes=3)
    assert ending.limit == "processes"


@pytest.mark.parametrize("how", SAFE)
def test_many_threads_are_too_many(how: How) -> None:
    start = "threading.Thread(target=time.sleep, args=(60,)).start()"
    source = f"import threading, time\nthreading.stack_size(65536)\nfor _ in range(4000): {start}"
    limit = run(how, source, wall_ms=4_000).limit
    assert limit == "processes" if rung(how).own_uid else limit in {"processes", "memory", "wall"}


@pytest.mark.parametrize("how", SAFE)
def test_one_process_at_its_limits_does_not_touch_another(how: How) -> None:
    greedy = [
        script("while True: pass", cpu_ms=2_000),
        script("x = []\nwhile True: x.append(bytearray(2**20))", memory_mb=128),
        script("import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,)).start()", wall_ms=3_000),
        script("while True: print('x' * 1000)", output_bytes=5_000),
    ]
    honest = script(
        "import threading\nt = threading.Thread(target=print, args=('ok',))\nt.start()\nt.join()\nx = bytearray(2**26)"
    )
    found = run_all(how, [*greedy, *[honest] * 4])
    assert [ending.limit for ending in (found[0], found[1], found[3])] == ["cpu", "memory", "output"]
    assert found[2].exit != 0
    assert [(ending.exit, ending.stdout) for ending in found[4:]] == [(0, b"ok\n")] * 4


@pytest.mark.parametrize("how", ALL)
def test_usage_is_told(how: How) -> None:
    ending = run(how, "x = bytes(range(256)) * 2**18\nn = 0\nfor i in range(10**6): n += i")
    assert ending.exit == 0
    assert ending.cpu_ms > 0
    assert ending.wall_ms > 0
    assert ending.max_rss_kb > 64 * 1024
    assert ending.run_delay_ms is None or ending.run_delay_ms >= 0
