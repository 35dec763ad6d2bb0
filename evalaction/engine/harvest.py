"""What the derived files need of single draws, gathered while the rows pass by once."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from evalaction.engine.folder import TEXTS
from evalaction.engine.manifest import Manifest
from evalaction.engine.spool import Spool
from evalaction.engine.texts import Texts
from evalaction.method.records import Row
from evalaction.report.cells import Cells
from evalaction.report.html.data import detailed
from evalaction.report.html.kept import NoTexts
from evalaction.report.html.page import Drawn
from evalaction.report.rows_csv import first_protocol_line, row_line


class Harvest:
    """Hand it every row that was scored, then read from it. Room is made at the first row: until then nothing vouches for
    the manifest's numbers."""

    def __init__(self, folder: Path, manifest: Manifest, stack: ExitStack) -> None:
        self._folder = folder
        self._manifest = manifest
        self._stack = stack
        self._lines: dict[str, Spool] = {}
        self._places = array("Q")
        self._heads: Spool | None = None
        """None as well where the page has no room for texts."""
        self.cells: Cells | None = None

    def add(self, row: Row) -> None:
        if self.cells is None:
            self._make_room()
        assert self.cells is not None
        self.cells.add(row)
        self._lines["rows.csv"].add(row.index, row_line(row).encode())
        if "verdicts.csv" in self._lines:
            self._lines["verdicts.csv"].add(row.index, first_protocol_line(row).encode())
        if self._heads is not None:
            self._places[row.index] = self.cells.place_of(row) + 1
            head = row.raw_head if row.columns.reach else row.error_head
            if head:
                self._heads.add(row.index, head.encode("utf-8", "surrogatepass"))

    def _new(self) -> Cells:
        manifest = self._manifest
        arms = [arm.arm for arm in manifest.arms]
        return Cells(
            manifest.items,
            arms,
            manifest.planned // (len(manifest.items) * len(arms)) if manifest.ended is None else 1,
            unchanged=manifest.unchanged,
            routes={arm.arm: arm.routes for arm in manifest.arms},
            left_out=manifest.left_out,
        )

    def _make_room(self) -> None:
        self.cells = self._new()
        if detailed(self.cells):
            self._places = array("Q", [0]) * len(self.cells)
            self._heads = self._spool()
        self._lines["rows.csv"] = self._spool()
        if len(self._manifest.arms) == 1:
            self._lines["verdicts.csv"] = self._spool()

    def _spool(self) -> Spool:
        return Spool(self._stack.enter_context(tempfile.TemporaryFile()), self._manifest.planned)

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of `rows.csv` or `verdicts.csv` in planned order."""
        return iter(self._lines.get(name, ()))

    def drawn(self) -> Drawn | None:
        """The draws with their texts; None where nothing was drawn."""
        if self.cells is None:
            return None
        if self._heads is None:
            return Drawn(self.cells, NoTexts())
        texts = Texts(self._folder / TEXTS, self.cells, self._places, self._heads)
        self._stack.callback(texts.close)
        return Drawn(self.cells, texts)

    def asked(self) -> Cells | None:
        """The cells for a test report: those of the draws, or empty ones of a run that was planned and refused."""
        if self.cells is None and self._manifest.ended is not None:
            return self._new()
        return self.cells


@contextmanager
def harvest(folder: Path, manifest: Manifest) -> Iterator[Harvest]:
    """Its temporary files end with the block."""
    with ExitStack() as stack:
        yield Harvest(folder, manifest, stack)
