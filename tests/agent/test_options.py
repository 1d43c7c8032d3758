"""The table of settings, and the flags, variables, file keys and REST fields made from it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from agent.cli.audit_command import audit
from agent.cli.flags import question_options, run_flags
from agent.cli.recheck_command import recheck
from agent.config import dump_options, load_options
from agent.errors import UsageError
from agent.guard.provenance import PRIVATE_KINDS, Kind
from agent.jobs.task_tools import UNINHERITED_SETTINGS
from agent.mcp.server import RUN_SETTINGS, SEARCH_SETTINGS, make_server
from agent.mcp.tool_session import open_session
from agent.options import SETTINGS, SHAREABLE, Options, hint_for, variables_of
from agent.run.draft import SERVICES
from agent.run.rerun import KEPT_SETTINGS
from agent.run.resume import SETTINGS_WITHOUT_ACCESS
from agent.serve.chat_completions import MODELS
from agent.serve.schemas import ASK_FIELDS, AskForm, ResumeForm

SAMPLES = {
    int: (20, 30, 40),
    float: (2.5, 3.5, 4.5),
    bool: (True, False, True),
    str: ("one", "two", "three"),
    Path: (Path("one"), Path("two"), Path("three")),
    tuple: (("one",), ("two",), ("three",)),
}
OWN_SAMPLES = {
    "depth": ("quick", "deep", "standard"),
    "since": ("2024-01-01", "2025-01-01", "2026-01-01"),
    "share": (("file",), ("page",), ("memory@x.example",)),
    "yes": (("click@a.example",), ("type@b.example",), ("login@c.example",)),
    "tool_sources": (("mcp",), ("domain",), ("memory", "mcp")),
    "record": (Path("one.har"), Path("two.har"), Path("three.webm")),
    "context_window": (5000, 6000, 7000),
    "max_tokens": (5000, 6000, 7000),
}
TABLES = {"limits", "wiki_rules", "channels", "mcp_servers"}


def samples(name: str) -> tuple[object, object, object]:
    if name in OWN_SAMPLES:
        return OWN_SAMPLES[name]
    kind = str(SETTINGS[name].type)
    order = (tuple, bool, int, float, Path, str)
    return SAMPLES[next(one for one in order if one.__name__ in kind)]


def as_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def as_toml(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, default=str)


@pytest.mark.parametrize("name", sorted(SETTINGS.keys() - TABLES))
def test_argument_overrides_environment_which_overrides_file(name, tmp_path, monkeypatch):
    low, middle, high = samples(name)
    file = tmp_path / "config.toml"
    monkeypatch.setenv("RESEARCH_CONFIG", str(file))
    monkeypatch.delenv(f"RESEARCH_{name.upper()}", raising=False)
    file.write_text(f"{name.replace('_', '-')} = {as_toml(low)}\n")

    def value(**given: object) -> str:
        return as_text(getattr(load_options(given, config=True), name))

    assert value() == as_text(low)
    monkeypatch.setenv(variables_of(name)[0], as_text(middle))
    assert value() == as_text(middle)
    assert value(**{name: high}) == as_text(high)
    assert getattr(load_options({}), name) == SETTINGS[name].default


def test_changed_config_file_is_reloaded(tmp_path, monkeypatch):
    file = tmp_path / "config.toml"
    monkeypatch.setenv("RESEARCH_CONFIG", str(file))
    file.write_text("max-steps = 5\n")
    assert load_options({}, config=True).max_steps == 5
    file.write_text("max-steps = 10\n")
    assert load_options({}, config=True).max_steps == 10


def test_each_flagged_setting_has_an_option_and_environment_variable():
    options = {option.name: option for option in question_options()}
    flags = {name for name, row in SETTINGS.items() if row.metadata["flag"] is not None}
    assert flags <= options.keys()
    for name in flags:
        assert options[name].help == SETTINGS[name].metadata["help"]
        assert options[name].envvar == variables_of(name)


@pytest.mark.parametrize(
    ("hint", "on_page", "in_python", "in_request"),
    [
        (
            "A longer --timeout may help.",
            "A longer “Time limit, seconds” may help.",
            "`timeout=…`",
            "A longer `timeout` may help.",
        ),
        (
            "Allow it: `--allow-private HOST`.",
            "the server’s setting `allow_private`.",
            "private=…",
            "the server’s setting `allow_private`.",
        ),
        (
            "Ask again. `research serve --at-once N` allows more.",
            "Ask again.",
            "serve --at-once N`",
            "serve --at-once N`",
        ),
        (
            "Use `--model extractive` or `research keys set`.",
            "“Model: none” or “Keys”",
            "'extractive'",
            'Use `"model": "extractive"` or `research keys set`.',
        ),
    ],
)
def test_hints_are_worded_for_each_interface(hint, on_page, in_python, in_request):
    assert hint_for("shell", hint) == hint
    assert on_page in hint_for("page", hint)
    assert "--" not in hint_for("page", hint)
    assert in_python in hint_for("python", hint)
    assert in_request in hint_for("api", hint, fields=("model", "timeout"))


def test_page_labels_match_the_form():
    form = resources.files("agent.serve").joinpath("templates/macros.html").read_text("utf-8")
    for label in {row.metadata["page"] for row in SETTINGS.values()} - {""}:
        assert f"{label} <" in form or f"{label}</label>" in form, label


def test_secret_settings_are_never_dumped():
    secret = {name for name, row in SETTINGS.items() if row.metadata["secret"]}
    assert {"smtp_url", "memory_url", "mcp_servers"} <= secret
    options = load_options({"smtp_url": "smtp://u:hunter2@h", "memory_url": "postgresql://p@h/d"})
    assert not secret & dump_options(options).keys()
    assert "hunter2" not in repr(options)


def test_dumped_settings_round_trip():
    given = {"allow": ["a.example"], "limits": {"recent_turns": 3}, "corpus": "notes", "budget": 2}
    options = load_options(given)
    assert load_options(dump_options(options)) == options
    assert dump_options(options, changed_only=True) == given


def test_rest_forms_use_the_bounds_of_the_settings_table():
    fields = AskForm.model_json_schema()["properties"]
    assert fields.keys() >= {*ASK_FIELDS, "question", "schema"}
    assert fields["max_steps"]["anyOf"][0] == {"maximum": 200, "minimum": 1, "type": "integer"}
    for name in ASK_FIELDS:
        assert fields[name]["description"] == SETTINGS[name].metadata["help"]
    assert ResumeForm(budget=2, attended=True).settings() == {"budget": 2}


async def test_arguments_of_mcp_tools_come_from_the_settings_table(tmp_path):
    async with open_session(lambda: Options(data_dir=tmp_path)) as session:
        tools = {tool.name: tool for tool in await make_server(session, {}).list_tools()}
    given = tools["research"].input_schema["properties"]
    assert given.keys() == {"question", *RUN_SETTINGS}
    assert given["timeout"] == {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 1e6,
        "description": SETTINGS["timeout"].metadata["help"],
    }
    assert given["depth"]["enum"] == ["quick", "standard", "deep"]
    assert tools["search"].input_schema["properties"].keys() == {"query", *SEARCH_SETTINGS}


def test_service_option_names_every_service():
    named = SETTINGS["service"].metadata["help"].rpartition(": ")[2].removesuffix(".")
    assert named.split(", ") == list(SERVICES)
    for command in (audit, recheck):
        option = next(one for one in command.params if one.name == "service")
        assert (option.help, option.envvar) == (
            SETTINGS["service"].metadata["help"],
            variables_of("service"),
        )


def test_lists_of_settings_contain_only_settings():
    assert SETTINGS.keys() >= SETTINGS_WITHOUT_ACCESS
    assert SETTINGS.keys() >= UNINHERITED_SETTINGS
    assert {*KEPT_SETTINGS} <= SETTINGS.keys()
    assert {*SHAREABLE} == PRIVATE_KINDS - {Kind.TURNS}  # turns count as memory
    for settings in MODELS.values():
        assert settings.keys() <= SETTINGS.keys()
    with pytest.raises(KeyError):
        run_flags("--no-such-flag")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_steps": 500}, "max-steps: Input should be less than or equal to 200"),
        ({"since": "yesterday"}, "since: Input should be a date such as 2025-01-31"),
        ({"deny": ["https://a.example/b"]}, "deny: 'https://a.example/b' must be a host"),
        ({"yes": "buy@a.example"}, "yes: buy@a.example must be ACT@SITE"),
        ({"share": ["diary"]}, "share: diary must be KIND[@SITE]"),
        ({"max-stepps": 3}, "max-stepps: There is no such setting."),
        ({"limits": {"memorys": 3}}, "limits.memorys: There is no such setting."),
    ],
)
def test_invalid_setting_error_names_setting_and_problem(given, said):
    with pytest.raises(UsageError) as raised:
        load_options(given)
    assert str(raised.value).startswith(said)
    assert (raised.value.hint == "Did you mean max-steps?") is ("max-stepps" in given)
