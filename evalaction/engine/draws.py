"""Drawing without judging: a line of `draws.jsonl` for each draw, with all that judging needs in `texts.jsonl`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from evalaction.engine.grid import Planned
from evalaction.engine.journal import line_of
from evalaction.engine.rows import HEAD, Judged, RowMaker
from evalaction.method import canonical
from evalaction.method.counting.draw_json import PENDING, Draw, draw_to_json
from evalaction.method.reading import strict_json
from evalaction.method.records import Columns, Completion, Item


@dataclass(frozen=True, slots=True)
class _Pending:
    columns: Columns = PENDING
    text_sha256: None = None
    parsed_sha256: None = None


async def leave_unjudged(_item: Item, _completion: Completion) -> Judged:
    """Stands where a judge stands: nothing is said of the reply yet."""
    return _Pending()


class DrawMaker(RowMaker):
    """Builds draws in the place of rows. Whole texts are kept, without the secrets in them; `traced` holds the positions of the
    items whose check reads the trace, which is kept beside the text then."""

    def __init__(self, *how: Any, traced: Collection[int] = (), **more: Any) -> None:
        super().__init__(*how, **more)
        self._traced = traced

    def lines(self, planned: Planned, completion: Completion, judged: Judged | None) -> tuple[bytes, bytes]:
        kept = self.text(planned, completion)
        row = self.row(planned, completion, judged)
        if kept is None:
            return line_of(draw_to_json(Draw(row=row))), b""
        redacted = kept["text"] != completion.output
        if planned.item in self._traced:
            whole = canonical.dumps(completion.trace)
            kept["trace"] = canonical.dumps(self.deep(completion.trace))
            redacted = redacted or kept["trace"] != whole
        text = line_of(kept)
        draw = Draw(
            row=replace(row, redacted=True) if redacted else row,
            head=kept["text"][:HEAD],
            kept_sha256=sha256(text.removesuffix(b"\n")).hexdigest(),
        )
        return line_of(draw_to_json(draw)), text


def kept_reply(draw: Draw, line: Mapping[str, Any]) -> Completion:
    """The reply of a line of `texts.jsonl`, as far as judging reads it. Raises ValueError where the line is another draw's."""
    row = draw.row
    place: Sequence[object] = (line.get("index"), line.get("item"), line.get("arm"), line.get("draw"))
    text, trace = line.get("text"), line.get("trace")
    if place != (row.index, row.item, row.arm, row.draw) or not isinstance(text, str) or not isinstance(trace, str | None):
        raise ValueError("the text is not that of its draw")
    return Completion(
        reason=row.columns.reach_reason,
        output=text,
        finish_reason=row.finish_reason,
        trace=None if trace is None else strict_json.loads(trace),
    )
