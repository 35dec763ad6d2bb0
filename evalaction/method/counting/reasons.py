"""The grammar of a reason: a word for machines, then perhaps ": " and a detail that may quote the reply or the exam."""

from __future__ import annotations

from dataclasses import replace

from evalaction.method.records import Columns

CUT_BY_LENGTH = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"})
"""Finish reasons, in lower case, of an answer that its length limit cut."""
CUT_BY_FILTER = frozenset({"content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii"})
"""Finish reasons, in lower case, of an answer that the provider's filter cut."""


def code_of(reason: str) -> str:
    """The machine's word: `schema` of `schema: /a: …`, `checker:timeout` of `checker:timeout: over …`, `status:500` as it is."""
    return reason.partition(": ")[0]


def without_details(columns: Columns) -> Columns:
    """The same columns with the bare words: nothing of a reply or of the exam is left in them."""
    return replace(
        columns,
        reach_reason=columns.reach_reason and code_of(columns.reach_reason),
        contract_reason=columns.contract_reason and code_of(columns.contract_reason),
        check_reason=columns.check_reason and code_of(columns.check_reason),
    )
