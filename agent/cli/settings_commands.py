"""`research config`, `keys`, `secret` and `login`: settings, API keys, passwords and sessions."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agent.cli.flags import EXISTING_FILE, NonBlank, data_dir_option, option, switch
from agent.cli.terminal import print_rows, print_text
from agent.config import config_path, load_options, private_folder, read_environment, read_file
from agent.errors import UsageError
from agent.guard.saved_logins import SavedLogins
from agent.guard.secret_store import SecretStore, ValueStore
from agent.models.providers import PROVIDERS, find_endpoint
from agent.options import SETTINGS
from browser.errors import BrowserError
from browser.files import write_atomic
from browser.net.url import is_web_url

if TYPE_CHECKING:
    from pathlib import Path

    from agent.guard.saved_logins import SavedLogin

NO_KEYS = ("No keys are stored.", "`research keys set openai` stores one.")
NO_LOGINS = ("No logins are saved.", "`research login NAME https://…` saves one.")
NO_SECRETS = ("No secrets are stored.", "`research secret set NAME --origin URL` stores one.")


@click.group()
def config() -> None:
    """Show and change settings. Flags and RESEARCH_… variables override the file."""


@config.command()
def path() -> None:
    """Print the path of the settings file."""
    print(config_path())


@config.command()
def show() -> None:
    """Print every setting with its value and origin."""
    for row in setting_rows():
        print(f"{row.name:<16} {row.value:<40} {row.origin}".rstrip())


class SettingRow(NamedTuple):
    """A setting with its current value; `origin` is empty for a default."""

    name: str
    value: str
    origin: str
    help: str


def setting_rows() -> list[SettingRow]:
    """List every setting with its value and origin; raises `UsageError`."""
    in_file, in_environment = read_file(), read_environment(os.environ)
    settings = load_options({}, config=True)
    rows: list[SettingRow] = []
    for name, field in SETTINGS.items():
        origin = "environment" if name in in_environment else "file" if name in in_file else ""
        value = _format(getattr(settings, name))
        rows.append(SettingRow(name.replace("_", "-"), value, origin, field.metadata["help"]))
    return rows


@config.command()
@click.argument("name")
def get(name: str) -> None:
    """Print one setting."""
    print(_format(getattr(load_options({}, config=True), _field(name))))


@config.command(name="set")
@click.argument("name")
@click.argument("value")
def set_setting(name: str, value: str) -> None:
    """Set one setting in the file. If the value is invalid, the file is not changed."""
    print(save_setting(name, value))


def save_setting(name: str, value: str) -> str:
    """Write a setting to the file, and return the line written; raises `UsageError`."""
    field = _field(name)
    settings = {**read_file(), field: parse_value(value)}
    checked = load_options(settings)
    if field == "model" and checked.model:
        # Raises an error for an unknown model.
        find_endpoint(checked.model, settings.get("base_url"), os.environ)
    values = getattr(checked, field)
    if isinstance(values, tuple) and field != "search":  # `search` is one string with commas
        settings[field] = [str(one) for one in values]
    return f"{name} = {_toml(settings[field])} in {write_settings(settings)}"


@config.command()
@click.argument("name")
def unset(name: str) -> None:
    """Remove one setting from the file."""
    print(unset_setting(name))


def unset_setting(name: str) -> str:
    """Remove a setting from the file, and return a summary of the change; raises `UsageError`."""
    field = _field(name)
    settings = read_file()
    if field not in settings:
        raise UsageError(f"{name} is not set in {config_path()}")
    del settings[field]
    return f"removed {name} from {write_settings(settings)}"


def write_settings(settings: dict[str, Any]) -> Path:
    """Rewrite the settings file; raises `UsageError` on failure."""
    target = config_path()
    private_folder(target.parent)
    lines = [f"{key.replace('_', '-')} = {_toml(value)}" for key, value in settings.items()]
    try:
        write_atomic(target, ("\n".join(lines) + "\n").encode())
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    return target


def parse_value(value: str, *kinds: type) -> object:
    """Parse numbers, booleans, lists and `kinds` as JSON, and anything else as text."""
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return found if isinstance(found, (int, float, list, bool, *kinds)) else value


def _field(name: str) -> str:
    field = name.replace("-", "_")
    if field not in SETTINGS:
        raise UsageError(f"no setting {name!r}", hint="`research config show` lists all settings.")
    return field


def _toml(value: object) -> str:
    # Strings, numbers and booleans are written the same in JSON and TOML, but objects are not.
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_toml(key)} = {_toml(of)}' for key, of in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _format(value: object) -> str:
    if value is None or value in ((), {}):
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, tuple | dict) else str(value)


@click.group()
def keys() -> None:
    """Store API keys for models and search engines. Environment variables override them."""


def _key_store() -> ValueStore:
    return ValueStore(config_path().with_name("keys.json"))


def load_keys_into_environment() -> None:
    """Add the stored keys to the environment, without replacing variables that are set."""
    # Providers, search engines and their libraries read keys from the environment.
    store = _key_store()
    for variable in store.rows():
        if variable not in os.environ and (value := store.value(variable)):
            os.environ[variable] = value


def _key_variable(name: str) -> str:
    """Return the key variable of a provider such as `openai`; return variables unchanged."""
    known = {provider.prefix: provider.key for provider in PROVIDERS if provider.key}
    variable = known.get(name.lower(), name)
    if not variable.isidentifier() or not variable.isupper():
        near = get_close_matches(name.lower(), known, 1)
        any_of = f"Use one of {', '.join(known)}, or a variable such as SERPER_API_KEY."
        raise UsageError(
            f"no provider named {name!r}",
            hint=f"Did you mean {near[0]}?" if near else any_of,
        )
    return variable


@keys.command(name="set")
@click.argument("name")
def set_key(name: str) -> None:
    """Store the key for NAME (openai, … or a variable), entered at a hidden prompt or piped in."""
    print(f"stored {prompt_for_key(name)}")


def prompt_for_key(name: str) -> str:
    """Prompt for a provider's key, store it, and return its variable and location."""
    variable = _key_variable(name)
    value = NonBlank("a key").convert(_read_hidden(variable), None, None).strip()
    return f"{variable} in {store_key(variable, value)}"


