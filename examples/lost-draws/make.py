"""Write replies.jsonl: 84 sums, always right, but 13 of the 420 draws (3 %) answer 503 instead."""

import hashlib
import json
from pathlib import Path

HERE = Path(__file__).parent
DRAWS = 5
LOST = 13


def order(draw: tuple[str, int]) -> str:
    """Which draws are lost looks random and is the same every time."""
    return hashlib.sha256(f"{draw[0]}:{draw[1]}".encode()).hexdigest()


def main() -> None:
    items = [json.loads(line) for line in (HERE / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]
    lost = set(sorted(((item["id"], draw) for item in items for draw in range(DRAWS)), key=order)[:LOST])
    lines = []
    for item in items:
        right = str(item["check"]["value"])
        replies = [
            {"reason": "status:503", "error": "overloaded"} if (item["id"], draw) in lost else right for draw in range(DRAWS)
        ]
        lines.append(json.dumps({"id": item["id"], "replies": replies}) + "\n")
    (HERE / "replies.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
