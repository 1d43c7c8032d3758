"""`research memory`: what is remembered, and the person's say over it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.anywhere import Anywhere
from agent.cli.runs import data_dir_option
from agent.config import default_data_dir, options, private_folder
from agent.errors import UsageError
from browser.text.hygiene import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.memory import Hit, Memory

CHECK_FAILED = 8
_LINE = 160  # characters of a memory in a list
_FILE = click.Path(path_type=Path, dir_okay=False)
_kinds = click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="fact, outcome, … or a knowledge base."
)


@click.group(cls=Anywhere)
@click.option("--namespace", envvar="RESEARCH_NAMESPACE", default="default", help="Whose memories.")
@data_dir_option
@click.pass_context
def memory(ctx: click.Context, namespace: str, data_dir: Path | None) -> None:
    """Look at, add to and delete what is remembered."""
    ctx.obj = (data_dir or default_data_dir(), namespace)


@memory.command(name="list")
@_kinds
@click.option("--all", "every", is_flag=True, help="What runs left as well, by id.")
@click.option("-n", "--number", default=100, show_default=True, help="How many, the newest.")
@click.pass_obj
def list_(place: tuple[Path, str], kinds: tuple[str, ...], every: bool, number: int) -> None:  # noqa: FBT001 - click's way
    """List what is remembered by key; --all or --kind for the rest."""
    with opened(place) as store:
        if kinds or every:
            from agent.memory.kinds import expand  # noqa: PLC0415 - only here

            for hit in store.control.list(sorted(expand(kinds)) or None, number):
                print(_row(hit))
        else:
            for key, value in list(store.remembered().items())[-number:]:
                print(clean(f"{key}: {value}"))


@memory.command()
@click.argument("query")
@_kinds
@click.option("-n", "--number", default=10, show_default=True, help="How many.")
@click.pass_obj
def search(place: tuple[Path, str], query: str, kinds: tuple[str, ...], number: int) -> None:
    """Search what is remembered."""
    with opened(place) as store:
        for hit in store.search(query, number, kinds or None):
            print(f"{hit.score:5.2f}  {_row(hit)}")


@memory.command()
@click.argument("key")
@click.pass_obj
def show(place: tuple[Path, str], key: str) -> None:
    """Show what is kept under KEY (or an id), and what stood there before."""
    with opened(place) as store:
        value = store.recall(key)
        if value is None:
            _show_by_id(_by_id(store, key))
            return
        print(clean(str(value)))
        for former in store.former_values(key):
            print(clean(f"  before: {former}"))


@memory.command()
@click.argument("key")
@click.argument("value")
@click.pass_obj
def remember(place: tuple[Path, str], key: str, value: str) -> None:
    """Keep VALUE under KEY."""
    with opened(place) as store:
        store.remember(key, value)
        print(clean(f"remembered {key}"))


@memory.command()
@click.argument("key")
@click.pass_obj
def forget(place: tuple[Path, str], key: str) -> None:
    """Delete what is kept under KEY (or an id) for good."""
    with opened(place) as store:
        if not store.forget(key):
            store.control.delete([_by_id(store, key).id])
        print(clean(f"forgot {key}"))


@memory.command()
@click.argument("question")
@click.option("--session", metavar="NAME", help="As if asked in this conversation.")
@click.pass_obj
def preview(place: tuple[Path, str], question: str, session: str | None) -> None:
    """Show what a run with QUESTION would be given, and why; nothing is asked or changed."""
    from agent.memory.preview import preview as explain  # noqa: PLC0415 - `--help` needs no database

    with opened(place) as store:
        print(clean(explain(store.layers(question, session), question)))


@memory.command()
@click.option("--html", type=_FILE, metavar="FILE", help="Write it as a picture.")
@click.pass_obj
def graph(place: tuple[Path, str], html: Path | None) -> None:
    """Show how memories are linked: the strongest links, or a picture of all."""
    from agent.memory.picture import page  # noqa: PLC0415 - only here

    with opened(place) as store:
        found = store.control.graph()
    if html is not None:
        _write(html, page(found))
        print(f"wrote {html}")
        return
    texts = {hit.id: clean(f"{hit.text[:60]}") for hit in found.memories}
    for link in found.links:
        print(f"{link.strength:.2f} {link.kind:10}  {texts[link.one]}  —  {texts[link.other]}")


@memory.command()
@click.option("--namespace", required=True, metavar="NAME", help="Whose memories.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def delete(place: tuple[Path, str], namespace: str, yes: bool) -> None:  # noqa: FBT001 - click's way
    """Delete all that a namespace holds, conversations too, for good."""
    if not yes:
        click.confirm(f"Delete everything in {namespace!r} for good?", abort=True, err=True)
    with opened((place[0], namespace)) as store:
        print(f"deleted {store.control.clear()} memories and conversations")


@contextmanager
def opened(place: tuple[Path, str]) -> Iterator[Memory]:
    """Open the memory of a data folder and a namespace."""
    from agent.memory import Memory  # noqa: PLC0415 - `--help` needs no database
    from agent.memory.embedders import embedder_of  # noqa: PLC0415 - as above

    folder, namespace = place
    settings = options({"data_dir": private_folder(folder)}, config=True)
    embedder = embedder_of(settings.embeddings, settings.base_url, os.environ, settings.proxy)
    with Memory.open(settings.memory_place, namespace, embeddings=embedder) as store:
        yield store


def _by_id(store: Memory, name: str) -> Hit:
    found = store.control.get(int(name)) if name.isdecimal() else None
    if found is None:
        raise UsageError(
            f"nothing is remembered under {name!r}",
            hint="`memory list` shows the keys, `memory list --all` the ids.",
        )
    return found


def _show_by_id(hit: Hit) -> None:
    print(clean(hit.text))
    origin = [f"run {hit.origin.run}" if hit.origin.run else "", hit.origin.url or ""]
    words = "" if hit.origin.trusted else "the web's words"
    print(clean(f"  {hit.kind}, {hit.at:%Y-%m-%d %H:%M}  {' '.join([*origin, words])}".rstrip()))


def _row(hit: Hit) -> str:
    text = " ".join(hit.text.split())
    text = text if len(text) <= _LINE else text[: _LINE - 1] + "…"
    return clean(f"{hit.id:>6} [{hit.kind}] {f'{hit.key}: ' if hit.kind == 'memory' else ''}{text}")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
