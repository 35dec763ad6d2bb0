"""A promptfoo configuration as a whole: prompts, providers, vars, defaults, files; every loss has a place and a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.importing import beside, card_of, loads_whole, whys, yaml

from evalaction.errors import SourceError, UsageError
from evalaction.importers.imported import Imported
from evalaction.importers.promptfoo import convert

CONTAINS = {"type": "contains", "value": "x"}


def config(**changes: Any) -> dict[str, Any]:
    base = {
        "prompts": ["Say {{a}}"],
        "providers": ["openai:gpt-4o-mini"],
        "tests": [{"vars": {"a": "x"}, "assert": [CONTAINS]}],
    }
    return base | changes


def made(value: Any = None, files: dict[str, str] | None = None, **changes: Any) -> Imported:
    data = value if isinstance(value, bytes) else yaml(config(**changes))
    result = convert(data, file="promptfooconfig.yaml", read=beside(files))
    loads_whole(result)
    return result


def items(result: Imported) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.files["tasks.jsonl"].decode().splitlines()]


class TestTests:
    def test_vars_become_texts(self) -> None:
        result = made(tests=[{"vars": {"a": 3.50, "b": True, "c": None, "d": 1e3}, "assert": [CONTAINS]}])
        assert items(result)[0]["vars"] == {"a": "3.5", "b": "true", "c": "", "d": "1000"}

    def test_a_list_of_values_is_a_test_for_each(self) -> None:
        tests = [{"description": "many", "vars": {"a": ["x", "y"], "b": [1, 2]}, "assert": [CONTAINS]}]
        result = made(tests=tests)
        assert [(item["id"], item["vars"]) for item in items(result)] == [
            ("many 1", {"a": "x", "b": "1"}), ("many 2", {"a": "x", "b": "2"}),
            ("many 3", {"a": "y", "b": "1"}), ("many 4", {"a": "y", "b": "2"}),
        ]  # fmt: skip

    def test_expansion_can_be_off(self) -> None:
        tests = [{"vars": {"a": ["x", "y"]}, "assert": [CONTAINS], "options": {"disableVarExpansion": True}}]
        assert "a list or a mapping is not a text" in made(tests=tests).lost_items[0].why

    def test_defaults_lie_below_every_test(self) -> None:
        default = {"vars": {"a": "d", "b": "d"}, "assert": [{"type": "icontains", "value": "y"}], "metadata": {"area": "mail"}}
        tests = [{"vars": {"a": "x"}, "assert": [CONTAINS]}, {"assert": [CONTAINS], "options": {"disableDefaultAsserts": True}}]
        first, second = items(made(tests=tests, defaultTest=default))
        assert first["vars"] == {"a": "x", "b": "d"} and first["tags"] == ["area:mail"] and first["check"]["kind"] == "regex"
        assert second["vars"] == {"a": "d", "b": "d"} and second["check"] == {"kind": "contains", "value": "x"}

    def test_defaults_may_lie_in_a_file(self) -> None:
        result = made(defaultTest="file://d.yaml", files={"d.yaml": "vars: {b: q}"})
        assert items(result)[0]["vars"] == {"a": "x", "b": "q"}
        with pytest.raises(UsageError, match=r"`gone\.yaml` is not there"):
            made(defaultTest="file://gone.yaml")

    def test_anchors_and_templates_of_asserts(self) -> None:
        text = b"""
prompts: ['{{a}}']
providers: openai:gpt-4o-mini
assertionTemplates: {short: {type: word-count, value: 1}}
tests:
  - vars: &v {a: x}
    assert: &checks
      - {type: contains, value: x}
      - $ref: '#/assertionTemplates/short'
  - vars: *v
    assert: *checks
