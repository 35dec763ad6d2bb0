"""The commit status of a pull request that a maintainer had judged. Set there and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from evalaction.errors import Outcome
from evalaction.github.replies import Refused

if TYPE_CHECKING:
    from evalaction.cli.action.stage import Stage

NEEDS = ("statuses: write",)


def set_status(stage: Stage, outcome: Outcome, *, fails: bool) -> None:
    """`success` or `failure` on the asked commit, as `fail-on` has it; what prevents it is a warning.

    `error` where nothing was judged, also where that does not fail the job: green on a commit says that somebody looked.
    """
    if stage.api is None or stage.asked_sha is None:
        return
    judged = outcome in {Outcome.PASS, Outcome.UNCHANGED, Outcome.REGISTERED, Outcome.FAIL}
    state = "error" if not judged else "failure" if fails else "success"
    body = {
        "state": state,
        "context": "evalaction" + (f" / {stage.settings.comment_key}" if stage.settings.comment_key else ""),
        "description": f"outcome {outcome.value}, judged by a maintainer",
    }
    if stage.context.run_url:
        body["target_url"] = stage.context.run_url
    answer = stage.api.request(
        "POST",
        f"/repos/{quote(stage.context.repository)}/statuses/{stage.asked_sha}",
        doing="set the commit's status",
        body=body,
        needs=NEEDS,
    )
    if isinstance(answer, Refused):
        stage.log.warn((answer.sentence,), weight=40)
