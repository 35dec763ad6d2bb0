from __future__ import annotations

import pytest

from evalaction.method.reading.secret_shapes import has_credentials, has_mail_address, has_phone_number, is_key, is_prefixed_key


@pytest.mark.parametrize("text", ["jane.doe+x@example.org", "<a@b-c.de>,", "mailto:a@b.co"])
def test_mail_addresses(text: str) -> None:
    assert has_mail_address(f"write to {text} now")


@pytest.mark.parametrize(
    "text", ["a@b", "@name", "a @ b.de", "x@", "decorators: @app.route", "@" * 100_000, "a@" + "b." * 50_000]
)
def test_not_mail_addresses(text: str) -> None:
    assert not has_mail_address(text)


@pytest.mark.parametrize("text", ["+49 170 1234567", "+1-202-555-0143", "(202) 555-0143", "202-555-0143", "+442079460958."])
def test_phone_numbers(text: str) -> None:
    assert has_phone_number(f"call {text}")


@pytest.mark.parametrize(
    "text", ["2026-11-30", "12345678901234", "127.0.0.1", "1 + 2 + 3", "a" + "1" * 20, "5e-2", "+5", "+" * 100_000]
)
def test_not_phone_numbers(text: str) -> None:
    assert not has_phone_number(text)


def test_random_runs_count_as_keys_only_in_cards() -> None:
    random = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"
    assert is_key(random)
    assert not is_prefixed_key(random)
    assert not is_key("0123456789abcdef" * 4)
    assert not is_key("A" * 20 + "a" * 20 + "1" * 20)


@pytest.mark.parametrize(
    "text", ["task-based_evaluation_of_models", "risk-adjusted-long-name-of-a-thing", "ask-me-anything-about-models"]
)
def test_words_with_sk_are_not_keys(text: str) -> None:
    assert not is_key(text)


@pytest.mark.parametrize("url", ["https://a:b@c.de", "postgres://u@h/x", "https://h/x?token=a", "https://h/x?a=1&API_KEY=b"])
def test_credentials(url: str) -> None:
    assert has_credentials(url)


@pytest.mark.parametrize("url", ["https://h/x", "https://h/@user", "mail a@b.de", "https://h/x?keyword=a", "what is ?key=x"])
def test_no_credentials(url: str) -> None:
    assert not has_credentials(url)


PREFIXED = [
    "sk-abcdefghijklmnop", "sk_live_abcdefghijklmnop", "rk_live_abcdefghijklmnop", "gho_abcdefghijklmnopqrst",
    "github_pat_abcdefghijklmnopqrst", "glpat-abcdefghijklmnop", "xoxp-abcdefghij", "AKIAABCDEFGHIJKLMNOP",
    "ASIAABCDEFGHIJKLMNOP", "AIzaabcdefghijklmnopqrstuvwxyzabcd", "hf_abcdefghijklmnopqrst", "gsk_abcdefghijklmnopqrst",
    "npm_" + "a" * 30,
    "eyJabcdefghij.abcdefghij.abcde", "-----BEGIN PRIVATE KEY-----", "Bearer abcdefghijklmnop", "basic abcdefghijklmnop",
]  # fmt: skip


@pytest.mark.parametrize("key", PREFIXED)
def test_prefixed_keys(key: str) -> None:
    assert is_prefixed_key(f"my {key} here")
    assert not is_prefixed_key(f"my {key[:8]} here")
