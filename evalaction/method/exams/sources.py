"""The three forms of an exam – JSONL, CSV, a folder of JSON files – read into one raw form with its places."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from evalaction.errors import SourceError
from evalaction.method.canonical import Json, digest, sha256
from evalaction.method.reading.strict_json import NotJson, loads
from evalaction.method.reading.text import decode, position, short, suggestion

MAX_LINE = 4 * 1024 * 1024
FIELDS = (
    "id", "prompt", "vars", "system", "schema", "fixture", "expected", "check", "extract", "output", "tags", "cluster",
    "reference",
)  # fmt: skip
_JSON_CELLS = ("schema", "fixture", "vars")


@dataclass(frozen=True, kw_only=True, slots=True)
class RawItem:
    """One item before its fields are judged."""

    fields: Mapping[str, Json]
    file: str
    line: int | None
    sha256: str
    text: str
    """The item as it was written, for warnings."""
    stem: str | None = None
    """Folder exams: the name of the file without `.json`, which is the id."""
    folder: str | None = None
    """Task folders: the name of the folder, which is the id unless the item has one."""
    check_file: str | None = None
    """Task folders: the path of the `check.py` beside the item."""
    reference: str | None = None
    """Task folders: the text of the `reference.py` beside the item."""

    def error(self, sentence: str) -> SourceError:
        return SourceError(sentence, file=self.file, line=self.line)


def read_jsonl(data: bytes, *, file: str) -> Iterator[RawItem]:
    """One object a line. Lines end at a line feed only; blank lines are refused, since they are mostly lost items."""
    lines = decode(data, file=file).split("\n")
    if lines[-1] == "":
        lines.pop()
    if all(not line.strip() for line in lines):
        return
    for number, line in enumerate(lines, 1):
        if not line.strip():
            raise SourceError("this line is blank; remove it", file=file, line=number)
        raw = line.encode()
        _refuse_size(raw, file, number)
        yield RawItem(fields=_object(line, file, number), file=file, line=number, sha256=sha256(raw), text=line)


def read_folder(files: Mapping[str, bytes]) -> Iterator[RawItem]:
    """One object a file, in the byte order of the file names."""
    for file in sorted(files, key=str.encode):
        stem = file.rsplit("/", 1)[-1].removesuffix(".json")
        yield replace(read_file(file, files[file]), stem=stem)


def read_file(file: str, data: bytes) -> RawItem:
    """The one object of a file."""
    _refuse_size(data, file, None)
    text = decode(data, file=file)
    return RawItem(fields=_object(text, file, None), file=file, line=None, sha256=sha256(data), text=text)


def read_csv(data: bytes, *, file: str) -> Iterator[RawItem]:
    """One item a row under a header of field names; an empty cell is an absent field.

    `schema`, `fixture` and `vars` hold JSON, `check` a kind or a JSON object, `tags` a JSON list or names with `;` between.
    The digest of a row is that of its cells by column name, so that quoting and the order of columns do not matter.
    """
    text = decode(data, file=file)
    rows = csv.reader((line + "\n" for line in text.removesuffix("\n").split("\n")), strict=True)
    header: list[str] | None = None
    start = 1
    try:
        for row in rows:
            line, start = start, rows.line_num + 1
            if not row or row == [""]:
                if text.strip():
                    raise SourceError("this line is blank; remove it", file=file, line=line)
            elif header is None:
                header = _header(row, file)
            else:
                yield _row(header, row, file, line)
    except csv.Error as error:
        sentence = f"this is not CSV: {error}"
        raise SourceError(sentence, file=file, line=start) from None


def _header(row: list[str], file: str) -> list[str]:
    for name in row:
        if name not in FIELDS:
            sentence = f"unknown column `{short(name)}`{suggestion(name, FIELDS)}"
            raise SourceError(sentence, file=file, line=1)
    if len(set(row)) != len(row):
        raise SourceError("a column appears twice", file=file, line=1)
    return row


def _row(header: list[str], row: list[str], file: str, line: int) -> RawItem:
    if len(row) != len(header):
        sentence = f"this row has {len(row)} cells and the header {len(header)}"
        raise SourceError(sentence, file=file, line=line)
    cells = {name: cell for name, cell in zip(header, row, strict=True) if cell != ""}
    text = json.dumps(cells, ensure_ascii=False)
    _refuse_size(text.encode(), file, line)
    fields = {name: _cell(name, cell, file, line) for name, cell in cells.items()}
    check = fields.get("check")
    kind = check.get("kind") if isinstance(check, Mapping) else check
    if kind == "json" and "expected" in cells:
        fields["expected"] = _json(cells["expected"], file, line, "`expected` of a `json` check")
    return RawItem(fields=fields, file=file, line=line, sha256=digest(cells), text=text)


def _cell(name: str, cell: str, file: str, line: int) -> Json:
    if name in _JSON_CELLS or (name == "check" and cell.lstrip().startswith("{")):
        return _json(cell, file, line, f"`{name}`")
    if name == "tags":
        return _json(cell, file, line, "`tags`") if cell.lstrip().startswith("[") else [tag.strip() for tag in cell.split(";")]
    return cell


def _json(cell: str, file: str, line: int, what: str) -> Json:
    try:
        return loads(cell)
    except NotJson as error:
        raise SourceError(f"{what} is not JSON: {error.detail}", file=file, line=line) from None


def _object(text: str, file: str, line: int | None) -> Mapping[str, Json]:
    try:
        value = loads(text)
    except NotJson as error:
        at, column = position(text, error.position) if error.position is not None else (1, None)
        raise SourceError(f"this is not JSON: {error.detail}", file=file, line=line or at, column=column) from None
    if not isinstance(value, Mapping):
        what = "a list" if isinstance(value, list) else "not an object"
        raise SourceError(f"an item is a JSON object with an `id`, this is {what}", file=file, line=line or 1)
    if "\\ud" in text or "\\uD" in text:
        _refuse_surrogates(value, file, line)
    return value


def _refuse_surrogates(value: Json, file: str, line: int | None) -> None:
    from evalaction.method.canonical import dumps

    try:
        dumps(value).encode()
    except UnicodeEncodeError as error:
        half = f"U+{ord(str(error.object)[error.start]):04X}"
        raise SourceError(f"{half} is half of a character and cannot be sent as UTF-8", file=file, line=line or 1) from None


def _refuse_size(raw: bytes, file: str, line: int | None) -> None:
    if len(raw) > MAX_LINE:
        raise SourceError(f"this item has {len(raw):,} bytes; the limit is {MAX_LINE:,}", file=file, line=line)
