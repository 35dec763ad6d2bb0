"""Judging many outputs at once in killable workers: an output that hangs its worker costs no other output its verdict."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from evalaction.checks import judgement
from evalaction.checks.deaths import blame, how
from evalaction.checks.judgement import Judgement
from evalaction.checks.kinds import is_program
from evalaction.checks.link import Link
from evalaction.checks.process import Child, Death
from evalaction.checks.wire import Answer, contract_text, schema_text
from evalaction.checks.words import one_line
from evalaction.errors import EvalactionError
from evalaction.method.canonical import dumps
from evalaction.method.card import CheckLimits
from evalaction.method.counting.reasons import code_of, without_details
from evalaction.method.records import Completion, Item
from evalaction.sandbox.records import Rung

if TYPE_CHECKING:
    from evalaction.checks.boxed.programs import Programs

BATCH = 16
"""The greatest weight of a batch."""
LINGER_S = 0.01
"""What arrives within this time goes out together: few full messages cost the parent less than many small ones."""
SMALL = 32_768
"""Characters of an output beyond which it fills a batch."""
KNOWN_BYTES = 32 * 2**20
"""What a worker remembers of contracts before it is told to forget them."""
SMALLEST_MESSAGE = 65_536
FAILED_STARTS = 3


@dataclass(eq=False, slots=True)
class _Job:
    item: Item
    output: str
    finish_reason: str | None
    future: asyncio.Future[Judgement]
    weight: int
    """1 under a harmless check, 4 where patterns or schemas may take their time, BATCH in a batch of its own."""
    completion: Completion
    suspect: bool = False
    """A worker died with it before it noted whom it was at: judged once more, alone."""

    @property
    def trace(self) -> str | None:
        """What a check reads that judges the trace."""
        return dumps(self.completion.trace) if self.item.check.source == "trace" else None

    @property
    def texts(self) -> Iterator[str]:
        """What reasons may quote."""
        yield self.output
        if self.item.check.source == "trace":
            yield dumps(self.completion.trace)


class Judge:
    """`async with Judge(items, limits, workers) as judge: await judge(item, completion)`.

    `items` tells only what the workers have to prepare for; `workers` is the largest number of processes. What waits
    is sent in small batches. When a worker dies, the output it was at is to blame and the others of its batch are judged again:
    judging is a pure function, so nothing is drawn twice.

    Checks that are programs are run in the box once the contract is met; `files` are `Exam.files`, `rung` is what `find_rung`
    found.

    `quotable` says of an output whether reasons may quote it. They quote it cut, and half a secret is no longer found by a
    search for it, so an output that holds one must not be quoted, nor any output of a run that keeps no text.
    """

    def __init__(
        self,
        items: Iterable[Item],
        limits: CheckLimits,
        workers: int,
        *,
        quotable: Callable[[str], bool] = lambda _: True,
        command: tuple[str, ...] | None = None,
        files: Mapping[str, bytes] | None = None,
        rung: Rung | None = None,
    ) -> None:
        items = list(items)
        self._schemas = any(item.schema is not None for item in items)
        self._programs: Programs | None = None
        if rung and any(map(is_program, items)):
            from evalaction.checks.boxed.programs import Programs  # most exams have none

            self._programs = Programs(files or {}, limits, rung, workers)
        self._running: set[asyncio.Task[None]] = set()
        self._limits = limits
        self._workers = max(1, workers)
        self._quotable = quotable
        self._command = command
        self._links: list[Link] = []
        self._batches: dict[Link, list[_Job]] = {}
        self._queue: deque[_Job] = deque()
        self._numbers: dict[str, int] = {}
        self._failed_starts = 0
        self._lingering: asyncio.TimerHandle | None = None
        self._closed = False

    async def __aenter__(self) -> Judge:
        self._start()  # it starts while the first requests are on their way
        if self._programs is not None:
            await self._programs.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closed = True
        if self._lingering is not None:
            self._lingering.cancel()
        for link in self._links:
            link.close()
        for job in [*self._queue, *(job for batch in self._batches.values() for job in batch)]:
            job.future.cancel()
        self._links.clear()
        self._batches.clear()
        self._queue.clear()
        if self._programs is not None:
            for run in self._running:
                run.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)
            await self._programs.__aexit__(kind, error, traceback)

    def __call__(self, item: Item, completion: Completion) -> asyncio.Future[Judgement]:
        """The judgement of one draw, to be awaited. Its error is an EvalactionError when no worker can be started."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Judgement] = loop.create_future()
        if completion.output is None or completion.reason is not None:
            future.set_result(judgement.unreached(completion))
            return future
        slow = item.schema is not None or item.check.kind in ("regex", "code")
        weight = BATCH if len(completion.output) > SMALL else 4 if slow else 1
        job = _Job(item, completion.output, completion.finish_reason, future, weight, completion)
        self._queue.append(job)
        if self._lingering is None:
            self._lingering = loop.call_later(LINGER_S, self._pump)
        elif len(self._queue) == BATCH:
            self._pump()
        return future

    def ready(self) -> None:
        self._failed_starts = 0
        self._pump()

    def answered(self, link: Link, answers: list[Any]) -> None:
        batch = self._batches[link]
        if len(answers) > len(batch) or (link.idle and len(answers) < len(batch)):
            raise ValueError("answers and jobs do not match")
        read = [Answer(*answer) for answer in answers]
        judged = [None if unfinished(job.item, one) else judgement.of_answer(one) for job, one in zip(batch, read, strict=False)]
        del self._batches[link]
        for job, answer, one in zip(batch, read, judged, strict=False):
            if one is None:
                self._run(job, answer)
            else:
                self._resolve(job, one)
        self._queue.extendleft(reversed(batch[len(judged) :]))
        if self._lingering is None or len(self._queue) >= BATCH:
            self._pump()

    def died(self, link: Link, death: Death) -> None:
        self._links.remove(link)
        batch = self._batches.pop(link, [])
        if not link.started:
            self._failed_starts += 1
        noted = link.child.spot.read()
        known = 0 <= noted.job < len(batch)
        guilty = batch[noted.job] if known else batch[0] if batch and batch[0].suspect else None
        if guilty is not None:
            batch.remove(guilty)
            self._resolve(guilty, blame(guilty.item, guilty.output, link.cause, death, noted, self._limits))
        else:  # nobody knows: one by one, it will show
            for job in batch:
                job.suspect, job.weight = True, BATCH
        self._queue.extendleft(reversed(batch))
        if self._failed_starts >= FAILED_STARTS:
            self._give_up(how(death))
        self._pump()

    def _resolve(self, job: _Job, one: Judgement) -> None:
        if job.future.done():
            return
        detailed = one.columns.verdict != "pass" and not all(map(self._quotable, job.texts))
        job.future.set_result(replace(one, columns=without_details(one.columns)) if detailed else one)

    def _run(self, job: _Job, answer: Answer) -> None:
        """The contract is met: the rest of the judgement is a program's."""
        task = asyncio.get_running_loop().create_task(self._run_program(job, answer))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run_program(self, job: _Job, answer: Answer) -> None:
        try:
            if self._programs is None:
                raise EvalactionError("This exam has checks to run, and no box was opened for them.", code="no_box")
            passed, reason = await self._programs.check(job.item, job.completion)
        except asyncio.CancelledError:
            job.future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - whoever waits for the judgement must learn of it
            if not job.future.done():
                job.future.set_exception(error)
            return
        self._resolve(job, judgement.of_answer(answer._replace(passed=passed, check_reason=self._shown(reason))))

    def _shown(self, reason: str | None) -> str | None:
        """What a program said, cut; without its details where it put a secret together that its output did not hold."""
        if reason is None:
            return None
        return one_line(reason if self._quotable(reason) else code_of(reason))

    def _pump(self) -> None:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        while self._queue and not self._closed:
            idle = next((link for link in self._links if link.idle), None)
            if idle is None:
                if len(self._links) < self._workers and all(link.started for link in self._links) and self._crowded:
                    self._start()
                return
            batch = self._take()
            if batch:
                self._hand(batch, idle)

    @property
    def _crowded(self) -> bool:
        """Whether there is more to judge than one batch holds; another worker costs more than it helps before."""
        at_work = (job for batch in self._batches.values() for job in batch)
        return not self._links or sum(job.weight for job in (*self._queue, *at_work)) > BATCH

    def _hand(self, batch: list[_Job], link: Link) -> None:
        try:
            message = self._message(link, batch)
        except Exception as error:  # noqa: BLE001 - this runs as a callback: its caller is whoever waits for the batch
            for job in batch:
                job.future.set_exception(error)
            return
        self._batches[link] = batch
        link.send(message)

    def _take(self) -> list[_Job]:
        batch: list[_Job] = []
        room = BATCH
        while self._queue and room >= self._queue[0].weight:
            job = self._queue.popleft()
            if not job.future.done():
                batch.append(job)
                room -= job.weight
        return batch

    def _start(self) -> None:
        try:
            child = Child.start(self._limits, schemas=self._schemas, command=self._command)
        except OSError as error:
            self._give_up(error.strerror or str(error))
            return
        timeout_s = self._limits.timeout_ms / 1000
        self._links.append(Link(child, self, timeout_s=timeout_s, output_bytes=max(SMALLEST_MESSAGE, self._limits.output_bytes)))

    def _message(self, link: Link, batch: list[_Job]) -> dict[str, Any]:
        message: dict[str, Any] = {
            "jobs": [(job.item.index, job.output, job.finish_reason, job.trace) for job in batch],
        }
        if link.known_bytes > KNOWN_BYTES:
            link.known.clear()
            link.known_schemas.clear()
            link.known_bytes = 0
            message["forget"] = True
        schemas: list[tuple[int, str]] = []
        fresh = {job.item.index: job.item for job in batch if job.item.index not in link.known}
        if fresh:
            contracts = [(index, self._defined(item, link, schemas)) for index, item in fresh.items()]
            message |= {"schemas": schemas, "contracts": contracts}
            link.known.update(fresh)
            link.known_bytes += sum(len(text) for _, text in (*schemas, *contracts))
        return message

    def _defined(self, item: Item, link: Link, schemas: list[tuple[int, str]]) -> str:
        if item.schema is None:
            return contract_text(item, None)
        text = schema_text(item.schema)
        number = self._numbers.setdefault(text, len(self._numbers))
        if number not in link.known_schemas:
            link.known_schemas.add(number)
            schemas.append((number, text))
        return contract_text(item, number)

    def _give_up(self, why: str) -> None:
        sentence = f"The worker that judges outputs does not start ({why}). Look at the memory limits of this machine."
        for job in self._queue:
            if not job.future.done():
                job.future.set_exception(EvalactionError(sentence, code="checker_start"))
        self._queue.clear()


def unfinished(item: Item, answer: Answer) -> bool:
    """Whether the contract is met and the check has yet to be run."""
    return is_program(item) and answer.contract_reason is None and answer.passed is None and answer.check_reason is None
