"""Headers of a reply: how long to wait, in every form servers write it, and whether a cache answered."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.endpoints.headers import cache_hit, hidden_retries, retry_after, retry_after_ms

NOW = datetime(2026, 1, 5, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        ("7", 7_000),
        (" 7 ", 7_000),
        ("0", 0),
        ("1.5", 1_500),
        ("0.0004", 0),
        ("1000000000", 1_000_000_000_000),
        ("Mon, 05 Jan 2026 12:00:30 GMT", 30_000),
        ("Mon, 05 Jan 2026 12:00:30 +0000", 30_000),
        ("Monday, 05-Jan-26 12:00:30 GMT", 30_000),
        ("Mon Jan  5 12:00:30 2026", 30_000),
        ("Mon, 05 Jan 2026 11:00:00 GMT", 0),
        ("-5", None),
        ("", None),
        ("soon", None),
        ("1e3", None),
        ("nan", None),
        ("inf", None),
        ("٣", None),
        ("1,5", None),
        ("9" * 400, None),
        ("Mon, 99 Jan 2026 12:00:30 GMT", None),
        ("Mon", None),
        ("Mon, 05 Jan 99999999 12:00:30 GMT", None),
    ],
)
def test_retry_after(value: str, ms: int | None) -> None:
    assert retry_after_ms(value, NOW) == ms


@pytest.mark.parametrize(
    ("headers", "value"),
    [
        ({}, None),
        ({"retry-after": "7"}, "7"),
        ({"retry-after": "7", "retry-after-ms": "6500"}, "7"),
        ({"retry-after-ms": "6500"}, "6.500"),
        ({"retry-after-ms": "40"}, "0.040"),
        ({"x-ms-retry-after-ms": " 1000 "}, "1.000"),
        ({"retry-after-ms": "soon", "x-ms-retry-after-ms": "0"}, "0.000"),
        ({"retry-after-ms": "-5"}, None),
        ({"retry-after-ms": "٣"}, None),
        ({"retry-after-ms": "9" * 400}, None),
    ],
)
def test_a_wait_in_milliseconds_is_read_where_there_is_no_other(headers: dict[str, str], value: str | None) -> None:
    assert retry_after(headers) == value
    assert value is None or retry_after_ms(value, NOW) is not None


@given(st.text(max_size=60) | st.text("Mon, 0123456789JanGMT:+-", max_size=40).map(lambda text: f"Mon, {text}"))
def test_any_retry_after_is_a_wait_or_nothing(value: str) -> None:
    wait = retry_after_ms(value, NOW)
    assert wait is None or wait >= 0


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ({}, None),
        ({"x-cache": "HIT"}, "x-cache"),
        ({"x-cache": "Hit from cloudfront"}, "x-cache"),
        ({"x-cache": "MISS, HIT"}, "x-cache"),
        ({"x-cache": "Miss from cloudfront"}, None),
        ({"x-cache": "MISS"}, None),
        ({"x-cache-status": "HIT"}, "x-cache-status"),
        ({"cf-cache-status": "DYNAMIC"}, None),
        ({"cf-cache-status": "REVALIDATED"}, "cf-cache-status"),
        ({"cf-aig-cache-status": "HIT"}, "cf-aig-cache-status"),
        ({"helicone-cache": "HIT"}, "helicone-cache"),
        ({"x-portkey-cache-status": "SEMANTIC HIT"}, "x-portkey-cache-status"),
        ({"x-portkey-cache-status": "SEMANTIC MISS"}, None),
        ({"x-openrouter-cache-status": "HIT"}, "x-openrouter-cache-status"),
        ({"x-litellm-cache-key": "abc"}, "x-litellm-cache-key"),
        ({"x-litellm-cache-key": ""}, None),
        ({"x-litellm-cache-hit": "True"}, "x-litellm-cache-hit"),
        ({"x-litellm-cache-hit": "False"}, None),
        ({"x-ai-cache-status": "HIT-L2"}, "x-ai-cache-status"),
        ({"x-ai-cache-status": "BYPASS"}, None),
        ({"akamai-cache-status": "RefreshHit from child"}, "akamai-cache-status"),
        ({"akamai-cache-status": "Miss from child, Miss from parent"}, None),
        ({"cache-status": "ExampleCache; hit; ttl=30"}, "cache-status"),
        ({"cache-status": 'A; fwd=miss; stored, "B C";hit'}, "cache-status"),
        ({"cache-status": "ExampleCache;hit=?1"}, "cache-status"),
        ({"cache-status": "ExampleCache; hit=?0"}, None),
        ({"cache-status": "hit; fwd=uri-miss; detail=hitless"}, None),
        ({"age": "12"}, "age"),
        ({"age": "0"}, None),
        ({"age": "old"}, None),
    ],
)
def test_cache_hits(headers: dict[str, str], name: str | None) -> None:
    assert cache_hit(headers) == name


@pytest.mark.parametrize(
    ("headers", "retries"),
    [
        ({}, 0),
        ({"x-litellm-attempted-retries": "0", "x-litellm-attempted-fallbacks": "0"}, 0),
        ({"x-litellm-attempted-retries": "2", "x-litellm-attempted-fallbacks": "1"}, 3),
        ({"x-portkey-retry-attempt-count": "0"}, 0),
        ({"x-portkey-retry-attempt-count": " 3 "}, 3),
        ({"x-envoy-attempt-count": "1"}, 0),
        ({"x-envoy-attempt-count": "4"}, 3),
        ({"x-envoy-attempt-count": "0"}, 0),
        ({"ngrok-aig-attempts": "3"}, 2),
        ({"cf-aig-step": "0"}, 0),
        ({"cf-aig-step": "1"}, 1),
        ({"x-envoy-attempt-count": "-1"}, 0),
        ({"x-envoy-attempt-count": "many"}, 0),
        ({"x-envoy-attempt-count": "٣"}, 0),
        ({"x-envoy-attempt-count": "9" * 4_400}, 0),
        ({"x-litellm-max-retries": "2", "cf-aig-max-attempts": "5"}, 0),
    ],
)
def test_attempts_that_a_gateway_admits(headers: dict[str, str], retries: int) -> None:
    assert hidden_retries(headers) == retries
