"""A key goes to its endpoint's origin and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command import KEY, Project, exam, gated, paired, right
from support.endpoint_server import Received, answering, response, serving


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_does_not_take_the_key_along(tmp_path: Path, status: int) -> None:
    with (
        serving(answering(right)) as other,
        serving(lambda _: response("", status=status, headers={"Location": f"{other.url}/v1/chat/completions"})) as server,
    ):
        project = Project(tmp_path / "p", gated(2), exam(2), url=server.url)
        assert project.run().code == 7
    assert server.count == 2 and other.count == other.connections == 0
    assert {row["reach_reason"] for row in project.rows()} == {f"status:{status}"}


def test_each_endpoint_gets_its_own_key_only(tmp_path: Path) -> None:
    second = "sk-other-0123456789abcdefghij"
    with serving(answering(right)) as one, serving(answering(right)) as two:
        local = {"api": "openai", "url_env": "OTHER_URL", "key_env": "OTHER_KEY", "model": "m"}
        changes = {"endpoints.local": local, "arms.control": {"endpoint": "local", "system": "other.md"}}
        project = Project(tmp_path / "p", paired(2, changes), exam(4), url=one.url)
        done = project.run(env={"OTHER_URL": two.url, "OTHER_KEY": second})
    assert done.code == 0, done.said

    def heard(requests: list[Received]) -> set[str]:
        return {str(sorted(received.headers.items())) + received.body.decode() for received in requests}

    assert one.count == two.count == 8
    assert all(KEY in said and second not in said for said in heard(one.requests))
    assert all(second in said and KEY not in said for said in heard(two.requests))


def test_a_key_does_not_go_over_plain_http_beyond_loopback(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", gated(2), exam(2), url="http://model.example/v1")
    done = project.run()
    assert done.code == 2 and "https" in done.err and KEY not in done.said
    assert not (project.root / "run" / "rows.jsonl").exists()
