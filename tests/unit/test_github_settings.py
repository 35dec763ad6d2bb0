"""The action's inputs: defaults, strictness, one sentence a mistake, and nothing of a token in any of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.errors import Outcome, UsageError
from evalaction.github.settings import FAIL_ON, Settings, read_settings, variable

INPUTS = (
    "card", "mode", "github-token", "comment", "comment-key", "base", "question", "redraw", "fail-on",
    "on-missing-secrets", "shard",
    "run-dir", "history", "issue-on-breakage", "changed-only", "ca-bundle", "allow-unsafe-execution",
)  # fmt: skip


def read(**inputs: str) -> Settings:
    return read_settings({variable(name.replace("_", "-")): value for name, value in inputs.items()})


def test_nothing_set_is_the_defaults() -> None:
    found = read_settings({"PATH": "/bin", "EVALACTION_URL": "https://somebody.example"})
    assert found == Settings()
    assert found.card == ("card.yaml",) and found.mode == "run" and found.comment and found.github_token is None
    assert found.fail_on == frozenset(FAIL_ON) and found.on_missing_secrets == "fail" and found.non_default() == {}


def test_every_input_but_the_card_may_be_empty() -> None:
    """`${{ vars.NOT_SET }}` and `${{ inputs.x }}` on another event arrive as empty texts."""
    empty = {variable(name): "" for name in INPUTS if name != "card"}
    assert read_settings({**empty, "EVALACTION_CARD": "card.yaml"}) == Settings()


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t\r\n"])
def test_an_empty_card_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="card is empty"):
        read(card=text)


def test_all_values() -> None:
    found = read(
        card="a/card.yaml\r\n\n  b/*.yaml  \na/card.yaml\n", mode="report", github_token="ghs_abc", comment="false",
        comment_key="nightly",
        base="v1.4", question="base", redraw="TRUE", fail_on="unreachable, fail", on_missing_secrets="skip", run_dir="out/run",
        ca_bundle="/etc/ca.pem", shard="", history="runs/nightly", issue_on_breakage="true",
        changed_only="False",
        allow_unsafe_execution="FALSE",
    )  # fmt: skip
    assert found == Settings(
        card=("a/card.yaml", "b/*.yaml"), mode="report", github_token="ghs_abc",
        comment=False, comment_key="nightly", base="v1.4",
        redraw=True, fail_on=frozenset({Outcome.FAIL, Outcome.UNREACHABLE}), on_missing_secrets="skip", run_dir="out/run",
        ca_bundle="/etc/ca.pem", history="runs/nightly", issue_on_breakage=True,
    )  # fmt: skip
    assert found.non_default() == {"card": "a/card.yaml b/*.yaml", "base": "v1.4", "fail-on": "fail unreachable"}


@pytest.mark.parametrize(
    "name", ["refs/heads/x", "HEAD", "a..b", "-x", "a b", "x.lock", "a//b", "x/", "a~1", "ü", "a:b", "@{1}", "x" * 201]
)
def test_a_history_is_a_plain_branch(name: str) -> None:
    with pytest.raises(UsageError, match="must be the name of a branch"):
        read(history=name)


def test_fail_on() -> None:
    assert read(fail_on="none").fail_on == frozenset()
    assert read(fail_on="none").non_default() == {"fail-on": "none"}
    assert read(fail_on="unreachable not_run inconclusive fail").non_default() == {}
    assert read(fail_on="fail\ninconclusive".replace("\n", " ")).fail_on == frozenset({Outcome.FAIL, Outcome.INCONCLUSIVE})


@pytest.mark.parametrize("text", ["usage", "internal", "unregistered", "pass", "FAIL", "fail|not_run", "none fail", "never", "1"])
def test_fail_on_holds_only_the_four(text: str) -> None:
    with pytest.raises(UsageError, match="fail-on"):
        read(fail_on=text)


def test_whose_question_and_which_cards_stand_in_the_footer() -> None:
    found = read(question="head", changed_only="True")
    assert found.question == "head" and found.changed_only
    assert found.non_default() == {"question": "head", "changed-only": "true"}


def test_inputs_of_a_later_version_are_refused_not_ignored() -> None:
    with pytest.raises(UsageError, match="The input shard is not in this version"):
        read(shard="1/2")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", "Run"), ("mode", "score"), ("comment", "yes"), ("comment", "1"), ("redraw", "no"), ("question", "main"),
        ("issue-on-breakage", "maybe"), ("on-missing-secrets", "ignore"), ("on-missing-secrets", "pass"), ("base", "a\nb"),
        ("base", "\u202emain"), ("comment-key", "x" * 1001), ("run-dir", "a\x00b"), ("ca-bundle", "a\udc80"),
        ("card", "x\n" + "\n".join(map(str, range(200)))),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence_that_names_the_input(name: str, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_settings({variable(name): value})
    assert f"The input {name}" in caught.value.sentence and "\n" not in caught.value.sentence
    assert caught.value.outcome is Outcome.USAGE


@pytest.mark.parametrize(
    "token", ["ghs_secret secret", "ghs_secret\n", "ghs_secret\r\nX-Header: 1", " ghs_secret", "ghs_sécret", "\t"]
)
def test_a_token_that_cannot_be_sent_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(UsageError, match="github-token") as caught:
        read(github_token=token)
    assert "ghs_s" not in str(caught.value)


def test_no_repr_shows_the_token() -> None:
    assert "ghs_abc" not in repr(read(github_token="ghs_abc"))


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from([variable(name) for name in INPUTS]), st.text(max_size=40)))
def test_any_text_is_settings_or_a_usage_error(environ: dict[str, str]) -> None:
    try:
        found = read_settings(environ)
    except UsageError as error:
        assert error.sentence.startswith("The input ")
        assert all(char.isprintable() for char in error.sentence)
    else:
        assert found.card and found.fail_on <= frozenset(FAIL_ON)
