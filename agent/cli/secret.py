"""`research secret`: passwords that a run may type by name, each on its own site alone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from agent.cli.flags import data_dir_option
from agent.cli.terminal import note
from agent.config import default_data_dir, private_folder
from agent.errors import UsageError
from agent.guard.secret_store import SecretStore
from browser.text.words import clean

if TYPE_CHECKING:
    from pathlib import Path


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
def set_(store: SecretStore, name: str, origin: str) -> None:
    """Store NAME; its value is asked for, or read from standard input."""
    if sys.stdin.isatty():
        value = click.prompt("Value", hide_input=True, err=True)
    else:
        value = sys.stdin.readline().rstrip("\r\n")
    store.put(name, origin, value)
    print(clean(f"stored {name} for {store.origins()[name]}"))


@secret.command(name="list")
@click.pass_obj
def list_(store: SecretStore) -> None:
    """List names and origins, never values."""
    known = store.origins()
    if not known:
        note("No secrets are stored.", "`research secret set NAME --origin URL` stores one.")
    for name, where in sorted(known.items()):
        print(clean(f"{name}  {where}"))


@secret.command()
@click.argument("name")
@click.pass_obj
def rm(store: SecretStore, name: str) -> None:
    """Delete NAME for good."""
    if not store.remove(name):
        raise UsageError(f"no secret is called {name!r}", hint="`research secret list` names them.")
    print(clean(f"deleted {name}"))