def store_key(variable: str, value: str) -> str:
    """Store a key for this process and all later runs; return where it is stored."""
    store = _key_store()
    where = "keyring" if store.put(variable, value) else str(store.file)
    os.environ[variable] = value
    return where


@keys.command(name="list")
def list_keys() -> None:
    """List the stored keys and their locations, but not their values."""
    stored = _key_store().rows().items()
    rows = [(name, "file" if "value" in row else "keyring") for name, row in stored]
    print_rows(rows, "  ".join, empty=NO_KEYS)


@keys.command(name="rm")
@click.argument("name")
def rm_key(name: str) -> None:
    """Delete the stored key for NAME."""
    variable = _key_variable(name)
    if not _key_store().remove(variable):
        raise UsageError(
            f"no key is stored for {variable}", hint="`research keys list` shows the keys."
        )
    print(f"deleted {variable}")


@click.group()
@data_dir_option
@click.pass_context
def secret(ctx: click.Context, data_dir: Path) -> None:
    """Store, list and delete secrets. Runs use them by name; the model never sees the values."""
    ctx.obj = SecretStore(private_folder(data_dir))


@secret.command(name="set")
@click.argument("name")
@option("--origin", "URL", "The only site where the secret may be entered.", required=True)
@switch("--totp", "Treat the secret as the key for one-time codes, and enter the current code.")
@click.pass_obj
def set_secret(store: SecretStore, name: str, origin: str, *, totp: bool) -> None:
    """Store the secret NAME. You are prompted for its value, or it is read from standard input."""
    store.put(name, origin, _read_hidden("Key" if totp else "Value"), totp=totp)
    print_text(f"stored {name} for {store.origins()[name]}")


@secret.command(name="list")
@click.pass_obj
def list_secrets(store: SecretStore) -> None:
    """List the names and origins of secrets, but not their values."""
    print_rows(sorted(store.origins().items()), "  ".join, empty=NO_SECRETS)


@secret.command(name="rm")
@click.argument("name")
@click.pass_obj
def rm_secret(store: SecretStore, name: str) -> None:
    """Permanently delete the secret NAME."""
    if not store.remove(name):
        raise UsageError(
            f"no secret named {name!r}", hint="`research secret list` lists all secrets."
        )
    print_text(f"deleted {name}")


@click.command()
@click.argument("words", nargs=-1, metavar="NAME URL | list | rm NAME", required=True)
@option("--from", "FILE", "Load the session from a Playwright storage state.", type=EXISTING_FILE)
@data_dir_option
def login(words: tuple[str, ...], data_dir: Path, **flags: Path | None) -> None:
    """Log in to a site in a browser window and save the session for `research --login NAME`.

    The session is encrypted; its key is in the secret store.
    """
    saved = SavedLogins(private_folder(data_dir))
    if words == ("list",):
        rows = [(one.name, one.origin, _saved_and_expiry(one)) for one in saved.all()]
        print_rows(rows, "  ".join, empty=NO_LOGINS)
    elif words[0] == "rm" and len(words) == 2:
        if not saved.remove(words[1]):
            hint = "`research login list` shows them."
            raise UsageError(f"no saved login named {words[1]!r}", hint=hint)
        print_text(f"deleted {words[1]}")
    elif len(words) == 2 and is_web_url(words[1]) and words[0] not in {"list", "rm"}:
        name, url = words
        file = flags["from"]
        state = json.loads(file.read_bytes()) if file else asyncio.run(_log_in(url))
        one = saved.put(name, url, state)
        print_text(f"saved the login {name} for {one.origin} ({_saved_and_expiry(one)})")
        print_text(f'Use it: research --login {name} "question"')
    else:
        hint = "Use `research login NAME https://…`, `research login list` or `… rm NAME`."
        raise UsageError(f"invalid arguments: {' '.join(words)!r}", hint=hint)


async def _log_in(url: str) -> dict[str, Any]:
    """Open a browser window at a URL; return the storage state once the user is done."""
    from browser.session.session import Browser  # noqa: PLC0415 - Playwright only where it is used

    try:
        async with Browser.launch(headless=False) as browser:
            await browser.open(url)
            prompt = "In the browser window, log in; then press Enter here."
            await asyncio.to_thread(click.prompt, prompt, "", show_default=False, err=True)
            return await browser.storage_state()
    except BrowserError as error:
        hint = (
            error.hint
            or "Log in with another browser, and pass its storage state with --from FILE."
        )
        raise UsageError(str(error), hint=hint) from error


def _saved_and_expiry(one: SavedLogin) -> str:
    saved = f"saved on {datetime.fromtimestamp(one.saved_at, UTC).date()}"
    if not one.expires:
        return f"{saved}, expiry date unknown"
    day = datetime.fromtimestamp(one.expires, UTC).date()
    return f"{saved}, {'expired' if one.expired else 'expires'} on {day}"


def _read_hidden(prompt: str) -> str:
    """Read a value from a hidden prompt or a pipe."""
    if sys.stdin.isatty():
        return str(click.prompt(prompt, hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")
