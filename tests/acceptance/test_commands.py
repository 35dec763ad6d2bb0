"""The commands on a run that goes well: what they say, what they leave, and that it can be derived again anywhere."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import jsonschema
from support import cards
from support.command import DERIVED, KEY, Make, Serve, digest, evalaction, exam, files_of, gated, paired, right, sums_hold
from support.endpoint_server import Answer, EndpointServer, Received, chat, response

from evalaction import schemas

SHOWN = {"results.json", "comment.md", "summary.md", "report.html", "junit.xml", "badge.json", "SHA256SUMS"}
WRITTEN = {"manifest.json", "requests.jsonl", "rows.jsonl", "texts.jsonl", "rows.csv"} | SHOWN


def test_lock_writes_the_hashes_and_nothing_else(make: Make) -> None:
    card = cards.text(gated(2))
    project = make(card, lock=False)
    done = project("lock")
    assert done.code == 0 and done.err == ""
    assert f"exam.sha256: none → {digest((project.root / 'tasks.jsonl').read_bytes())}" in done.out
    written = json.loads((project.root / "card.yaml").read_bytes())
    assert {name: value for name, value in written["exam"].items() if "sha256" not in name} == json.loads(card)["exam"]
    before = (project.root / "card.yaml").read_bytes()
    again = project("lock")
    assert again.code == 0 and "locked already; nothing changed" in again.out
    assert (project.root / "card.yaml").read_bytes() == before


def test_verify_says_what_was_compared(make: Make) -> None:
    project = make()
    done = project("verify")
    assert done.code == 0 and done.err == ""
    assert done.out.startswith(f"commit {project.repo.git('rev-parse', 'HEAD')}\n")
    for path in ("card.yaml", "tasks.jsonl", "prompt.md"):
        short = digest((project.root / path).read_bytes())[:12]
        assert [line.split()[-2:] for line in done.out.splitlines() if path in line] == [[short, short]]
    assert done.out.endswith("registered: 4 items, 1 arm\n")
    assert project("verify", "--check-twice").out.endswith("nothing was judged twice: no item has a reference\n")


def test_probe_sends_one_prompt_that_is_not_of_the_exam_to_each_endpoint(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    done = project("probe")
    assert (done.code, server.count) == (0, 1)
    assert "reach yes · contract yes · check no" in done.out and "never a result" in done.out
    assert not (project.root / "runs").exists()
    assert "Say " not in server.requests[0].body.decode()
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}" and KEY not in done.said


def test_git_takes_no_reply_along(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    project("run")
    assert project.repo.git("status", "--porcelain") == ""
    assert [path.name for path in (project.root / "runs").glob("*/rows.jsonl")] == ["rows.jsonl"]
    (project.root / "runs/.gitignore").unlink()  # somebody's own decision
    project("run")
    assert project.repo.git("status", "--porcelain").endswith("?? runs/")


def test_a_run_leaves_everything_it_says(make: Make, server: EndpointServer) -> None:
    project = make(paired(2), exam(30), url=server.url)
    done = project("run", "--run-dir", "run")
    assert (done.code, server.count) == (0, 120)
    assert done.err.splitlines()[0] == "120 calls planned" and "120 of 120 draws written, 120 sent" in done.err
    assert done.out.rstrip().endswith(f"Run folder: {project.root / 'run'}")
    folder = project.root / "run"
    assert set(files_of(folder)) == WRITTEN and sums_hold(folder)
    assert len(project.rows()) == 120
    assert KEY not in b"".join(files_of(folder).values()).decode()
    jsonschema.validate(project.results(), schemas.load("results"))


def test_every_form_of_a_report_is_printed(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    ran = project.run()
    folder = project.root / "run"
    for form, file in (("markdown", "comment.md"), ("summary", "summary.md"), ("json", "results.json"), ("csv", "rows.csv")):
        printed = project("report", "run", "--format", form)
        assert (printed.code, printed.err) == (0, "")
        assert printed.out.replace("\r\n", "\n") == (folder / file).read_bytes().decode().replace("\r\n", "\n")
    text = project("report", "run").out
    assert ran.out.startswith(text)
    rows = list(csv.DictReader(io.StringIO((folder / "rows.csv").read_bytes().decode())))
    assert len(rows) == 8 and {row["verdict"] for row in rows} == {"pass"}


def odd(received: Received) -> Answer:
    """Right, wrong, not JSON at all, lost: something of everything."""
    number = int(right(received))
    if number % 7 == 3 and received.number % 2:
        return response({"error": {"message": "overloaded"}}, status=503)
    return response(chat("never" if number % 5 == 4 else right(received), number=received.number))


def derived(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in files_of(folder).items() if name in DERIVED}


def test_score_derives_the_same_bytes_anywhere(make: Make, serve: Serve, tmp_path: Path) -> None:
    server = serve(odd)
    relaxed = {"validity": {"max_transport_error_rate": 0.5, "min_scored_fraction": 0.5}}
    project = make(paired(2, relaxed), exam(30), url=server.url)
    ran = project.run()
    assert ran.code == 0
    folder = project.root / "run"
    before = derived(folder)
    sent = server.count
    for name in before:
        (folder / name).unlink()
    scored = project("score", "run", env={"EVAL_URL": None, "EVAL_KEY": None})
    assert scored.code == ran.code and ran.out.startswith(scored.out)
    assert derived(folder) == before and sums_hold(folder)

    elsewhere = tmp_path / "an other place" / "copied"
    shutil.copytree(folder, elsewhere)
    for name in before:
        (elsewhere / name).unlink()
    env = {"TZ": "Pacific/Auckland", "LC_ALL": "C", "PYTHONHASHSEED": "4242", "COLUMNS": "40"}
    assert evalaction("score", str(elsewhere), cwd=tmp_path, env=env).code == ran.code
    assert derived(elsewhere) == before and sums_hold(elsewhere)
    assert server.count == sent, "scoring asks nobody"


def test_a_refused_run_is_scored_to_the_same_bytes_too(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    assert project.run(env={"EVAL_KEY": None}).code == 6
    before = derived(project.root / "run")
    jsonschema.validate(project.results(), schemas.load("results"))
    scored = project("score", "run")
    assert scored.code == 6 and derived(project.root / "run") == before and server.count == 0


def test_a_rehearsal_is_titled_unsealed_and_needs_no_commit(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    (project.root / "prompt.md").write_bytes(b"Not committed.\n")
    done = project.run("--rehearse")
    assert (done.code, server.count) == (0, 8)
    assert "REHEARSAL · ○" in done.out.splitlines()[0] and "REHEARSAL" in project.comment()
    assert "✅" not in project.comment() and '"seal"' not in (project.root / "run" / "rows.jsonl").read_text(encoding="utf-8")
    assert '"Not committed.\\n"' in server.requests[0].body.decode()
    jsonschema.validate(project.results(), schemas.load("results"))


def test_selfcheck_compares_everything_that_was_published(tmp_path: Path) -> None:
    done = evalaction("selfcheck", cwd=tmp_path)
    assert done.code == 0 and done.err == ""
    lines = done.out.splitlines()
    assert lines[-1] == f"{len(lines) - 2} of {len(lines) - 2} values as published"
    assert all(line.startswith("ok ") for line in lines[1:-1]) and max(map(len, lines)) <= 100
    assert "746778f6ff24" in done.out and "6ac8d7238982" in done.out and "synthetic" in lines[0]


def test_demo_shows_the_main_job_and_ends_with_zero(tmp_path: Path) -> None:
    done = evalaction("demo", "--keep", "kept", cwd=tmp_path, env={"HOME": str(tmp_path), "EVAL_KEY": None})
    assert done.code == 0
    for words in ("evalaction lock", "evalaction plan", "840 calls", "SYNTHETIC · ❌ support-triage", "the job would end with 1"):
        assert words in done.out
    assert sums_hold(tmp_path / "kept" / "run")
    again = evalaction("demo", "--keep", "kept", cwd=tmp_path)
    assert again.code == 2 and "exists already" in again.err
    report = evalaction("report", "kept/run", cwd=tmp_path)
    assert report.code == 0 and report.out.startswith("SYNTHETIC · ✗ support-triage: treatment is behind")


def test_the_published_schema_accepts_every_card_that_is_shown() -> None:
    from evalaction.method.cards.parse import parse_card

    root = Path(__file__).parents[2]
    shown = [*root.glob("examples/*/card.yaml"), root / "evalaction/data/demo/card.yaml"]
    assert len(shown) >= 6
    for path in shown:
        parse_card(path.read_bytes(), file=path.name, schema=schemas.load("card"))
    schema = schemas.load("card")
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for card in (gated(2), paired(3), cards.two_arms(), cards.SMALLEST):
        validator.validate(card)
    assert not validator.is_valid(gated(2, {"retries": 3})) and not validator.is_valid(gated(0))


def test_a_plan_of_one_draw_speaks_of_that_draw(make: Make) -> None:
    planned = make(gated(1, {"limits": {"min_first_pass": 0.5}}))("plan").out
    assert "3.0 % of the draws do not arrive, 3.0 % of the items lose their draw\n" in planned
