"""A model server of known quality: right with a given probability, by luck that is fixed by a seed."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from support.command import asked


class Lucky:
    """Right about "Say 7." with the quality of what asks it: its system message, or its model. Each ask of one item has its own
    luck, whatever order the requests come in."""

    def __init__(self, qualities: Mapping[str, float], *, seed: str = "1", by: Callable[[Any], str] | None = None) -> None:
        self._qualities = qualities
        self._seed = seed
        self._by = by or (lambda body: asked(body)[0].strip())
        self._times: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def __call__(self, received: Any) -> str:
        kind, prompt = self._by(received.json), asked(received.json)[1]
        with self._lock:
            number = self._times[kind, prompt]
            self._times[kind, prompt] += 1
        luck = int(hashlib.sha256(f"{self._seed}:{kind}:{prompt}:{number}".encode()).hexdigest()[:8], 16) / 16**8
        answer = prompt.removeprefix("Say ").removesuffix(".")
        return answer if luck < self._qualities[kind] else "wrong"

    @property
    def asks(self) -> dict[str, int]:
        """Calls by what asked."""
        found: Counter[str] = Counter()
        for (kind, _), times in self._times.items():
            found[kind] += times
        return dict(found)
