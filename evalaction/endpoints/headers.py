"""What the headers of a reply say besides the body: how long to wait, whether a cache answered, how often it was tried."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

MAX_RAW = 200

_SECONDS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")
_FROM_CACHE = {"hit", "semantic hit", "stale", "revalidated", "updating"}

CACHE_STATUS = (
    "x-cache",  # CDNs ("Hit from cloudfront", "HIT, MISS"), Envoy, Squid
    "x-cache-status",  # nginx
    "cf-cache-status",  # Cloudflare
    "cf-aig-cache-status",  # Cloudflare AI Gateway
    "x-vercel-cache",
    "helicone-cache",
    "x-portkey-cache-status",
    "x-openrouter-cache-status",
    "x-ai-cache-status",  # Apache APISIX ("HIT-L1", "HIT-L2")
    "akamai-cache-status",  # "Hit from child", "RefreshHit from child"
)
"""Headers that a cache answered when one of their values is, or starts with, HIT (or another word for a stored reply)."""
_RFC_9211 = "cache-status"
_TELLING = {*CACHE_STATUS, _RFC_9211, "x-litellm-cache-key", "x-litellm-cache-hit", "age"}
_HIT_9211 = re.compile(r";\s*hit\s*(?:=\s*\?1\s*)?(?=[;,]|$)")

RETRIES: Mapping[str, int] = MappingProxyType(
    {
        "x-litellm-attempted-retries": 0,  # docs.litellm.ai/docs/proxy/response_headers
        "x-litellm-attempted-fallbacks": 0,
        "x-portkey-retry-attempt-count": 0,  # portkey.ai/docs/api-reference/response-schema: the first attempt is not counted
        "cf-aig-step": 0,  # developers.cloudflare.com/ai-gateway/configuration/fallbacks: 1 is the first fallback
        "x-envoy-attempt-count": 1,  # Envoy's router filter, where include_attempt_count_in_response is set
        "ngrok-aig-attempts": 1,  # ngrok.com/docs/ai-gateway/guides/why-a-request-failed-over
    }
)
"""Headers in which gateways count what they did behind one request: name → the value that means a single attempt."""
_ATTEMPTS = re.compile(r"[0-9]{1,6}")
_WAIT_MS = ("retry-after-ms", "x-ms-retry-after-ms")
"""Read by the clients of OpenAI and of Azure (github.com/Azure/azure-sdk-for-js, core-rest-pipeline, retryStrategies)."""
_MS = re.compile(r"[0-9]{1,12}")


def retry_after(headers: Mapping[str, str]) -> str | None:
    """What a reply asks to wait, as the value of a Retry-After: its own, or what it says in milliseconds."""
    told = headers.get("retry-after")
    in_ms = (headers[name].strip() for name in _WAIT_MS if name in headers)
    if told is None and (wait := next(filter(_MS.fullmatch, in_ms), None)):
        return f"{int(wait) // 1000}.{int(wait) % 1000:03}"
    return told


def retry_after_ms(value: str, now: datetime) -> int | None:
    """Milliseconds that a Retry-After asks to wait, 0 for a past date, None for garbage; a fraction of a second is read too."""
    value = value.strip()
    if _SECONDS.fullmatch(value):
        whole, _, fraction = value.partition(".")
        return int(whole) * 1000 + int(f"{fraction}000"[:3])
    if not value or value[0] not in "MTWFS":
        return None
    from email.utils import parsedate_to_datetime

    try:
        then = parsedate_to_datetime(value[:MAX_RAW])
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        return max(0, round((then - now).total_seconds() * 1000))
    except (ValueError, OverflowError):
        return None


def cache_hit(headers: Mapping[str, str]) -> str | None:
    """The lower-case name of the header that says a stored reply was sent, or None.

    Read are CACHE_STATUS; `Cache-Status` with a `hit` (RFC 9211); `x-litellm-cache-key`, which LiteLLM sends on hits only;
    `x-litellm-cache-hit: true`; and an `Age` above 0, which only caches add (RFC 9111). The provider's own prompt caching is none
    of these: there the reply is new.
    """
    if _TELLING.isdisjoint(headers):
        return None
    for name in CACHE_STATUS:
        if name in headers and any(_stored(word) for word in headers[name].lower().split(",")):
            return name
    if _HIT_9211.search(headers.get(_RFC_9211, "").lower()):
        return _RFC_9211
    if headers.get("x-litellm-cache-key"):
        return "x-litellm-cache-key"
    if headers.get("x-litellm-cache-hit", "").lower() == "true":
        return "x-litellm-cache-hit"
    age = headers.get("age", "")
    return "age" if _SECONDS.fullmatch(age) and age.strip("0.") else None


def hidden_retries(headers: Mapping[str, str]) -> int:
    """How many further attempts the headers of RETRIES admit, taken together; 0 where they say nothing or no number."""
    if RETRIES.keys().isdisjoint(headers):
        return 0
    told = ((headers[name].strip(), once) for name, once in RETRIES.items() if name in headers)
    return sum(max(0, int(value) - once) for value, once in told if _ATTEMPTS.fullmatch(value))


def _stored(word: str) -> bool:
    word = word.strip()
    return word in _FROM_CACHE or word.startswith(("hit", "refreshhit"))
