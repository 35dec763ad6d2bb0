"""Every exit code for real: the sentence, the report that is left, and no call where there must be none."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.command import KEY, Make, Project, Serve, exam, files_of, gated, paired, sums_hold
from support.endpoint_server import EndpointServer, chat, fault, response

from evalaction.cli.handler import run_command
from evalaction.cli.world import World
from evalaction.errors import EXIT_CODES, Outcome
from evalaction.registration.lock import lock


@pytest.fixture
def make(make: Make) -> Make:
    """What a command decides is the point here, and not how it is started."""
    return partial(make, own_process=False)


REFUSED = {
    "SHA256SUMS", "badge.json", "comment.md", "junit.xml", "manifest.json", "report.html", "results.json", "summary.md",
}  # fmt: skip


def assert_refused(project: Project, outcome: Outcome, code: str, *words: str, to: str = "run", **how: Any) -> None:
    """The run is refused: exit code, sentence on stderr, nothing on stdout, a whole report and no rows."""
    done = project.run(to=to, **how)
    assert done.code == EXIT_CODES[outcome], done.said
    assert done.out == ""
    for word in (*words, f"({done.code})", f"Report: {project.root / to / 'comment.md'}"):
        assert word in done.err
    folder = project.root / to
    assert set(files_of(folder)) == REFUSED and sums_hold(folder)
    results = project.results(to)
    assert results["outcome"] == outcome.value and results["exit_code"] == done.code
    assert results["verdict"]["breaks"][0]["code"] == code
    assert results["counts"] == {"planned": 0, "sent": 0, "written": 0} and results["arms"] == []


USAGE: Mapping[str, tuple[dict[str, Any], str, str]] = {
    "budget calls": ({"budget.calls": 7}, "budget", "budget.calls is 7 calls and the worst case of this run is 8 calls"),
    "budget tokens": ({"budget.tokens": 10}, "budget", "Not even one draw of every item fits"),
    "allowance": ({"record.allowance": 7}, "budget", "record.allowance is 7 calls"),
}


@pytest.mark.parametrize("name", USAGE)
def test_a_run_that_does_not_fit_is_a_mistake_of_usage(make: Make, server: EndpointServer, name: str) -> None:
    changes, code, words = USAGE[name]
    assert_refused(make(gated(2, changes), url=server.url), Outcome.USAGE, code, "cannot start", words)
    assert server.count == 0


CARDS: Mapping[str, tuple[bytes, str]] = {
    "not YAML": (b"protocol: evalaction/1\nname: [x\n", "card.yaml:3:1: this is not YAML"),
    "unknown key": (cards.text(gated(2, {"retries": 3})), "retries"),
    "duplicate key": (b"protocol: evalaction/1\nname: a\nname: b\n", "card.yaml:3:1"),
    "no count": (cards.text(gated(0)), "draws.count"),
    "negative count": (cards.text(gated(-1)), "draws.count"),
    "text for a number": (cards.text(gated(2, {"draws.timeout_ms": "20 s"})), "draws.timeout_ms"),
    "misspelt api": (cards.text(gated(2, {"endpoints.main.api": "opnai"})), "endpoints.main.api"),
    "unknown endpoint": (cards.text(gated(2, {"arms.treatment.endpoint": "mian"})), "mian"),
    "flip of one draw": (cards.text(gated(1, {"limits.max_flip_rate": 0.1})), "max_flip_rate"),
    "a key in the card": (cards.text(gated(2, {"endpoints.main.headers": {"Authorization": f"Bearer {KEY}"}})), "variable"),
}


@pytest.mark.parametrize("name", CARDS)
def test_a_card_that_cannot_be_used_is_named_with_its_place(make: Make, server: EndpointServer, name: str) -> None:
    data, words = CARDS[name]
    project = make(data, url=server.url, lock=False)
    assert_refused(project, Outcome.USAGE, "usage", "cannot start", "card.yaml:", words)
    assert server.count == 0
    assert KEY not in b"".join(files_of(project.root / "run").values()).decode()


EXAMS: Mapping[str, tuple[bytes, str]] = {
    "empty": (b"", "tasks.jsonl"),
    "blank lines": (b"\n\n\n", "tasks.jsonl"),
    "a list": (b"[]\n", "tasks.jsonl:1"),
    "misspelt checker": (cards.jsonl([{"id": "a", "prompt": "x", "cheker": "exact"}]), "`cheker`"),
    "no checker": (cards.jsonl([{"id": "a", "prompt": "x"}]), "tasks.jsonl:1"),
    "unknown checker": (cards.jsonl([{"id": "a", "prompt": "x", "check": {"kind": "exakt", "value": "x"}}]), "exakt"),
    "duplicate ids": (cards.jsonl([cards.item(1), cards.item(2), cards.item(1)]), "tasks.jsonl:3"),
    "one and the same number": (cards.jsonl([cards.item(1, id="1"), cards.item(2, id=1)]), "tasks.jsonl:2"),
    "composed and decomposed": (cards.jsonl([cards.item(1, id="é"), cards.item(2, id="é")]), "tasks.jsonl:2"),
    "byte order mark": (b"\xef\xbb\xbf" + cards.exam_text(2), "byte order mark"),
    "UTF-16": (cards.exam_text(2).decode().encode("utf-16"), "UTF-16"),
    "a broken schema": (cards.jsonl([cards.item(1, schema={"type": "strin"})]), "tasks.jsonl:1"),
    "a broken pattern": (cards.jsonl([{"id": "a", "prompt": "x", "check": {"kind": "regex", "pattern": "("}}]), "tasks.jsonl:1"),
}


@pytest.mark.parametrize("name", EXAMS)
def test_an_exam_that_cannot_be_asked_never_passes(make: Make, server: EndpointServer, name: str) -> None:
    """An exam of nothing, or one that is not checked, must not end green: inspect_ai#2314, braintrustdata/eval-action#47,
    hassanhabib/The-Standard-Agent#359, pinecone-io/cultivar#9, sgl-project/sgl-eval#39, promptfoo#3629, genkit#1511,
    promptfoo#2230."""
    data, words = EXAMS[name]
    project = make(files=exam() | {"tasks.jsonl": data}, url=server.url, lock=False)
    code = {"a broken schema": "bad_schema", "a broken pattern": "bad_pattern"}.get(name, "usage")
    assert_refused(project, Outcome.USAGE, code, "cannot start", words)
    assert server.count == 0


