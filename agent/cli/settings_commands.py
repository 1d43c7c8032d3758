"""`research config`, `keys` and `secret`: settings, API keys, passwords of sites."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import data_dir_option, require_words
from agent.cli.terminal import print_rows
from agent.config import (
    Options,
    config_path,
    default_data_dir,
    load_options,
    private_folder,
    read_environment,
    read_file,
)
from agent.errors import UsageError
from agent.files import write_whole
from agent.guard.secret_store import SecretStore, ValueStore
from agent.models.providers import PROVIDERS, find_endpoint
from browser.text.words import clean

if TYPE_CHECKING:
    from pathlib import Path


@click.group()
def config() -> None:
    """Show and change settings; flags and RESEARCH_… variables go before the file."""


@config.command()
def path() -> None:
    """Print where the settings file is."""
    print(config_path())


@config.command()
def show() -> None:
    """Print every setting, its value and where it comes from."""
    in_file, in_environment = read_file(), read_environment(os.environ)
    settings = load_options({}, config=True)
    for name in Options.model_fields:
        value = getattr(settings, name)
        origin = "environment" if name in in_environment else "file" if name in in_file else ""
        print(f"{name.replace('_', '-'):<16} {_shown(value):<40} {origin}".rstrip())


@config.command()
@click.argument("name")
def get(name: str) -> None:
    """Print one setting."""
    print(_shown(getattr(load_options({}, config=True), _field(name))))


@config.command(name="set")
@click.argument("name")
@click.argument("value")
def set_setting(name: str, value: str) -> None:
    """Write one setting to the file; a value that is not valid changes nothing."""
    field = _field(name)
    settings = {**read_file(), field: parsed(value)}
    checked = load_options(settings)
    if field == "model" and checked.model:
        find_endpoint(checked.model, settings.get("base_url"), os.environ)
    several = getattr(checked, field)
    if isinstance(several, tuple) and field != "search":  # which is one word, with commas
        settings[field] = [str(one) for one in several]
    print(f"{name} = {_toml(settings[field])} in {write_settings(settings)}")


@config.command()
@click.argument("name")
def unset(name: str) -> None:
    """Take one setting out of the file."""
    field = _field(name)
    settings = read_file()
    if field not in settings:
        raise UsageError(f"{name} is not set in {config_path()}")
    del settings[field]
    print(f"{name} is no longer set in {write_settings(settings)}")


def write_settings(settings: dict[str, Any]) -> Path:
    """Write the settings file anew; raises `UsageError` where that fails."""
    target = config_path()
    private_folder(target.parent)
    lines = [f"{key.replace('_', '-')} = {_toml(value)}" for key, value in settings.items()]
    try:
        write_whole(target, ("\n".join(lines) + "\n").encode())
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    return target


def _field(name: str) -> str:
    field = name.replace("-", "_")
    if field not in Options.model_fields:
        raise UsageError(f"no setting {name!r}", hint="`research config show` lists them.")
    return field


def parsed(value: str, *kinds: type) -> object:
    """Read numbers, booleans, lists and `kinds` as JSON has them, all else as text."""
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return found if isinstance(found, (int, float, list, bool, *kinds)) else value


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_toml(key)} = {_toml(of)}' for key, of in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _shown(value: object) -> str:
    if value is None or value in ((), {}):
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, tuple | dict) else str(value)


_HELD = "keyring"
NO_KEYS = ("No keys are kept.", "`research keys set openai` keeps one.")
NO_SECRETS = ("No secrets are stored.", "`research secret set NAME --origin URL` stores one.")


def variable_of(name: str) -> str:
    """Give the variable of a provider (`openai`) or a variable itself (`OPENAI_API_KEY`)."""
    keys = {provider.prefix: provider.key for provider in PROVIDERS if provider.key}
    variable = keys.get(name.lower(), name)
    if not variable.isidentifier() or not variable.isupper():
        known = ", ".join(keys)
        raise UsageError(
            f"no provider is called {name!r}",
            hint=f"Name one of {known}, or a variable such as SERPER_API_KEY.",
        )
    return variable


def fill_environment() -> None:
    """Lay the kept values into the environment; what is set there goes before."""
    keys = _keys()
    for variable in keys.rows():
        if variable not in os.environ and (value := keys.value(variable)):
            os.environ[variable] = value


def _keys() -> ValueStore:
    return ValueStore(config_path().with_name("keys.json"))


@click.group()
def keys() -> None:
    """Keep API keys of models and search engines; a variable of the environment goes before."""


@keys.command(name="set")
@click.argument("name")
def set_key(name: str) -> None:
    """Keep the key of NAME (openai, …, or a variable); it is typed unseen, or comes on a pipe."""
    variable = variable_of(name)
    value = _typed(variable)
    require_words(value, "a key")
    kept = _keys()
    print(f"{variable} is kept in {_HELD if kept.put(variable, value.strip()) else kept.file}")


@keys.command(name="list")
def list_keys() -> None:
    """Name the keys that are kept, and where; never their values."""
    rows = [(n, "file" if "value" in row else _HELD) for n, row in _keys().rows().items()]
    print_rows(rows, "  ".join, empty=NO_KEYS)


@keys.command(name="rm")
@click.argument("name")
def rm_key(name: str) -> None:
    """Forget the key of NAME."""
    variable = variable_of(name)
    if not _keys().remove(variable):
        raise UsageError(f"no key is kept as {variable}", hint="`research keys list` names them.")
    print(f"forgot {variable}")


@click.group()
@data_dir_option
@click.pass_context
def secret(ctx: click.Context, data_dir: Path | None) -> None:
    """Store, list and delete secrets; a run types them by name, and never sees them."""
    ctx.obj = SecretStore(private_folder(data_dir or default_data_dir()))


@secret.command(name="set")
@click.argument("name")
@click.option("--origin", required=True, metavar="URL", help="Where alone it is typed.")
@click.pass_obj
def set_secret(store: SecretStore, name: str, origin: str) -> None:
    """Store NAME; its value is asked for, or read from standard input."""
    store.put(name, origin, _typed("Value"))
    print(clean(f"stored {name} for {store.origins()[name]}"))


@secret.command(name="list")
@click.pass_obj
def list_secrets(store: SecretStore) -> None:
    """List names and origins, never values."""
    print_rows(sorted(store.origins().items()), "  ".join, empty=NO_SECRETS)


@secret.command(name="rm")
@click.argument("name")
@click.pass_obj
def rm_secret(store: SecretStore, name: str) -> None:
    """Delete NAME for good."""
    if not store.remove(name):
        raise UsageError(f"no secret is called {name!r}", hint="`research secret list` names them.")
    print(clean(f"deleted {name}"))


def _typed(what: str) -> str:
    """Take a value that is typed unseen, or comes on a pipe."""
    if sys.stdin.isatty():
        return str(click.prompt(what, hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")
