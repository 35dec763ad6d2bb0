"""The body of a reply, decoded as it arrives and bounded in its decoded size."""

from __future__ import annotations

import zlib

_MIB = 1 << 20


class TooLarge(Exception):
    """The decoded body passed its limit; what came before it is kept."""


class BadCoding(Exception):
    """The body does not follow its Content-Encoding; the text says why."""


class Body:
    """Collects a body of at most `limit` decoded bytes. `begin` must be told its Content-Encoding before the first piece."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._inflater: _Inflater | None = None

    def begin(self, coding: str) -> None:
        """Raises BadCoding for anything but gzip, deflate and identity."""
        coding = coding.strip().lower()
        if coding in {"gzip", "x-gzip", "deflate"}:
            self._inflater = _Inflater(gzip=coding != "deflate")
        elif coding not in {"", "identity"}:
            raise BadCoding("the reply has a Content-Encoding that was not asked for")

    def add(self, piece: bytes) -> None:
        """Raises TooLarge, BadCoding."""
        if self._inflater is None:
            self._keep(piece)
            return
        for decoded in self._inflater.feed(piece, self):
            self._keep(decoded)

    @property
    def room(self) -> int:
        return self.limit - self._size

    @property
    def complete(self) -> bool:
        """False if a compressed body ended before its end mark."""
        return self._inflater is None or self._inflater.complete

    @property
    def data(self) -> bytes:
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def _keep(self, piece: bytes) -> None:
        if len(piece) > self.room:
            self._pieces.append(piece[: self.room])
            self._size = self.limit
            raise TooLarge
        self._pieces.append(piece)
        self._size += len(piece)


class _Inflater:
    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._engine = zlib.decompressobj(31) if gzip else None
        self.complete = False

    def feed(self, piece: bytes, body: Body) -> list[bytes]:
        """At most one byte more than `body` has room for: a bomb is noticed, never unpacked."""
        decoded, size, pending = [], 0, False
        while (piece or pending) and size <= body.room:
            if self.complete:
                if not self._gzip:
                    raise BadCoding("bytes follow the end of the compressed reply")
                self._engine, self.complete = zlib.decompressobj(31), False
            engine = self._engine = self._engine or _deflater(piece)
            most = min(body.room - size + 1, _MIB)
            try:
                part = engine.decompress(piece, most)
            except zlib.error:
                raise BadCoding("the compressed reply is broken") from None
            decoded.append(part)
            size += len(part)
            self.complete = engine.eof
            pending = len(part) == most and not engine.eof  # zlib may hold output of input it has already taken
            piece = engine.unused_data or engine.unconsumed_tail
        return decoded


def _deflater(piece: bytes) -> zlib._Decompress:
    """`deflate` means zlib (RFC 9110), but some servers send the raw stream: a zlib header starts with 8 in the low nibble."""
    return zlib.decompressobj(zlib.MAX_WBITS if piece[0] & 0x0F == 8 else -zlib.MAX_WBITS)