def test_a_mistake_in_a_file_has_a_path_that_opens_from_where_the_user_is(make: Make) -> None:
    """The card names its files from its own folder; the user may stand above it, in it or elsewhere."""
    project = make(cards.text(gated(2)), {f"eval/{name}": data for name, data in exam(3).items()}, lock=False)
    (project.root / "card.yaml").rename(project.root / "eval" / "card.yaml")
    tasks = project.root / "eval" / "tasks.jsonl"
    tasks.write_bytes(tasks.read_bytes() + b"{'id': 1}\n")
    assert "\n  eval/tasks.jsonl:4:2: this is not JSON" in project("lock", "eval/card.yaml").err
    assert "\n  tasks.jsonl:4:2: this is not JSON" in project("lock", cwd=project.root / "eval").err
    (project.root / "other").mkdir()
    assert "\n  ../eval/tasks.jsonl:4:2: " in project("lock", "../eval/card.yaml", cwd=project.root / "other").err
    assert "\n  ../eval/tasks.jsonl:4:2: " in project.run("--rehearse", "../eval/card.yaml", cwd=project.root / "other").err


def test_a_card_that_is_not_there(make: Make, server: EndpointServer) -> None:
    """A wrong path is not a run of nothing: inspect_ai#2314."""
    project = make(url=server.url)
    for command in ("lock", "verify", "plan", "probe", "run"):
        done = project(command, "nope.yaml")
        assert done.code == 2 and "nope.yaml" in done.err, done.said
    assert project("verify", "no/such/folder/card.yaml").code == 2
    assert server.count == 0


