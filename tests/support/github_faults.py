"""What may go wrong with a call to GitHub, on purpose."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any, Literal

from support.github_handlers import Answer, failed

Kind = Literal[
    "answer",  # what `value` says: {"status", "body", "headers"}
    "permission",  # 403 with x-accepted-github-permissions (`value`, or what GitHub sends for pull request comments)
    "unauthorized",
    "not_found",
    "gone",
    "locked",
    "too_long",
    "retry_after",  # 429, `value` seconds or a date
    "primary",  # 403, x-ratelimit-remaining 0, reset in `value` seconds
    "secondary",  # 403 with words only
    "error",  # 500 (`value`), nothing done
    "error_after",  # 502 (`value`), but it was done
    "reset",  # the connection is reset, nothing done
    "reset_after",  # the connection is reset, but it was done
    "slow",  # the answer comes after `value` seconds
    "stale",  # a list without its `value` newest entries
    "html",  # 200 with a page of a proxy
    "cut",  # the body ends early
]
_WORDS = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_ACCEPTED = "issues=write; pull_requests=write"


@dataclass
class Fault:
    """`times` calls (None: all) whose method and path fit, after the first `skip` of them."""

    kind: Kind
    method: str = "*"
    path: str = ".*"
    times: int | None = 1
    skip: int = 0
    value: Any = None

    def strikes(self, method: str, path: str) -> bool:
        if self.method not in {"*", method} or not re.search(self.path, path) or self.times == 0:
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is not None:
            self.times -= 1
        return True

    def answer(self) -> Answer | None:
        """What is said instead of doing anything; None where the call is done all the same, or nothing is said."""
        match self.kind:
            case "answer":
                return Answer(self.value["status"], self.value.get("body"), self.value.get("headers", {}))
            case "permission":
                header = {"X-Accepted-GitHub-Permissions": _ACCEPTED if self.value is None else self.value}
                return failed(403, "Resource not accessible by integration", **header)
            case "unauthorized":
                return failed(401, "Bad credentials")
            case "not_found":
                return failed(404, "Not Found")
            case "gone":
                return failed(410, "This issue was deleted")
            case "locked":
                return failed(403, "Unable to create comment because issue is locked.")
            case "too_long":
                error = {
                    "resource": "IssueComment",
                    "code": "unprocessable",
                    "message": "body is too long (maximum is 65536 characters)",
                }
                return failed(422, "Validation Failed", error)
            case "retry_after":
                return failed(429, "API rate limit exceeded", **{"Retry-After": str(self.value)})
            case "primary":
                reset = str(int(time.time() + self.value))
                return failed(403, "API rate limit exceeded", **{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset})
            case "secondary":
                return failed(403, _WORDS)
            case "error":
                return failed(self.value or 500, "Server Error")
            case "reset" | "html":
                return Answer(200)
            case _:
                return None
