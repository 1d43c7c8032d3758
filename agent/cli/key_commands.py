"""`research keys`: API keys that every run finds, without a line in the shell's start-up file."""

from __future__ import annotations

import sys

import click

from agent.cli.flags import require_words
from agent.cli.key_store import drop, keep, kept, variable_of
from agent.cli.terminal import note


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