def test_outside_a_repository(tmp_path: Path, make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("card.yaml", *exam()):
        (bare / name).write_bytes((project.root / name).read_bytes())
    done = project.run(cwd=bare)
    assert done.code == 2 and "not in a git repository" in done.err and "run --rehearse" in done.err
    assert server.count == 0
    assert project.run("--rehearse", cwd=bare, to="rehearsal").code == 0
    assert server.count == 8


UNREGISTERED: Mapping[str, tuple[str, bytes, str]] = {
    "an edited prompt": ("prompt.md", b"Be long.\n", "prompt.md has edits that are not committed"),
    "an edited exam": ("tasks.jsonl", cards.exam_text(5), "tasks.jsonl has edits that are not committed"),
    "line endings": ("prompt.md", b"Be brief.\r\n", "differs from the commit only in its line endings"),
}


@pytest.mark.parametrize("name", UNREGISTERED)
def test_what_was_frozen_has_moved(make: Make, server: EndpointServer, name: str) -> None:
    path, data, words = UNREGISTERED[name]
    project = make(url=server.url)
    (project.root / path).write_bytes(data)
    code = "line_endings" if "endings" in words else "uncommitted"
    assert_refused(project, Outcome.UNREGISTERED, code, "not registered", words)
    done = project("verify")
    assert done.code == 4 and f"{code}: {path}" in done.out
    assert server.count == 0


def test_a_committed_exam_that_was_not_locked(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    project.repo.commit({"tasks.jsonl": cards.exam_text(5)})
    assert_refused(project, Outcome.UNREGISTERED, "hash_mismatch", "exam.sha256 in the card is not")
    assert project("lock").code == 0 and project("verify").code == 4
    project.repo.commit()
    assert project("verify").code == 0
    assert server.count == 0


def test_another_runner_than_the_card_demands(make: Make, server: EndpointServer) -> None:
    project = make(gated(2, {"runner.image_os": "ubuntu24"}), url=server.url)
    assert_refused(project, Outcome.UNREGISTERED, "runner_differs", "image_os ubuntu24")
    assert server.count == 0
    assert project.run(env={"ImageOS": "ubuntu24"}).code == 0


def test_another_commit_than_the_job_was_started_for(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    env = {"GITHUB_ACTIONS": "true", "GITHUB_SHA": "1" * 40}
    assert_refused(project, Outcome.UNREGISTERED, "head_moved", "HEAD is", env=env)
    assert server.count == 0


@pytest.mark.parametrize("value", [None, "", "  "], ids=["unset", "empty", "blank"])
def test_missing_secrets_are_not_run_and_never_green(make: Make, server: EndpointServer, value: str | None) -> None:
    """Where a fork has no secrets nothing may look like a defect or like a pass: garrytan/gstack#2323."""
    project = make(url=server.url)
    remedy = "EVAL_KEY; set them (an endpoint that needs no key has no `key_env`). Nothing was drawn."
    assert_refused(project, Outcome.NOT_RUN, "secrets_missing", remedy, env={"EVAL_KEY": value})
    assert "NOT RUN · ⏸️" in project.comment()
    assert project("probe", env={"EVAL_KEY": value}).code == 6
    assert server.count == 0


UNUSABLE = {
    "key with a line break": ("EVAL_KEY", KEY + "\n", "EVAL_KEY ends with a line break"),
    "key with a header in it": ("EVAL_KEY", KEY + "\r\nX-Evil: 1", "EVAL_KEY has a line break in its value"),
    "key with a space": ("EVAL_KEY", f"Bearer {KEY}", "EVAL_KEY has white space in its value"),
    "address of another kind": ("EVAL_URL", "ftp://model.example/v1", "EVAL_URL must begin with https:// or http://"),
    "key over plain http": ("EVAL_URL", "http://model.example/v1", "would send a secret over plain http"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_address_or_key_that_cannot_be_used(make: Make, server: EndpointServer, name: str) -> None:
    """A key as secrets stores hand it out, with a newline at its end: garrytan/gstack#2323, actions/ai-inference."""
    variable, value, words = UNUSABLE[name]
    project = make(url=server.url)
    assert_refused(project, Outcome.USAGE, "usage", "cannot start", words, env={variable: value})
    assert server.count == 0
    assert KEY not in b"".join(files_of(project.root / "run").values()).decode()


def test_refusals_come_in_the_order_of_the_method(make: Make, server: EndpointServer) -> None:
    """Everything is wrong at once; one thing after the other is put right. Usage, registration, budget, halves, secrets."""
    changes = {"sign.claim": "differ", "budget.calls": 1, "runner.image_os": "ubuntu24", "nonsense": 1}
    project = make(paired(1, changes), exam(40), url=server.url, lock=False)
    sound = (project.root / "card.yaml").read_bytes()
    env: dict[str, str | None] = {"EVAL_KEY": None}
    steps: list[tuple[bytes, bytes, dict[str, str], int, str]] = [
        (b"", b"", {}, 2, "nonsense"),
        (b',\n  "nonsense": 1', b"", {}, 4, "runner_differs"),
        (b"", b"", {"ImageOS": "ubuntu24"}, 2, "budget.calls"),
        (b'"calls": 1', b'"calls": 100', {}, 5, "below_min_items"),
        (b'"claim": "differ"', b'"claim": "none"', {}, 6, "secrets_missing"),
        (b"", b"", {"EVAL_KEY": KEY}, 0, "measured, nothing gated"),
    ]
    for old, new, more, code, words in steps:
        assert old in sound
        sound = sound.replace(old, new) if old else sound
        env |= more
        if old:
            (project.root / "card.yaml").write_bytes(sound)
            lock(project.root / "card.yaml")
            sound = (project.root / "card.yaml").read_bytes()
            project.repo.commit()
        before = server.count
        done = project.run(env=env)
        assert (done.code, words in done.said) == (code, True), done.said
        assert (server.count - before > 0) is (code == 0)


def test_a_breached_limit_fails(make: Make, serve: Serve) -> None:
    server = serve(lambda received: response(chat("no idea", number=received.number)))
    project = make(url=server.url)
    done = project.run()
    assert (done.code, server.count) == (1, 8)
    assert "✗ support-triage: min_stable_pass of treatment is breached" in done.out
    assert project("score", "run").code == 1
    assert project("report", "run").code == 0, "report prints, it does not judge"


def test_a_dead_endpoint_is_unreachable(make: Make, serve: Serve) -> None:
    """A bad key or a dead host must end red without a pipe in the way: i-dot-ai/themefinder#119."""
    for behaviour, reason in (
        (lambda received: fault("reset"), "reset"),
        (lambda received: response({"error": {"message": "bad key"}}, status=401), "status:401"),
    ):
        server = serve(behaviour)
        project = make(url=server.url)
        done = project.run()
        assert (done.code, server.count) == (7, 4) and f"{reason} × 4" in done.out
        assert project("probe").code == 7


def test_a_key_that_is_a_word_of_our_own_files_is_reported_and_nothing_is_shown(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    done = project.run(env={"EVAL_KEY": "Measured"})
    assert done.code == 3 and done.out == ""
    assert "nothing is shown (3)" in done.err and "EVAL_KEY" in done.err and "use a longer one" in done.err
    assert not {"comment.md", "results.json", "summary.md"} & set(files_of(project.root / "run"))


def test_a_bug_of_ours_is_named_as_one(tmp_path: Path) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise RuntimeError("a fault that was put in")

    err = io.StringIO()
    code = run_command(["selfcheck"], World(environ={}, out=Broken(), err=err, cwd=tmp_path))
    assert code == 3
    assert "internal error (3), this is a bug of ours: RuntimeError" in err.getvalue()
    assert "a fault that was put in" in err.getvalue(), "the trace is for the report of the bug"


FLAGS = {
    "no command": ([], "COMMAND"),
    "unknown command": (["judge"], "judge"),
    "unknown flag": (["run", "--retry", "3"], "--retry"),
    "an abbreviated flag": (["run", "--resum"], "--resum"),
    "resume without a folder": (["run", "--resume"], "--run-dir"),
    "unknown format": (["report", "run", "--format", "xml"], "xml"),
    "no share": (["plan", "--assume-lost", "some"], "--assume-lost"),
    "a share over one": (["plan", "--assume-lost", "3"], "--assume-lost"),
    "no such bundle": (["run", "--ca-bundle", "nope.pem"], "The CA bundle nope.pem cannot be read"),
    "no such run": (["score", "nope"], "There is no run folder"),
    "not a run": (["report", "."], "is not a run folder"),
    "a folder in use": (["run", "--run-dir", ".git"], "is not empty"),
    "no run to resume": (["run", "--resume", "--run-dir", "nope"], "There is no run folder"),
}


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_that_cannot_be_meant(make: Make, server: EndpointServer, name: str) -> None:
    arguments, words = FLAGS[name]
    done = make(url=server.url)(*arguments)
    assert done.code == 2 and words in done.err and done.out == ""
    assert server.count == 0


def test_a_run_folder_is_never_written_over(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    assert project.run(env={"EVAL_KEY": None}).code == 6
    assert project.run().code == 0, "a refused run left no rows: its folder may be used"
    held, sent = files_of(project.root / "run"), server.count
    again = project.run()
    assert again.code == 2 and "already holds rows" in again.err and "--resume" in again.err
    refused = project.run(env={"EVAL_KEY": None})
    assert refused.code == 6 and "No report was left" in refused.err
    assert files_of(project.root / "run") == held and server.count == sent


def test_rows_that_were_changed_after_the_run_are_refused(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    assert project.run().code == 0
    rows = project.root / "run" / "rows.jsonl"
    lines = rows.read_text(encoding="utf-8").splitlines(keepends=True)
    first = json.loads(lines[0])
    rows.write_text("".join([json.dumps(first | {"ms": first["ms"] + 1}) + "\n", *lines[1:]]), encoding="utf-8")
    for arguments in (("score", "run"), ("report", "run"), ("report", "run", "--format", "csv")):
        done = project(*arguments)
        assert done.code == 4 and "seal_broken" in done.err and done.out == ""
