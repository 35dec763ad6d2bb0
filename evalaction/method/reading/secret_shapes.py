"""What a key, a mail address or a phone number looks like: to refuse it in a card, to warn of it in an exam."""

from __future__ import annotations

import re

_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk[-_][A-Za-z0-9_-]{16,}|rk_live_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}|A[KS]IA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}"
    r"|npm_[A-Za-z0-9]{30,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b(?:[Bb]earer|[Bb]asic) [A-Za-z0-9+/=._~-]{16,}"
)
# One of these stands in every match of `_PREFIXED`; looking for them first makes the scan of a large exam three times faster.
_HINTS = (
    "sk-", "sk_", "rk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "AKIA", "ASIA", "AIza",
    "hf_", "gsk_", "npm_", "eyJ", "PRIVATE KEY", "earer ", "asic ",
)  # fmt: skip
_RANDOM = re.compile(r"[A-Za-z0-9]{32,}")
_CREDENTIALS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@]*@")
_QUERY_KEY = re.compile(r"[?&](?:api[-_]?key|key|token|access[-_]?token|secret|password|sig|signature)=[^&#\s]", re.IGNORECASE)
_MAIL = re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])")
_PHONE = re.compile(
    r"(?<![\w+.])(?:"
    r"\+[1-9][0-9]{0,3}[ ./-]?(?:\(0\))?(?:[ ./-]?[0-9]){6,12}|\([0-9]{3}\) ?[0-9]{3}-[0-9]{4}|[0-9]{3}-[0-9]{3}-[0-9]{4}"
    r")(?!\w)"
)


def is_key(text: str) -> bool:
    """True where the text holds something shaped like an API key, a token or a private key."""
    return is_prefixed_key(text) or any(_looks_random(run) for run in _RANDOM.findall(text))


def is_prefixed_key(text: str) -> bool:
    """Like `is_key`, but only by the prefixes that providers give their keys."""
    return any(hint in text for hint in _HINTS) and _PREFIXED.search(text) is not None


def has_credentials(text: str) -> bool:
    """True for an address that carries a user, a password or a key in its query."""
    return _CREDENTIALS.search(text) is not None or ("://" in text and _QUERY_KEY.search(text) is not None)


def has_mail_address(text: str) -> bool:
    return "@" in text and _MAIL.search(text) is not None


def has_phone_number(text: str) -> bool:
    return _PHONE.search(text) is not None


def _looks_random(run: str) -> bool:
    """A long run that mixes cases and digits; digests in hex do not."""
    digits = sum(character.isdigit() for character in run)
    upper = sum(character.isupper() for character in run)
    lower = len(run) - digits - upper
    return digits >= 3 and upper >= 3 and lower >= 3 and len(set(run)) >= 16
