"""Four of the situations that the tool is for, from the card to what the person sees."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, ClassVar

import pytest
from support import cards
from support.command import Make, Serve, asked, exam, gated, paired, right, sums_hold
from support.endpoint_server import Answer, EndpointServer, Received, chat, response

SMALL = "SMALL (n=12)"


class TestSmallExam:
    def test_one_arm_says_small_first_and_shows_columns_and_draws(self, make: Make, server: EndpointServer) -> None:
        project = make(gated(2), exam(12), url=server.url)
        done = project.run()
        assert done.code == 0, done.err
        assert done.out.startswith(f"{SMALL} · ")
        assert project.comment().startswith(f"## {SMALL} · ")
        assert project.results()["titles"] == ["SMALL"]
        assert "12/12" in done.out and "24/24" in done.out
        assert server.count == 24

    def test_two_arms_may_claim_none(self, make: Make, server: EndpointServer) -> None:
        project = make(paired(1), exam(12), url=server.url)
        done = project.run()
        assert (done.code, server.count) == (0, 24)
        assert f"{SMALL} · ○ support-triage: measured, nothing gated" in done.out
        assert "✓" not in done.out.splitlines()[0] and "✅" not in project.comment()

    @pytest.mark.parametrize("sign", [{"claim": "differ"}, {"claim": "ahead"}, {"claim": "not_behind", "margin": 0.1}])
    def test_any_other_claim_is_refused_before_a_call(self, make: Make, server: EndpointServer, sign: dict[str, Any]) -> None:
        changes = {f"sign.{name}": value for name, value in sign.items()}
        project = make(paired(1, changes), exam(12), url=server.url)
        done = project.run()
        assert (done.code, server.count) == (2, 0)
        assert "add 18 items or more" in done.err and "`none`" in done.err

    def test_halves_below_the_floor_are_refused_with_the_number_of_items_to_add(self, make: Make, server: EndpointServer) -> None:
        project = make(paired(1, {"sign.claim": "differ"}), exam(40), url=server.url)
        done = project.run()
        assert (done.code, server.count) == (5, 0)
        assert "half 0 has 20 items and half 1 has 20" in done.err and "add 34 items" in done.err
        assert "add 34 items" in project.comment()
        planned = project("plan")
        assert planned.code == 5 and "add 34 items" in planned.out


class TestExpensiveEndpoint:
    PRICE: ClassVar = {"endpoints.main.price": {"input": 1.5, "output": 6}, "budget.usd": 0.5}

    def test_plan_says_calls_tokens_and_money(self, make: Make, server: EndpointServer) -> None:
        project = make(gated(2, self.PRICE), exam(84), url=server.url)
        done = project("plan")
        assert (done.code, server.count) == (0, 0)
        assert "84 items × 2 draws × 1 arm = 168 calls" in done.out
        treatment = next(line for line in done.out.splitlines() if line.startswith("treatment")).split()
        tokens_in = sum(len(self.body(number)) for number in range(84)) * 2
        usd = (tokens_in * 1.5 + 168 * 400 * 6) / 1e6
        assert treatment[2:5] == ["168", f"{tokens_in:,}", "67,200"]
        assert usd <= float(treatment[5]) < usd + 0.0001

    @staticmethod
    def body(number: int) -> str:
        messages = [{"role": "system", "content": "Be brief.\n"}, {"role": "user", "content": f"Say {number}."}]
        return json.dumps({"model": "some-model", "messages": messages, "max_tokens": 400}, separators=(",", ":"), sort_keys=True)

    def test_budget_refuses_before_a_call_and_names_the_largest_count_that_fits(self, make: Make, server: EndpointServer) -> None:
        project = make(gated(9, self.PRICE), exam(84), url=server.url)
        done = project.run()
        assert (done.code, server.count) == (2, 0)
        assert "budget.usd is USD 0.5" in done.err and "largest draws.count that fits is 2." in done.err
        for count, code in ((2, 0), (3, 2)):
            project.repo.commit(
                {"card.yaml": (project.root / "card.yaml").read_bytes().replace(b'"count": 9', b'"count": %d' % count)}
            )
            assert project("plan").code == code
            project.repo.git("revert", "--no-edit", "HEAD")

    def test_a_wrong_model_name_ends_after_the_first_draws(self, make: Make, serve: Serve) -> None:
        server = serve(lambda received: response({"error": {"message": "no such model"}}, status=404))
        project = make(gated(5), exam(30), url=server.url)
        done = project.run()
        assert (done.code, server.count) == (7, 30)
        assert "none of 30 first draws reached" in done.out and "status:404 × 30" in done.out
        assert "name of the model" in done.out
        results = project.results()
        assert results["outcome"] == "unreachable" and results["arms"] == []
        assert results["counts"] == {"planned": 150, "sent": 30, "written": 30}
        assert "check ∣ contract" not in project.comment()
        assert '"seal"' in (project.root / "run" / "rows.jsonl").read_text(encoding="utf-8").splitlines()[-1]
        assert project("score", "run").code == 7 and sums_hold(project.root / "run")


class TestLostDraws:
    """3 % of the calls answer 503, and the model is never wrong."""

    LIMITS: ClassVar = {"min_reach": 0.95, "min_first_pass": 0.9, "min_stable_pass": 0.9, "max_flip_rate": 0.1}

    def test_what_lost_draws_leave_open_is_undecided_and_never_a_fail(self, make: Make, serve: Serve) -> None:
        asked_before: Counter[str] = Counter()

        def lossy(received: Received) -> Answer:
            number = right(received)
            time, asked_before[number] = asked_before[number], asked_before[number] + 1
            if (int(number) * 5 + time) % 33 == 0:  # 13 of 420 draws, each of another item
                return response({"error": {"message": "overloaded"}}, status=503)
            return response(chat(number, number=received.number))

        server = serve(lossy)
        project = make(gated(5, {"limits": self.LIMITS}), exam(84), url=server.url)
        planned = project("plan").out
        assert "3.0 % of the draws do not arrive, 14.1 % of the items lose at least one of their 5" in planned
        assert "max_flip_rate, min_stable_pass can only be decided about 14.1 % away from the bound" in planned

        done = project.run()
        assert (done.code, server.count) == (5, 420)
        results = project.results()
        assert results["outcome"] == "inconclusive"
        states = {limit["name"]: limit["state"] for limit in results["limits"]}
        assert states == {
            "min_reach": "held", "min_first_pass": "held", "min_stable_pass": "undecided", "max_flip_rate": "undecided",
        }  # fmt: skip
        assert [one["code"] for one in results["verdict"]["breaks"]] == [
            "limit:treatment:min_stable_pass:undecided", "limit:treatment:max_flip_rate:undecided",
        ]  # fmt: skip
        said = " ".join(done.out.split())
        assert "min_stable_pass of treatment is undecided: 71–84/84 items (84.5 % to 100 %), limit 90 %" in said
        assert "max_flip_rate of treatment is undecided: 0–13/84 items" in said
        assert said.count("draws without a verdict leave it open (status:503 × 13)") == 2
        assert "the path, not at the prompt" in said
        assert "fail" not in said and "breached" not in said

    def test_half_of_the_calls_lost_is_never_green(self, make: Make, serve: Serve) -> None:
        server = serve(
            lambda received: (
                response(chat(right(received), number=received.number)) if int(right(received)) % 2 else response({}, status=503)
            )
        )
        project = make(gated(2, {"limits.min_stable_pass": 0.1}), exam(30), url=server.url)
        done = project.run()
        assert done.code == 5 and "nothing can be said: transport" in done.out
        assert project.results()["verdict"]["breaks"][0]["code"] == "treatment:transport"


SCHEMA = {
    "type": "array", "minItems": 1, "maxItems": 1,
    "items": {
        "type": "object", "required": ["name", "arguments"],
        "properties": {
            "name": {"const": "get_weather"},
            "arguments": {
                "type": "object", "required": ["city"], "additionalProperties": False,
                "properties": {"city": {"type": "string"}},
            },
        },
    },
}  # fmt: skip


class TestToolCalls:
    """The output is a tool call: JSON Schema on its arguments."""

    EXAM: ClassVar = {
        **exam(),
        "tasks.jsonl": cards.jsonl(
            [
                {
                    "id": f"t{number:04d}", "prompt": f"Weather in City {number}.", "schema": SCHEMA,
                    "check": {"kind": "json", "pointer": "/0/arguments/city", "value": f"City {number}"},
                }
                for number in range(30)
            ]
        ),
    }  # fmt: skip

    @staticmethod
    def call(arguments: str, number: int, finish_reason: str = "tool_calls") -> Answer:
        function = {"name": "get_weather", "arguments": arguments}
        calls = [{"id": f"call{number}", "type": "function", "function": function}]
        return response(chat(None, finish_reason=finish_reason, number=number, tool_calls=calls))

    @classmethod
    def answer(cls, received: Received, prose: int = 1) -> Answer:
        city = asked(received.json)[1].removeprefix("Weather in City ").removesuffix(".")
        number = int(city)
        if number < prose:
            return response(chat("It is sunny.", number=received.number))
        if number == 10:
            return cls.call('{"city": 10}', received.number)
        if number == 11:
            return cls.call('{"city": "Ci', received.number, "length")
        if number == 12:
            return cls.call('{"city": "Rome"}', received.number)
        return cls.call(f'{{"city": "City {city}"}}', received.number)

    def tool_card(self, **limits: float) -> dict[str, Any]:
        return gated(2, {"endpoints.main.output": "tool_calls", "limits": limits})

    def test_form_and_values_are_told_apart_and_truncation_is_named(self, make: Make, serve: Serve) -> None:
        server = serve(self.answer)
        project = make(self.tool_card(min_contract=0.98), self.EXAM, url=server.url)
        done = project.run()
        assert (done.code, server.count) == (1, 60)
        reasons = {
            row["item"]: (row.get("reach_reason"), row.get("contract_reason"), row.get("check_reason"))
            for row in project.rows()
            if row["verdict"] != "pass"
        }
        assert {item: tuple(reason and reason.partition(":")[0] for reason in why) for item, why in reasons.items()} == {
            "t0000": ("empty", None, None),
            "t0010": (None, "schema", None),
            "t0011": (None, "truncated", None),
            "t0012": (None, None, "differs"),
        }
        comment = project.comment()
        assert "min&#95;contract of treatment is breached: 54/58 draws" in comment
        assert "truncation" in comment and "<code>truncated</code> × 2" in comment
        assert "2 replies were cut by the length limit" in comment

    def test_prose_in_place_of_calls_is_not_reached_and_the_remedy_is_said(self, make: Make, serve: Serve) -> None:
        server = serve(lambda received: self.answer(received, prose=5))
        project = make(self.tool_card(min_reach=0.9), self.EXAM, url=server.url)
        assert project.run().code == 5
        assert "the model answered without a tool call: ask for one with <code>tool&#95;choice</code>" in project.comment()

    def test_calls_in_place_of_text_are_not_reached_and_the_remedy_is_said(self, make: Make, serve: Serve) -> None:
        server = serve(lambda received: self.answer(received, prose=0))
        project = make(gated(1, {"limits": {"min_reach": 0.9}}), self.EXAM, url=server.url)
        done = project.run()
        assert done.code == 7 and "empty:tool_calls × 29" in done.out
        assert "declare <code>output: tool&#95;calls</code> for the endpoint" in project.comment()
