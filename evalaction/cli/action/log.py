"""The log of a step: workflow commands are ours alone, everything else is told as data; secrets are masked and remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from evalaction.github.commands import Annotation, annotate, fenced, masks, new_token, plain
from evalaction.method.records import Quoted
from evalaction.redaction import Redactor

if TYPE_CHECKING:
    from evalaction.cli.world import World
    from evalaction.method.records import Sentence


class Log:
    """Collects secrets (name to value) and annotations of one job, and writes to its log."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.secrets: dict[str, str] = {}
        self.annotations: list[Annotation] = []

    def mask(self, secrets: Mapping[str, str]) -> None:
        """Hide the values from here on. Before anything is printed that may hold one."""
        new = {name: value for name, value in secrets.items() if value and self.secrets.get(name) != value}
        self.secrets |= new
        for name in Redactor(new).short:
            self.warn(("The value of ", Quoted(name), " is shorter than 8 characters; it is neither hidden nor searched for."))
        self._write(masks(new))

    def redactor(self) -> Redactor:
        return Redactor(self.secrets)

    def say(self, sentence: Sentence) -> None:
        self._write((plain(sentence),))

    def warn(self, sentence: Sentence, *, weight: int = 0) -> None:
        """A warning that is shown beside the run, once."""
        if all(one.text != sentence for one in self.annotations):
            self.annotations.append(Annotation(level="warning", text=sentence, weight=weight))

    def block(self, text: str) -> None:
        """Several lines that may quote anybody; none of them is taken for a command."""
        lines = [line.replace("##[", "##\u200b[") for line in self.redactor().redact(text).splitlines()]
        self._write(fenced(lines, new_token()))

    def annotate(self) -> None:
        """Print what was collected. Once, at the end: GitHub keeps ten of a kind."""
        self._write(annotate(self.annotations))

    def _write(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._world.say(line)
        self._world.flush()
