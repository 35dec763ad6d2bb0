"""`requests.jsonl`: what each arm asks of each item, one line for all of its draws."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalaction.engine.prepare import Prepared


def request_lines(prepared: Prepared, redact: Callable[[str], str]) -> Iterator[bytes]:
    """Item, arm, endpoint, route and the request's digest and body, item by item; no body where a card keeps no text.

    Secrets are taken out of the body, whose digest is that of what is sent.
    """
    keep = prepared.card.draws.keep_text != "none"
    for place, item in enumerate(prepared.exam.items):
        for arm, resolved in prepared.arms.items():
            asked, request = resolved.asked[place], prepared.requests[arm][place]
            line = {"item": item.id, "arm": arm, "endpoint": asked.endpoint.name, "route": asked.route, "sha256": request.sha256}
            body = {"body": redact(request.body.decode("utf-8", "surrogatepass"))} if keep else {}
            yield (json.dumps(line | body) + "\n").encode()
