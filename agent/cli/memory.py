"""`research memory`: what is remembered, and the person's say over it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from agent.cli.runs import data_dir_option
from agent.config import default_data_dir, private_folder
from agent.errors import UsageError
from browser.text.hygiene import clean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agent.memory import Memory


@click.group()
@click.option("--namespace", envvar="RESEARCH_NAMESPACE", default="default", help="Whose memories.")
@data_dir_option
@click.pass_context
def memory(ctx: click.Context, namespace: str, data_dir: Path | None) -> None:
    """Look at, add to and delete what is remembered."""
    ctx.obj = (data_dir or default_data_dir(), namespace)


@memory.command(name="list")
@click.pass_obj
def list_(place: tuple[Path, str]) -> None:
    """List what is remembered by key."""
    with _opened(place) as store:
        for key, value in store.remembered().items():
            print(clean(f"{key}: {value}"))


@memory.command()
@click.argument("query")
@click.option("-n", "--number", default=10, show_default=True, help="How many.")
@click.pass_obj
def search(place: tuple[Path, str], query: str, number: int) -> None:
    """Search what is remembered."""
    with _opened(place) as store:
        for hit in store.search(query, number):
            print(clean(f"{hit.score:5.2f}  [{hit.kind}] {hit.key or hit.id}: {hit.text}"))


@memory.command()
@click.argument("key")
@click.pass_obj
def show(place: tuple[Path, str], key: str) -> None:
    """Show one memory, and what stood there before."""
    with _opened(place) as store:
        value = store.recall(key)
        if value is None:
            raise UsageError(
                f"nothing is remembered under {key!r}", hint="`memory list` shows all."
            )
        print(clean(str(value)))
        for former in store.former_values(key):
            print(clean(f"  before: {former}"))


@memory.command()
@click.argument("key")
@click.argument("value")
@click.pass_obj
def remember(place: tuple[Path, str], key: str, value: str) -> None:
    """Keep VALUE under KEY."""
    with _opened(place) as store:
        store.remember(key, value)
        print(f"remembered {key}")


@memory.command()
@click.argument("key")
@click.pass_obj
def forget(place: tuple[Path, str], key: str) -> None:
    """Delete what is kept under KEY."""
    with _opened(place) as store:
        if not store.forget(key):
            raise UsageError(
                f"nothing is remembered under {key!r}", hint="`memory list` shows all."
            )
        print(f"forgot {key}")


@contextmanager
def _opened(place: tuple[Path, str]) -> Iterator[Memory]:
    from agent.memory import Memory  # noqa: PLC0415 - `--help` needs no database

    folder, namespace = place
    with Memory.open(private_folder(folder) / "memory.db", namespace) as store:
        yield store
