"""Items that look like they hold what must not be sent to a stranger's host: warned of, never refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from evalaction.method.reading.secret_shapes import has_mail_address, has_phone_number, is_prefixed_key
from evalaction.method.records import Quoted, Sentence

_LOOKS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("a mail address", has_mail_address),
    ("a phone number", has_phone_number),
    ("a key", is_prefixed_key),
)


@dataclass(slots=True)
class Watch:
    """Counts such items while an exam is read."""

    found: dict[str, list[str]] = field(default_factory=dict)

    def see(self, item_id: str, text: str) -> None:
        for what, looks in _LOOKS:
            if looks(text):
                self.found.setdefault(what, []).append(item_id)

    def sentences(self) -> tuple[Sentence, ...]:
        """One sentence a kind, with the number of items and the first of them."""
        return tuple(
            (
                f"{len(ids)} item{'s look' if len(ids) > 1 else ' looks'} like holding {what}, first ",
                Quoted(ids[0]),
                "; do not send a stranger's data to a shared host",
            )
            for what, ids in self.found.items()
        )
