"""A process that keeps a box with some programs in it until it is killed: `python box_parent.py HOW`."""

from __future__ import annotations

import asyncio
import sys

from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Limits, Spec, Task
from evalaction.sandbox.rungs import probe

CLINGING = """
import os, signal, time
for n in (1, 2, 15):
    signal.signal(n, signal.SIG_IGN)
def leave():
    try:
        os.setsid()
    except PermissionError:  # without namespaces nobody may
        pass
def cling():
    leave()
    if os.fork() == 0:
        leave()
        time.sleep(600)
    time.sleep(600)
if MAY_FORK and os.fork() == 0:
    cling()
time.sleep(600)
"""


async def main(how: str) -> None:
    rung = probe(how, None)  # type: ignore[arg-type]
    script = "evalaction.sandbox.runtime.script"
    limits = Limits(wall_ms=600_000, processes=8)
    async with Box(Spec(modules=(script,)), rung) as box:
        for may_fork in (False, True):
            source = CLINGING.replace("MAY_FORK", str(may_fork))
            await box.start(Task(entry=f"{script}:run", argument=source.encode(), limits=limits))
        sys.stdout.write(f"{box.ready['pid']}\n")
        sys.stdout.flush()
        await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
