"""Write replies.jsonl: right answers for every mail in tasks.jsonl, except where SLIPS says otherwise."""

import json
from pathlib import Path

HERE = Path(__file__).parent

# Item id to what it says instead: one reply per draw, None where the answer is right.
SLIPS: dict[str, list[str | None]] = {
    "account-06": ['{"queue": "technical"}'] * 3,
    "technical-06": [None, '{"queue": "account"}', None],
    "account-07": [None, None, '{"queue": "billing"}'],
    "shipping-04": [None, None, 'This belongs to shipping: {"queue": "shipping"}'],
}


def main() -> None:
    lines = []
    for line in (HERE / "tasks.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        right = json.dumps(item["check"]["value"])
        replies = [slip or right for slip in SLIPS.get(item["id"], [None])]
        lines.append(json.dumps({"id": item["id"], "replies": replies}) + "\n")
    (HERE / "replies.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
