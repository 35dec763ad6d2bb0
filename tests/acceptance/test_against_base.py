"""`--base` and `--question` of the commands, and what a run against base leaves behind."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from support import cards
from support.changes import against_base
from support.command import KEY, Make, Project, evalaction, exam, files_of, sums_hold
from support.endpoint_server import EndpointServer
from support.programs import best_rung

SIGN = {"claim": "not_behind", "margin": 0.1, "seed": "freeze-me-before-running"}


def changed(make: Make, server: EndpointServer | None = None, **more: Any) -> tuple[Project, str]:
    """A project with a changed prompt, and its base."""
    project = make(
        against_base(more.pop("card", None)),
        more.pop("files", None) or exam(4),
        url=server.url if server else None,
        own_process=False,
    )
    base = project.repo.git("rev-parse", "HEAD")
    project.repo.commit({"prompt.md": b"Be very brief.\n"} if more.get("change") is None else more["change"])
    return project, base


def test_a_card_that_is_judged_against_base_needs_one(make: Make, server: EndpointServer) -> None:
    project, base = changed(make, server)
    refused = project.run()
    assert refused.code == 2 and "--base" in refused.err and server.count == 0
    assert project.run("--base", "nowhere").code == 2 and project.run("--base", "--upload-pack=x").code == 2
    assert "without --base" in project("plan").out
    assert project.run("--base", base).code == 0 and server.count == 16


def test_what_plan_and_verify_say(make: Make) -> None:
    project, base = changed(make)
    planned = project("plan", "--base", base)
    assert planned.code == 0 and "× 2 arms = 16 calls" in planned.out
    assert "run would draw nothing (unchanged)" in project("plan", "--base", "HEAD").out + project("plan", "--base", "main").out
    verified = project("verify", "--base", base)
    assert verified.code == 0 and f"base {base}" in verified.out
    assert "4 of 4 items ask something else than at base (prompt)" in verified.out
    assert "registered: 4 items, 2 arms" in project("verify").out


def test_what_verify_says_of_a_changed_question_and_of_a_new_card(make: Make) -> None:
    project, base = changed(make, change={"card.yaml": cards.text(against_base({"draws.count": 1}))})
    project("lock")
    project.repo.commit()
    said = project("verify", "--base", base).out
    assert "the question changes, and base's is asked: draws.count 2 → 1 (loosened)" in said
    assert "this one is asked" in project("verify", "--base", base, "--question", "head").out
    project.repo.commit({"new.yaml": (project.root / "card.yaml").read_bytes()})
    assert "This card is new" in project("verify", "new.yaml", "--base", base).out


def test_unchanged_leaves_a_folder_that_can_be_used_again(make: Make, server: EndpointServer) -> None:
    project, base = changed(make, server, change={"README.md": b"x"})
    done = project.run("--base", base, env={"EVAL_KEY": None, "EVAL_URL": None})
    assert done.code == 0 and server.count == 0 and "nothing to judge" in done.out
    folder = project.root / "run"
    assert sums_hold(folder) and not (folder / "rows.jsonl").exists()
    assert project.results()["outcome"] == "unchanged"
    lines = [json.loads(line) for line in (folder / "requests.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 8 and lines[0]["sha256"] == lines[1]["sha256"]
    before = files_of(folder)
    assert project("score", "run").code == 0 and files_of(folder) == before
    again = project.run("--base", base, "--history", "kept", to="again")
    assert again.code == 0 and "nothing is added" in again.out
    project.repo.commit({"prompt.md": b"Be very brief.\n"})
    assert project.run("--base", base).code == 0 and server.count == 16
    assert len((folder / "requests.jsonl").read_text(encoding="utf-8").splitlines()) == 8 and sums_hold(folder)


def test_a_base_that_is_the_judged_commit_is_told(make: Make, server: EndpointServer) -> None:
    project, base = changed(make, server)
    for name in ("main", project.repo.git("rev-parse", "HEAD")):
        done = project.run("--base", name)
        assert done.code == 0 and "Base is the judged commit itself" in done.out and server.count == 0
    project.repo.commit({"README.md": b"x"})
    project.repo.git("branch", "ahead")
    project.repo.git("checkout", "--quiet", "--detach", "HEAD~1")
    assert "Base is the judged commit itself" in project.run("--base", "ahead").out
    assert project.run("--base", base, to="other").code == 0 and server.count == 16


def test_nothing_to_judge_comes_after_registration_and_before_budget_halves_and_secrets(make: Make) -> None:
    refused = {"budget": {"calls": 1}, "sign": SIGN}
    project, base = changed(make, card=refused, files=exam(31), change={"README.md": b"x"})
    assert project.run("--base", base).code == 0
    project.repo.commit({"prompt.md": b"Be very brief.\n"})
    assert project.run("--base", base, to="budget").code == 2
    elsewhere, start = changed(make, card={**refused, "runner": {"arch": "none"}}, files=exam(31), change={"README.md": b"x"})
    assert elsewhere.run("--base", start).code == 4


def test_a_manifest_that_calls_different_arms_unchanged_is_not_believed(make: Make, server: EndpointServer) -> None:
    project, base = changed(make, server, change={"README.md": b"x"})
    project.run("--base", base)
    path = project.root / "run" / "manifest.json"
    manifest = json.loads(path.read_bytes())
    for forged in (manifest | {"unchanged": [0, 1]}, manifest | {"arms": manifest["arms"][:1]}):
        path.write_text(json.dumps(forged), encoding="utf-8")
        refused = project("score", "run")
        assert refused.code == 2 and "calls them unchanged" in refused.err
    path.write_text(json.dumps(manifest | {"ended": manifest["ended"] | {"outcome": "pass"}}), encoding="utf-8")
    assert project("score", "run").code == 2


def test_its_own_question_on_purpose(make: Make, server: EndpointServer) -> None:
    project, base = changed(make, server)
    project.repo.write({"card.yaml": cards.text(against_base({"draws.count": 3}))})
    project("lock")
    project.repo.commit()
    assert project.run("--base", base, "--question", "head").code == 0 and server.count == 4 * 3 * 2
    said = html.unescape(project.comment())
    first = next(line for line in said.splitlines() if line.startswith("> - "))
    assert "`question: head`" in first.replace("<code>question: head</code>", "`question: head`")
    assert project("score", "run").code == 0


def test_a_key_that_only_the_change_needs_is_missing(make: Make, server: EndpointServer) -> None:
    project, base = changed(make, server)
    project.repo.write({"card.yaml": cards.text(against_base({"endpoints.main.key_env": "NEW_KEY"}))})
    project("lock")
    project.repo.commit()
    done = project.run("--base", base)
    assert done.code == 6 and "NEW_KEY" in done.err and server.count == 0


def test_a_rehearsal_against_base(make: Make, server: EndpointServer) -> None:
    project, base = changed(make, server)
    project.repo.write({"prompt.md": b"Not committed.\n"})
    done = project.run("--rehearse", "--base", base)
    assert done.code == 0 and server.count == 16, done.said
    asked = {received.json["messages"][0]["content"] for received in server.requests}
    assert asked == {"Not committed.\n", "Be brief.\n"}


def test_outside_a_repository_there_is_no_base(tmp_path: Path) -> None:
    for name, data in {**exam(4), "card.yaml": cards.text(against_base())}.items():
        (tmp_path / name).write_bytes(data)
    done = evalaction(
        "run", "--rehearse", "--run-dir", "run", cwd=tmp_path, env={"EVAL_URL": "http://127.0.0.1:9", "EVAL_KEY": KEY}
    )
    assert done.code == 2 and "in no git repository" in done.err


def test_neither_a_kept_request_nor_a_diff_holds_a_secret(make: Make, server: EndpointServer) -> None:
    leaky = cards.jsonl([cards.item(0, prompt=f"Say {KEY}."), cards.item(1)])
    # In the middle of where a line of the diff would be cut.
    prompt = b"x" * 185 + KEY.encode() + b"\n"
    project, base = changed(make, server, files={**exam(4), "tasks.jsonl": leaky}, change={"prompt.md": prompt})
    assert project.run("--base", base).code == 0 and server.count == 8
    assert "xxx" in project.comment()
    for name, data in files_of(project.root / "run").items():
        assert KEY[:14].encode() not in data, name
    lines = (project.root / "run" / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    assert all(json.loads(line)["body"] for line in lines)


def test_a_private_exam_keeps_digests_alone(make: Make, server: EndpointServer) -> None:
    private = {"exam.data": "private", "endpoints.main.shared": False}
    project, base = changed(make, server, card=private)
    assert project.run("--base", base).code == 0
    lines = [json.loads(line) for line in (project.root / "run" / "requests.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines[0].keys() == {"item", "arm", "endpoint", "route", "sha256"}
    assert "Say " not in (project.root / "run" / "requests.jsonl").read_text(encoding="utf-8")


def test_two_halves_are_planned_on_what_is_asked(make: Make) -> None:
    project, base = changed(make, card={"sign": SIGN}, files=exam(84))
    planned = project("plan", "--base", base)
    assert planned.code == 0 and "at least 30 are needed in each" in planned.out


def test_a_set_up_that_fails_is_a_refusal_with_a_report(make: Make) -> None:
    best_rung()
    router = {"api": "command", "run": ["python3", "main.py"], "paths": ["main.py"], "setup": ["sh", "-c", "exit 3"]}
    card = against_base({"endpoints": {"router": router}, "arms.treatment": {"endpoint": "router"}})
    project = make(card, {**exam(4), "main.py": b"print(1)\n"})
    base = project.repo.git("rev-parse", "HEAD")
    project.repo.commit({"main.py": b"print(2)\n"})
    done = project.run("--base", base)
    assert done.code == 2 and "Report: " in done.err and "(exit:3)" in done.err
    assert project.results()["verdict"]["breaks"][0]["code"] == "setup_failed" and sums_hold(project.root / "run")
    assert "One lever moved: program" in project.comment()
    head = project.repo.git("rev-parse", "HEAD")
    assert f"This is about the treatment, as commit {head[:12]} defines it." in project.comment().replace("<code>", "")


def test_a_set_up_that_fails_at_base_is_told_to_be_the_controls(make: Make) -> None:
    best_rung()
    router = {"api": "command", "run": ["python3", "llm/main.py"], "paths": ["llm"], "setup": ["test", "-f", "llm/ready"]}
    card = against_base({"endpoints": {"router": router}, "arms.treatment": {"endpoint": "router"}})
    project = make(card, {**exam(4), "llm/main.py": b"print(1)\n"})
    base = project.repo.git("rev-parse", "HEAD")
    project.repo.commit({"llm/ready": b"x"})
    done = project.run("--base", base)
    assert done.code == 2 and f"This is about the control, as commit {base[:12]} defines it." in done.err
