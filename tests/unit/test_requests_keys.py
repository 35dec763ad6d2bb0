"""Variables: named when missing, refused when they cannot be sent, shown never."""

from __future__ import annotations

from typing import Any

import pytest

from evalaction.endpoints import missing_variables, open_surface, secrets_of
from evalaction.errors import NotRunError, UsageError
from evalaction.method.card import Arm, Card, Draws, Endpoint, ExamRef, Header

KEY = "sk-0123456789abcdef"


def card(*endpoints: Endpoint, treatment: str = "main", control: str | None = None) -> Card:
    return Card(
        protocol="evalaction/1",
        name="n",
        exam=ExamRef(tasks="t.jsonl", data="synthetic"),
        endpoints={one.name: one for one in endpoints},
        treatment=Arm(endpoint=treatment),
        control=Arm(endpoint=control) if control else None,
        draws=Draws(count=1, timeout_ms=1000),
    )


def target(name: str = "main", **fields: Any) -> Endpoint:
    return Endpoint(**({"name": name, "api": "openai", "url": "https://a.example"} | fields))


MAIN = target(
    url=None, url_env="EVAL_URL", key_env="EVAL_KEY", headers=(Header(name="X", env="EVAL_X"), Header(name="Y", value="v"))
)
OTHER = target("other", key_env="OTHER_KEY")


def test_missing_variables_are_named_together() -> None:
    assert missing_variables([MAIN], {}) == ("EVAL_KEY", "EVAL_URL", "EVAL_X")
    assert missing_variables([MAIN, OTHER], {"EVAL_URL": "", "EVAL_KEY": " \n", "EVAL_X": "x"}) == (
        "EVAL_KEY",
        "EVAL_URL",
        "OTHER_KEY",
    )
    assert missing_variables([MAIN], {"EVAL_URL": "u", "EVAL_KEY": "k", "EVAL_X": "x"}) == ()


def test_a_missing_variable_opens_nothing() -> None:
    with pytest.raises(NotRunError, match="EVAL_KEY"):
        open_surface(target(key_env="EVAL_KEY"), environ={"EVAL_KEY": "  "}, files={})


def test_secrets_are_all_variables_that_are_set() -> None:
    environ = {"EVAL_URL": "https://a.example", "EVAL_KEY": KEY, "EVAL_X": "Bearer abcdefgh", "PATH": "/bin"}
    assert secrets_of([MAIN, OTHER], environ) == {
        "EVAL_URL": "https://a.example",
        "EVAL_KEY": KEY,
        "EVAL_X": "Bearer abcdefgh",
        "EVAL_X (token)": "abcdefgh",
    }


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (f"{KEY}\n", "ends with a line break"),
        (f"{KEY}\r\n", "ends with a line break"),
        (f" {KEY}", "white space around"),
        (f"{KEY} ", "white space around"),
        (f"{KEY} {KEY}", "white space in its value"),
        (f"{KEY}\r\nX-Evil: 1", "a line break in its value"),
        (f"{KEY}\t{KEY}", "white space in its value"),
        (f"{KEY}\0", "control or non-ASCII"),
        (f"{KEY}é", "control or non-ASCII"),
        (f"{KEY}\u200b", "control or non-ASCII"),
        (f"{KEY}\x7f", "control or non-ASCII"),
    ],
)
def test_keys_that_cannot_be_sent(value: str, why: str) -> None:
    with pytest.raises(UsageError, match="EVAL_KEY") as caught:
        open_surface(target(key_env="EVAL_KEY"), environ={"EVAL_KEY": value}, files={})
    assert why in caught.value.sentence
    assert "sk-" not in caught.value.sentence


@pytest.mark.parametrize("value", ["a\nb", "a\rb", "a\0b", "é", "a ", "x\n"])
def test_header_values_that_cannot_be_sent(value: str) -> None:
    with pytest.raises(UsageError, match="EVAL_X"):
        open_surface(target(headers=(Header(name="X", env="EVAL_X"),)), environ={"EVAL_X": value}, files={})
    with pytest.raises(UsageError, match="header X"):
        open_surface(target(headers=(Header(name="X", value=value),)), environ={}, files={})


@pytest.mark.parametrize("name", ["", "X Y", "X:", "Ü", "X\r\nY"])
def test_header_names_that_are_none(name: str) -> None:
    with pytest.raises(UsageError, match="not the name of a header"):
        open_surface(target(headers=(Header(name=name, value="v"),)), environ={}, files={})


@pytest.mark.parametrize("url", ["http://a.example", "http://10.0.0.1:8000", "http://localhost.a.example", "http://0.0.0.0"])
def test_a_secret_does_not_go_over_plain_http(url: str) -> None:
    with pytest.raises(UsageError, match="plain http"):
        open_surface(target(url=url, key_env="EVAL_KEY"), environ={"EVAL_KEY": KEY}, files={})
    with pytest.raises(UsageError, match="plain http"):
        open_surface(target(url=url, headers=(Header(name="X", env="EVAL_X"),)), environ={"EVAL_X": KEY}, files={})
    open_surface(target(url=url), environ={}, files={})


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "http://[::1]:8000", "http://localhost", "https://a.example"])
def test_a_secret_may_go_over_https_and_to_loopback(url: str) -> None:
    surface = open_surface(target(url=url, key_env="EVAL_KEY"), environ={"EVAL_KEY": KEY}, files={})
    for thing in (surface, surface.slot()):
        assert KEY not in repr(thing)
        assert url.split("/")[2] not in repr(thing)


def test_exactly_one_address() -> None:
    with pytest.raises(UsageError, match="either url or url_env"):
        open_surface(target(url_env="EVAL_URL"), environ={"EVAL_URL": "https://a.example"}, files={})
    with pytest.raises(UsageError, match="either url or url_env"):
        open_surface(target(url=None), environ={}, files={})


def test_a_bundle_that_cannot_be_read(tmp_path: Any) -> None:
    wrong = tmp_path / "not.pem"
    wrong.write_text("not a certificate")
    for path in (str(wrong), str(tmp_path / "absent.pem"), str(tmp_path)):
        with pytest.raises(UsageError, match="CA bundle"):
            open_surface(target(), environ={}, files={}, ca_bundle=path)
        with pytest.raises(UsageError, match="CA bundle"):
            open_surface(target(), environ={"SSL_CERT_FILE": path}, files={})
