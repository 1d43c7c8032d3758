"""`research config`: settings, where they stand, and changing one."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from agent.config import (
    Options,
    config_path,
    options,
    private_folder,
    read_environment,
    read_file,
)
from agent.errors import UsageError
from agent.files import write_whole
from agent.models.resolve import endpoint_of

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
    settings = options({}, config=True)
    for name in Options.model_fields:
        value = getattr(settings, name)
        origin = "environment" if name in in_environment else "file" if name in in_file else ""
        print(f"{name.replace('_', '-'):<16} {_shown(value):<40} {origin}".rstrip())


@config.command()
@click.argument("name")
def get(name: str) -> None:
    """Print one setting."""
    print(_shown(getattr(options({}, config=True), _field(name))))


@config.command(name="set")
@click.argument("name")
@click.argument("value")
def set_(name: str, value: str) -> None:
    """Write one setting to the file; a value that is not valid changes nothing."""
    field = _field(name)
    settings = {**read_file(), field: _parsed(value)}
    checked = options(settings)
    if field == "model" and checked.model:
        endpoint_of(checked.model, settings.get("base_url"), os.environ)
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


def _parsed(value: str) -> object:
    """Read numbers, booleans and lists as such, all else as text."""
    try:
        parsed = json.loads(value)
    except ValueError:
        return value
    return parsed if isinstance(parsed, int | float | list | bool) else value


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
