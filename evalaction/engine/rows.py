"""One finished draw as a row and its kept text. Order of everything untrusted: redact, cut, write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

from evalaction.engine.grid import Planned
from evalaction.engine.journal import line_of
from evalaction.method import canonical
from evalaction.method.canonical import Json
from evalaction.method.card import KeepText
from evalaction.method.counting.draw_json import Draw, judged_row
from evalaction.method.counting.halves import half_of
from evalaction.method.counting.row_json import row_to_json
from evalaction.method.records import ArmName, Columns, Completion, Row

HEAD = 240
"""Characters kept of an error body or of a text that broke its contract."""
TRACE = 8_192
"""Characters of canonical JSON up to which a trace is kept whole; of a longer one only its beginning stays, as text."""
NAME = 1_000
"""Characters up to which a provider's word is remembered with its redacted form."""


class Judged(Protocol):
    """What the checks say of one reached draw."""

    @property
    def columns(self) -> Columns: ...

    @property
    def text_sha256(self) -> str | None: ...

    @property
    def parsed_sha256(self) -> str | None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What one arm asks: per item, in exam order, the name of the endpoint and the digest of the request."""

    endpoint: Sequence[str]
    request_sha256: Sequence[str]


class RowMaker:
    """Builds rows of one run. `redact` replaces configured secrets; under `keep_text: none` no text of a reply is kept."""

    def __init__(
        self,
        ids: Sequence[str],
        asked: Mapping[ArmName, Asked],
        *,
        seed: str,
        redact: Callable[[str], str],
        keep_text: KeepText,
    ) -> None:
        self._ids = ids
        self._asked = asked
        self._halves = [half_of(item, seed) for item in ids]
        self._redact = redact
        self._word = lru_cache(maxsize=512)(lambda text: redact(text)[:HEAD])  # served models, finish reasons: few and repeated
        self._keep = keep_text

    def row(self, planned: Planned, completion: Completion, judged: Judged | None) -> Row:
        """`judged` is None exactly when the draw did not reach."""
        columns = self._clean(judged.columns) if judged else Columns(False, completion.reason)
        asked = self._asked[planned.arm]
        broke = columns.contract is False and self._keep != "none"
        trace, trace_length = (None, None) if completion.trace is None else self._trace(completion.trace)
        return Row(
            index=planned.index,
            item=self._ids[planned.item],
            arm=planned.arm,
            draw=planned.draw,
            half=self._halves[planned.item],
            columns=columns,
            request_sha256=asked.request_sha256[planned.item],
            endpoint=asked.endpoint[planned.item],
            started_at=completion.started_at,
            ms=completion.ms,
            status=completion.status,
            text_sha256=judged.text_sha256 if judged else None,
            parsed_sha256=judged.parsed_sha256 if judged else None,
            raw_head=self._head(completion.output) if broke else None,
            error_head=self._head(completion.error) if self._keep != "none" else None,
            finish_reason=self._short(completion.finish_reason),
            usage=completion.usage,
            served_model=self._short(completion.served_model),
            fingerprint=self._short(completion.fingerprint),
            response_id=self._head(completion.response_id),
            body_sha256=completion.body_sha256,
            cache_hit=self._short(completion.cache_hit),
            retry_after=self._short(completion.retry_after_raw),
            trace=trace,
            trace_length=trace_length,
            counters=completion.counters or None,
            polls=completion.polls or None,
            retries=completion.retries or None,
        )

    def lines(self, planned: Planned, completion: Completion, judged: Judged | None) -> tuple[bytes, bytes]:
        """The line of the journal, and that of `texts.jsonl`, empty where nothing is kept."""
        text = self.text(planned, completion)
        return line_of(row_to_json(self.row(planned, completion, judged))), b"" if text is None else line_of(text)

    def judged(self, draw: Draw, judged: Judged) -> Row:
        """The row of a draw that was judged after it was kept. Raises ValueError as `judged_row` does."""
        return judged_row(draw, self._clean(judged.columns), judged.text_sha256, judged.parsed_sha256)

    def text(self, planned: Planned, completion: Completion) -> dict[str, Any] | None:
        """The line of `texts.jsonl`, or None where nothing is kept."""
        if self._keep == "none" or completion.output is None:
            return None
        kept = self._redact(completion.output)
        place = {"index": planned.index, "item": self._ids[planned.item], "arm": planned.arm, "draw": planned.draw}
        return place | {"text": kept if self._keep == "full" else kept[:HEAD]}

    def _head(self, text: str | None) -> str | None:
        return self._redact(text)[:HEAD] if text is not None else None

    def _short(self, text: str | None) -> str | None:
        return self._word(text) if text is not None and len(text) <= NAME else self._head(text)

    def _clean(self, columns: Columns) -> Columns:
        contract, check = self._short(columns.contract_reason), self._short(columns.check_reason)
        if contract == columns.contract_reason and check == columns.check_reason:
            return columns
        return replace(columns, contract_reason=contract, check_reason=check)

    def _trace(self, trace: Json) -> tuple[Json, int | None]:
        """What is kept of a trace, and how long the whole one is where that is not all of it."""
        if self._keep == "none":
            return None, None
        whole, text = trace, canonical.dumps(trace)
        if self._redact(text) != text:
            whole = self.deep(trace)
            text = canonical.dumps(whole)
        most = TRACE if self._keep == "full" else HEAD
        return (whole, None) if len(text) <= most else (text[:most], len(text))

    def deep(self, value: Json) -> Json:
        """The value without secrets in its texts and keys."""
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, Mapping):
            return {self._redact(key): self.deep(held) for key, held in value.items()}
        if isinstance(value, Sequence):
            return [self.deep(held) for held in value]
        return value
