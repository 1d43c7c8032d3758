"""API keys that are kept for the command line: in the system's keyring, else in a private file.

They are laid into the environment when `research` starts, below what stands there already.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agent.config import APP, config_path, private_folder
from agent.errors import UsageError
from agent.files import write_whole
from agent.models.providers import PROVIDERS

if TYPE_CHECKING:
    from pathlib import Path

_HELD = "keyring"
"""Stands in the file in place of a value that the keyring holds."""


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


def kept() -> dict[str, str]:
    """Give the variables that are kept, and where their values are: `keyring` or `file`."""
    return {name: _HELD if "held" in row else "file" for name, row in _rows().items()}


def keep(variable: str, value: str) -> str:
    """Keep a value; gives where: `keyring` or the path of the file."""
    rows = _rows()
    keyring = _keyring()
    if keyring is not None:
        keyring.set_password(APP, variable, value)
    rows[variable] = {"held": _HELD} if keyring is not None else {"value": value}
    _write(rows)
    return _HELD if keyring is not None else str(_path())


def drop(variable: str) -> None:
    """Forget a value; raises `UsageError` where none is kept."""
    rows = _rows()
    row = rows.pop(variable, None)
    if row is None:
        raise UsageError(f"no key is kept as {variable}", hint="`research keys list` names them.")
    keyring = _keyring()
    if "held" in row and keyring is not None:
        keyring.delete_password(APP, variable)
    _write(rows)


def fill_environment() -> None:
    """Lay the kept values into the environment; what is set there goes before."""
    if not _path().is_file():
        return
    for variable, row in _rows().items():
        if variable not in os.environ and (value := row.get("value") or _held(variable)):
            os.environ[variable] = value


def _held(variable: str) -> str | None:
    keyring = _keyring()
    return keyring.get_password(APP, variable) if keyring is not None else None


def _path() -> Path:
    return config_path().with_name("keys.json")


def _rows() -> dict[str, dict[str, str]]:
    try:
        rows: dict[str, dict[str, str]] = json.loads(_path().read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {_path()}: {error}", hint="Move the file away.") from error
    return rows


def _write(rows: dict[str, dict[str, str]]) -> None:
    private_folder(_path().parent)
    try:
        write_whole(_path(), json.dumps(rows, indent=2).encode(), private=True)
    except OSError as error:
        raise UsageError(f"cannot write {_path()}: {error.strerror}") from error


def _keyring() -> Any | None:
    """Give the keyring, where the package is installed and has somewhere to keep things."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    usable = not type(keyring.get_keyring()).__module__.endswith((".fail", ".null"))
    return keyring if usable else None
