"""How long GitHub wants us to wait, read from its headers. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

FIRST_S = 60.0
"""Where no header says how long: one minute, doubling."""
_LIMITED = re.compile(r"rate limit|abuse detection|submitted too quickly", re.IGNORECASE)
_SECONDS = re.compile(r"\d{1,12}", re.ASCII)


def limited(status: int, headers: Mapping[str, str], message: str) -> bool:
    """Is this reply a primary or secondary rate limit? A 403 of the last call of an hour may still be about permissions."""
    if status == 429:
        return True
    if status == 422:
        return bool(_LIMITED.search(message))
    if status != 403 or "not accessible" in message:
        return False
    return bool(_LIMITED.search(message)) or "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"


def wait_s(headers: Mapping[str, str], *, now: float, earlier: int) -> float:
    """Seconds until the next try, at least one: Retry-After, else the reset of a spent limit, else a minute doubling.

    `now` in seconds since 1970; a Date header corrects it where our clock and GitHub's differ. `earlier` waits were in vain.
    """
    asked = retry_after_s(headers, now=now)
    reset = headers.get("x-ratelimit-reset", "")
    if asked is None and headers.get("x-ratelimit-remaining") == "0" and _SECONDS.fullmatch(reset):
        asked = int(reset) - _server_time(headers, now) + 1.0
    return max(1.0, FIRST_S * 2.0**earlier if asked is None else asked)


def retry_after_s(headers: Mapping[str, str], *, now: float) -> float | None:
    """The Retry-After header in seconds, from a number or a date; None without one that can be read."""
    value = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    until = _date(value)
    return None if until is None else until - _server_time(headers, now)


def _server_time(headers: Mapping[str, str], now: float) -> float:
    said = _date(headers.get("date", ""))
    return now if said is None else said


def _date(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
