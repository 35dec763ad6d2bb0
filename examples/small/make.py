"""Write control.jsonl and treatment.jsonl: right answers for every item, except where CONTROL and TREATMENT say otherwise."""

import json
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent

# Item id to its replies, one per draw. The control adds units, which is not a number; the treatment mostly does not.
CONTROL = {
    "unit-03": ["120 minutes", "120", "120 minutes"],
    "unit-06": ["0.75 kg"],
    "unit-10": ["212 °F"],
    "unit-12": ["16.1", "16.1", "16 km"],
}
TREATMENT = {
    "unit-09": ["12"],
    "unit-10": ["212", "212 °F", "212"],
}


def write(name: str, exceptions: Mapping[str, list[str]]) -> None:
    lines = []
    for line in (HERE / "tasks.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        replies = exceptions.get(item["id"], [str(item["check"]["value"])])
        lines.append(json.dumps({"id": item["id"], "replies": replies}, ensure_ascii=False) + "\n")
    (HERE / name).write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write("control.jsonl", CONTROL)
    write("treatment.jsonl", TREATMENT)
