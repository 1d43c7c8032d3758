"""`research keys`: API keys that every run finds, without a line in the shell's start-up file.

They are in the system's keyring, else in a private file, and are laid into the environment when
`research` starts, below what stands there already.
"""

from __future__ import annotations

import os
import sys

import click

from agent.cli.flags import require_words
from agent.cli.terminal import note
from agent.config import config_path
from agent.errors import UsageError
from agent.guard.secret_store import ValueStore
from agent.models.providers import PROVIDERS

_HELD = "keyring"


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
    return {name: "file" if "value" in row else _HELD for name, row in _keys().rows().items()}


def keep(variable: str, value: str) -> str:
    """Keep a value; gives where: `keyring` or the path of the file."""
    keys = _keys()
    return _HELD if keys.put(variable, value) else str(keys.file)


def drop(variable: str) -> None:
    """Forget a value; raises `UsageError` where none is kept."""
    if not _keys().remove(variable):
        raise UsageError(f"no key is kept as {variable}", hint="`research keys list` names them.")


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
def set_(name: str) -> None:
    """Keep the key of NAME (openai, …, or a variable); it is typed unseen, or comes on a pipe."""
    variable = variable_of(name)
    typed = sys.stdin.isatty()
    value = click.prompt(variable, hide_input=True, err=True) if typed else sys.stdin.readline()
    require_words(value, "a key")
    print(f"{variable} is kept in {keep(variable, value.strip())}")


@keys.command(name="list")
def list_() -> None:
    """Name the keys that are kept, and where; never their values."""
    held = kept()
    for variable, where in held.items():
        print(f"{variable}  {where}")
    if not held:
        note("No keys are kept.", "`research keys set openai` keeps one.")


@keys.command()
@click.argument("name")
def rm(name: str) -> None:
    """Forget the key of NAME."""
    variable = variable_of(name)
    drop(variable)
    print(f"forgot {variable}")