"""
        result = made(text)
        assert result.carried == 2 and items(result)[0]["check"] == items(result)[1]["check"]

    @pytest.mark.parametrize(
        ("test", "why"),
        [
            ({"threshold": 0.5}, "mean of scores"),
            ({"options": {"transform": "output.trim()"}}, "`options.transform` changes"),
            ({"options": {"prefix": "Hey "}}, "`options.prefix` changes"),
            ({"provider": "openai:o1"}, "a provider of its own"),
            ({"providers": ["a"]}, "some of the providers"),
            ({"prompts": ["a"]}, "some of the prompts"),
            ({"providerOutput": "x"}, "given and not drawn"),
            ({"assertScoringFunction": "file://a.js"}, "scored by code"),
            ({"strange": 1}, "`strange`, which this importer does not know"),
            ({"vars": {"a": {"b": 1}}}, "its var `a`: a list or a mapping"),
            ({"vars": "file://vars.yaml"}, "its `vars` are no mapping"),
            ({"options": "file://options.yaml"}, "its `options` are no mapping"),
            ({"vars": {"a": "{{b}} {% x %}"}}, "its var `a`"),
            ({"vars": {"a": "{{b}}"}}, "data is never rendered here"),
            ({"vars": {"a": "file://gone.txt"}}, "the file `gone.txt` is not there"),
            ({"vars": {"a": "file://x.py"}}, "is not a text file"),
            ({"vars": {"a": 123456789012345678901}}, "written otherwise by JavaScript"),
        ],
    )
    def test_what_changes_the_test_is_not_carried(self, test: dict[str, Any], why: str) -> None:
        result = made(tests=[{"vars": {"a": "x"}, "assert": [CONTAINS], **test}])
        assert result.carried == 0 and why in result.lost_items[0].why

    def test_a_date_without_quotes_is_not_carried(self) -> None:
        text = (
            b"prompts: ['{{a}}']\nproviders: openai:x\ntests: [{vars: {a: 2024-01-31}, assert: [{type: contains, value: x}]}]\n"
        )
        assert "is a date to promptfoo" in made(text).lost_items[0].why

    def test_a_var_that_no_prompt_names_may_be_lost(self) -> None:
        result = made(tests=[{"vars": {"a": "x", "b": {"c": 1}, "d-e": "z"}, "assert": [CONTAINS]}])
        assert items(result)[0]["vars"] == {"a": "x"} and len(result.lost_parts) == 2 and result.partial == 0

    def test_metadata_become_tags_where_they_can(self) -> None:
        metadata = {"area": "mail", "level": 2, "hard": True, "more": {"a": 1}, "long": "x" * 100}
        result = made(tests=[{"vars": {"a": "x"}, "assert": [CONTAINS], "metadata": metadata}])
        assert items(result)[0]["tags"] == ["area:mail", "level:2", "hard:true"]
        assert [loss.what for loss in result.lost_parts] == ["test-0001: metadata `more`", "test-0001: metadata `long`"]

    def test_names_of_metrics_are_not_lost_in_silence(self) -> None:
        result = made(tests=[{"vars": {"a": "x"}, "assert": [CONTAINS | {"metric": "m"}]}])
        assert any("names of metrics stay behind" in note for note in result.notes)
        assert any("names of metrics" in note for note in made(tests="t.csv", files={"t.csv": TestFilesOfTests.CSV}).notes)

    def test_a_name_without_a_var_is_sent_empty(self) -> None:
        result = made(prompts=["{{a}}{{gone}}"])
        assert items(result)[0]["vars"] == {"a": "x", "gone": ""} and any("`gone` is no var" in note for note in result.notes)

    def test_a_test_without_vars_is_still_an_item(self) -> None:
        result = made(prompts=["Say x"], tests=[{"assert": [CONTAINS]}, {"vars": None, "assert": [CONTAINS]}])
        assert [item["vars"] for item in items(result)] == [{"test": "test-0001"}, {"test": "test-0002"}]

    def test_ids_are_descriptions_where_they_can_be(self) -> None:
        names = ["same", "same", "=1+1", "a\u200bb", "x" * 81, "fine"]
        tests = [{"description": name, "vars": {"a": "x"}, "assert": [CONTAINS]} for name in names]
        assert [item["id"] for item in items(made(tests=tests))] == [
            "same", "test-0002", "test-0003", "test-0004", "test-0005", "fine",
        ]  # fmt: skip

    def test_text_files_are_read(self) -> None:
        result = made(tests=[{"vars": {"a": "file://a.txt"}, "assert": [CONTAINS]}], files={"a.txt": " long\ntext \n"})
        assert items(result)[0]["vars"] == {"a": "long\ntext"}

    def test_too_many_tests_are_refused(self) -> None:
        many = [str(number) for number in range(200)]
        with pytest.raises(UsageError, match="stands for over 20,000 tests"):
            made(tests=[{"vars": {"a": many, "b": many}, "assert": [CONTAINS]}])


class TestFilesOfTests:
    CSV = (
        "a,__expected,__expected2,__description,__metadata:area,__metric\n"
        "x,contains:x,not-icontains: y,first,mail,m\nz,plain,,,,\nq,llm-rubric: kind,,,,\n"
    )

    def test_csv(self) -> None:
        result = made(tests="file://t.csv", files={"t.csv": self.CSV})
        first, second = items(result)
        assert (first["id"], first["tags"]) == ("first", ["area:mail"])
        assert second["expected"] == "plain" and "tags" not in second, "an empty cell is no tag"
        assert [(loss.place, loss.what) for loss in result.lost_items] == [("t.csv:4", "test-0003")]

    @pytest.mark.parametrize(
        ("cell", "kind"),
        [
            ("contains-any:a, b", "contains-any"), ("is-json", "is-json"), ("is-json:{\"required\": [\"a\"]}", "is-json"),
            ("not-contains: a", "not-contains"), ("similar(0.8):x", "similar"), ("javascript:output", "javascript"),
            ("fn:output", "javascript"), ("grade:kind", "llm-rubric"), ("file://a.py", "python"), ("file://a.js:f", "javascript"),
            ("python: x", "python"), ("regex:^a", "regex"), ("note: this", "equals"), ("http://x", "equals"),
        ],
    )  # fmt: skip
    def test_an_assert_in_one_cell(self, cell: str, kind: str) -> None:
        from evalaction.importers.promptfoo.csv_tests import assert_of

        assert assert_of(cell)["type"] == kind

    def test_a_row_of_another_width_is_not_carried(self) -> None:
        result = made(tests="t.csv", files={"t.csv": "a,__expected\nx,y\nx,y,z\nx\n"})
        assert result.carried == 1 and all("more or fewer cells" in loss.why for loss in result.lost_items)

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("t.yaml", "- vars: {a: x}\n  assert: [{type: contains, value: x}]\n"),
            ("t.yml", "vars: {a: x}\nassert: [{type: contains, value: x}]\n"),
            ("t.json", '[{"vars": {"a": "x"}, "assert": [{"type": "contains", "value": "x"}]}]'),
            ("t.jsonl", '{"vars": {"a": "x"}, "assert": [{"type": "contains", "value": "x"}]}\n\n'),
        ],
    )
    def test_yaml_and_json(self, name: str, text: str) -> None:
        inline = {"vars": {"a": "y"}, "assert": [CONTAINS]}
        result = made(tests=[f"file://{name}", inline], files={name: text})
        assert [item["vars"]["a"] for item in items(result)] == ["x", "y"]

    @pytest.mark.parametrize(
        ("tests", "why"),
        [
            ("file://gen.py:make", "no code, no glob and no address"),
            ("file://cases/*.yaml", "no code, no glob and no address"),
            ("huggingface://datasets/x", "no code, no glob and no address"),
            ("file://gone.csv", "the file `gone.csv` is not there"),
            ("file://odd.yaml", "cannot be read"),
            ("file://list.yaml", "the file does not hold tests"),
            ([{"path": "file://gen.js", "config": {}}], "a generator makes"),
            ({"vars": {}}, "neither a list nor the name of a file"),
        ],
    )
    def test_what_is_not_read_is_one_loss(self, tests: Any, why: str) -> None:
        files = {"odd.yaml": "a: [", "list.yaml": "[1, 2]"}
        result = made(tests=tests, files=files)
        assert (result.total, result.carried) == (1, 0) and why in result.lost_items[0].why


class TestArms:
    def test_one_prompt_at_one_provider_is_the_treatment(self) -> None:
        card = card_of(made())
        assert card.control is None and card.sign is None
        assert card.treatment.template == "prompts/treatment.txt"
        (endpoint,) = card.endpoints.values()
        assert (endpoint.api, endpoint.model, endpoint.key_env) == ("openai", "gpt-4o-mini", "OPENAI_API_KEY")
        assert dict(endpoint.params) == {"temperature": 0, "max_tokens": 1024}

    def test_of_two_the_second_is_the_treatment(self) -> None:
        result = made(prompts=["old {{a}}", "new {{a}}"])
        card = card_of(result)
        assert result.files["prompts/control.txt"] == b"old {{a}}" and result.files["prompts/treatment.txt"] == b"new {{a}}"
        assert card.sign is not None and card.sign.claim == "none" and len(card.endpoints) == 1
        assert any(note.startswith("control: prompt `old {{a}}`") for note in result.notes)

    def test_more_than_two_are_named(self) -> None:
        result = made(prompts=["a {{a}}", "b {{a}}"], providers=["openai:x", "anthropic:messages:y"])
        assert [loss.what for loss in result.lost_parts] == ["prompt a {{a}} at y", "prompt b {{a}} at y"]

    @pytest.mark.parametrize("name", ["promptfooconfig.js", "a/b.config.MTS", "config.py"])
    def test_a_configuration_that_is_a_program(self, name: str) -> None:
        with pytest.raises(UsageError, match="is a program, and none is run here; write what it makes into a YAML"):
            convert(b"module.exports = {}", file=name, read=beside())

    def test_a_provider_is_asked_the_prompts_that_it_names(self) -> None:
        prompts = [{"raw": "long {{a}}", "label": "long"}, "file://p.txt", {"raw": "b {{a}}", "label": "group:b"}]
        files = {"p.txt": "short {{a}}"}
        providers = [{"id": "openai:x", "prompts": ["p.txt"]}, {"id": "openai:y", "prompts": ["long"]}]
        result = made(prompts=prompts, providers=providers, files=files)
        assert result.files["prompts/control.txt"] == b"short {{a}}" and result.files["prompts/treatment.txt"] == b"long {{a}}"
        assert [arm.endpoint for arm in card_of(result).arms.values()] == ["y", "x"] and not result.lost_parts
        one = made(prompts=prompts, providers=[{"id": "openai:x", "prompts": ["group:*"]}], files=files)
        assert one.files["prompts/treatment.txt"] == b"b {{a}}" and len(card_of(one).arms) == 1
        lost = made(prompts=prompts, providers=[{"id": "openai:x", "prompts": ["other"]}], files=files)
        assert any("name no prompt that can be carried" in why for why in whys(lost)) and len(card_of(lost).arms) == 2

    def test_azure_without_a_version_says_that_it_is_another_one(self) -> None:
        assert any("`api_version`" in note for note in made(providers=["azure:chat:mine"]).notes)
        given = {"id": "azure:chat:mine", "config": {"apiVersion": "2024-10-21"}}
        assert not any("`api_version`" in note for note in made(providers=[given]).notes)
        odd = made(providers=[{"id": "azure:chat:mine", "config": {"apiVersion": "{{env.V}}"}}])
        assert any("apiVersion" in loss.what for loss in odd.lost_parts)

    @pytest.mark.parametrize(
        ("entry", "files", "path", "data"),
        [
            ("file://p.txt", {"p.txt": " one {{a}} \n"}, "prompts/treatment.txt", b"one {{a}}"),
            ("p.md", {"p.md": "# one\n"}, "prompts/treatment.txt", b"# one\n"),
            ({"id": "file://p.j2", "label": "L"}, {"p.j2": "x {{ a }}"}, "prompts/treatment.txt", b"x {{ a }}"),
            ({"raw": "r {{a}}", "label": "L"}, {}, "prompts/treatment.txt", b"r {{a}}"),
            ({"p.txt": "label"}, {"p.txt": "one"}, "prompts/treatment.txt", b"one"),
        ],
    )
    def test_prompts_from_everywhere(self, entry: Any, files: dict[str, str], path: str, data: bytes) -> None:
        listed = entry if isinstance(entry, dict) and "p.txt" in entry else [entry]
        assert made(prompts=listed, files=files).files[path] == data

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("p.json", '[{"role": "system", "content": "s"}, {"role": "user", "content": "{{a}}"}]'),
            ("p.json", '{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "{{a}}"}]}'),
            ("p.yaml", "- role: system\n  content: s\n- role: user\n  content: '{{a}}'\n"),
        ],
    )
    def test_chat_messages(self, name: str, text: str) -> None:
        result = made(prompts=[f"file://{name}"], files={name: text})
        assert json.loads(result.files["prompts/treatment.json"]) == [
            {"role": "system", "content": "s"}, {"role": "user", "content": "{{a}}"},
        ]  # fmt: skip

    def test_a_text_file_may_hold_several(self) -> None:
        result = made(prompts=["file://p.txt"], files={"p.txt": "one {{a}}\n---\ntwo {{a}}\n"})
        assert (result.files["prompts/control.txt"], result.files["prompts/treatment.txt"]) == (b"one {{a}}", b"two {{a}}")

    @pytest.mark.parametrize(
        ("entry", "why"),
        [
            ("file://p.py:make", "made by code"),
            ("file://prompts/*.txt", "a glob is not followed"),
            ("langfuse://x", "not from services"),
            ("exec: ls", "not from services"),
            ("file://gone.txt", "the file `gone.txt` is not there"),
            ("{% if a %}x{% endif %}", "more than a name"),
            ("{{a.b}}", "more than a name"),
            ({"function": "x"}, "is no text"),
            ('[{"role": "tool", "content": "x"}]', "another role"),
            ('[{"role": "user", "content": "x", "name": "n"}]', "more than `role` and `content`"),
            ("file://b.txt", "is not UTF-8"),
            ("  ", "it is empty"),
        ],
    )
    def test_a_prompt_that_cannot_be_carried_is_named(self, entry: Any, why: str) -> None:
        files: dict[str, Any] = {"b.txt": b"\xff"}
        result = made(prompts=[entry, "kept {{a}}"], files=files)
        assert why in result.lost_parts[0].why and result.carried == 1
        with pytest.raises(UsageError, match=r"No prompt of promptfooconfig\.yaml can be carried"):
            made(prompts=[entry], files=files)

    @pytest.mark.parametrize(
        ("provider", "fields"),
        [
            ("openai:chat:gpt-4o", {"model": "gpt-4o", "url": "https://api.openai.com/v1"}),
            ("openai:responses:gpt-5", {"api": "openai-responses", "model": "gpt-5"}),
            ("openai:ft:gpt-4o:x", {"model": "ft:gpt-4o:x"}),
            ("anthropic:messages:claude-x", {"api": "anthropic", "key_env": "ANTHROPIC_API_KEY"}),
            ("openrouter:a/b", {"url": "https://openrouter.ai/api/v1", "model": "a/b"}),
            ("ollama:chat:llama3:8b", {"url": "http://localhost:11434/v1", "key_env": None, "model": "llama3:8b"}),
            ({"id": "openai:x", "config": {"apiKeyEnvar": "MINE", "apiHost": "a.example"}}, {"key_env": "MINE", "url": "https://a.example/v1"}),
            ({"id": "openai:x", "config": {"apiBaseUrl": "{{env.URL}}"}}, {"url_env": "EVAL_URL", "url": None}),
            ({"openai:x": {"config": {"temperature": 0.30}}}, {"model": "x"}),
            (
                {"id": "azure:chat:mine", "config": {"apiVersion": "2024-10-21", "apiHost": "r.openai.azure.com"}},
                {"api": "azure-openai", "model": "mine", "url": "https://r.openai.azure.com", "api_version": "2024-10-21"},
            ),
            ({"id": "azureopenai:chat:m", "config": {"apiHost": "https://r.test"}}, {"url": "https://r.test", "model": "m"}),
            ("azure:chat:mine", {"url_env": "EVAL_URL", "api_version": None, "key_env": "AZURE_API_KEY"}),
        ],
    )  # fmt: skip
    def test_providers(self, provider: Any, fields: dict[str, Any]) -> None:
        (endpoint,) = card_of(made(providers=[provider])).endpoints.values()
        assert {name: getattr(endpoint, name) for name in fields} == fields

    def test_parameters_and_defaults(self) -> None:
        providers = [{"id": "openai:x", "config": {"temperature": 0.30, "max_completion_tokens": 5, "stop": ["\n"]}}]
        result = made(providers=providers)
        assert b'{temperature: 0.3, max_completion_tokens: 5, stop: ["\\n"]}' in result.files["card.yaml"]
        (endpoint,) = card_of(made(providers=["openai:o3-mini"])).endpoints.values()
        assert dict(endpoint.params) == {}

    def test_a_key_is_never_copied(self) -> None:
        key = "sk-proj-0123456789abcdefABCDEF"
        providers = [
            {
                "id": "openai:x",
                "config": {"apiKey": key, "headers": {"X": key}, "tools": key, "apiBaseUrl": f"https://u:{key}@h/v1"},
            },
            {"id": key},
        ]
        result = made(providers=providers)
        assert key not in repr(result) and any("a key is never copied" in why for why in whys(result))

    @pytest.mark.parametrize(
        "provider", ["exec: ./run", "bedrock:x", "openai:embedding:x", {"config": {}}, 5, "file://gone.yaml"]
    )
    def test_a_provider_that_the_card_cannot_name(self, provider: Any) -> None:
        result = made(providers=[provider])
        (endpoint,) = card_of(result).endpoints.values()
        assert endpoint.url_env == "EVAL_URL" and result.lost_parts and any("to be filled in" in note for note in result.notes)

    @pytest.mark.parametrize("key", ["sk-proj-0123456789abcdefABCDEF", "https://u:secret@host/x", "a\u200bb", ""])
    def test_a_text_that_a_card_may_not_hold_does_not_get_there(self, key: str) -> None:
        result = made(description=key, providers=[f"openai:{key}", "openai:chat:x"])
        assert card_of(result).name == "imported" and [*card_of(result).endpoints] == ["x"]
        assert not key or key.encode() not in result.files["card.yaml"]

    def test_the_reason_why_a_setting_stays_behind(self) -> None:
        config = {"temperature": "{{env.T}}", "organization": "o", "apiKey": "k"}
        result = made(providers=[{"id": "openai:x", "config": config}])
        assert [loss.why.partition(";")[0] for loss in result.lost_parts] == [
            "its value stands in the environment or in a file", "has no place in a card", "a key is never copied",
        ]  # fmt: skip

    def test_providers_from_a_file(self) -> None:
        files = {"p.yaml": "- id: openai:x\n  label: small one\n", "q.yaml": "id: openai:y"}
        card = card_of(made(providers=["file://p.yaml", "file://q.yaml"], files=files))
        assert list(card.endpoints) == ["small-one", "y"]


def test_every_setting_that_has_no_place_is_named() -> None:
    result = made(evaluateOptions={"repeat": 3}, redteam={"plugins": []}, outputPath="x.json", scenarios=[])
    assert [loss.what for loss in result.lost_parts] == ["`evaluateOptions`", "`redteam`", "`outputPath`", "`scenarios`"]
    assert len({loss.line for loss in result.lost_parts}) == 4


@pytest.mark.parametrize("data", [b"[1, 2]", b"just text", b""])
def test_what_is_no_configuration_is_refused(data: bytes) -> None:
    with pytest.raises(SourceError, match="no promptfoo configuration"):
        made(data)


def test_a_configuration_without_prompts_has_no_arm() -> None:
    with pytest.raises(UsageError, match="it names none under `prompts`"):
        made(prompts=None)


def test_without_tests_there_is_nothing_to_import() -> None:
    with pytest.raises(UsageError, match="holds no tests"):
        made(tests=[])


_SCALARS = st.one_of(st.text(max_size=8), st.integers(-5, 5), st.booleans(), st.none(), st.lists(st.text(max_size=3), max_size=2))
_ASSERTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["contains", "icontains", "equals", "regex", "not-contains", "starts-with", "llm-rubric", "odd"])},
    optional={
        "value": st.one_of(_SCALARS, st.dictionaries(st.text(max_size=3), _SCALARS, max_size=2)),
        "weight": st.integers(0, 2),
    },
) | st.just({"type": "is-json"})
_TESTS = st.fixed_dictionaries(
    {},
    optional={
        "description": st.text(max_size=10),
        "vars": st.dictionaries(st.sampled_from(["a", "b", "c-d"]), _SCALARS, max_size=3),
        "assert": st.lists(_ASSERTS, max_size=3),
        "metadata": st.dictionaries(st.text(max_size=4), _SCALARS, max_size=2),
        "threshold": st.just(0.5),
    },
)


@settings(max_examples=100, deadline=None)
@given(st.lists(_TESTS, min_size=1, max_size=5), st.fixed_dictionaries({}, optional={"assert": st.lists(_ASSERTS, max_size=2)}))
def test_whatever_is_imported_can_be_read_and_counts_add_up(tests: list[Any], default: dict[str, Any]) -> None:
    result = made(tests=tests, defaultTest=default)
    assert result.total >= len(tests)
    assert all(loss.why and loss.line for loss in (*result.lost_items, *result.lost_parts))
