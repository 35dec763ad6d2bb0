"""Write replies.jsonl: the right call for every item in tasks.jsonl, except where SLIPS says otherwise."""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TOOLS = {"weather": "get_weather", "timer": "set_timer", "message": "send_message"}


def call(name: str, arguments: dict[str, Any]) -> str:
    return json.dumps([{"name": name, "arguments": arguments}], sort_keys=True, separators=(",", ":"))


CUT = {"text": '[{"name":"send_message","arguments":{"to":"Gina","text":"The meeting moved to Mon', "finish_reason": "length"}

# Item id to what arrives instead: one reply per draw, None where the call is right.
SLIPS: dict[str, list[Any]] = {
    "weather-05": [None, "It is sunny in Delhi today, with 31 degrees.", None],
    "weather-09": [None, {"reason": "empty", "error": "It will rain in Bern tomorrow."}, None],
    "timer-08": [None, None, call("set_timer", {"minutes": "90"})],
    "message-07": [CUT, CUT, None],
    "timer-11": [call("set_timer", {"minutes": 3})] * 3,
}


def main() -> None:
    lines = []
    for line in (HERE / "tasks.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        right = call(TOOLS[item["tags"][0]], item["check"]["value"])
        replies = [slip or right for slip in SLIPS.get(item["id"], [None])]
        lines.append(json.dumps({"id": item["id"], "replies": replies}) + "\n")
    (HERE / "replies.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
