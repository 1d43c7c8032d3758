"""`research memory`: what is remembered, and the person's say over it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.anywhere import Anywhere
from agent.cli.given import is_given, number_option, require_words
from agent.cli.place import Place, opened, placed
from agent.cli.say import counted, note
from agent.errors import NotFound, UsageError
from browser.text import clean

if TYPE_CHECKING:
    from agent.memory import Hit, Memory

_LINE = 160  # characters of a memory in a list
_ID_DIGITS = 18  # more are no id, and no number that a database takes
_FILE = click.Path(path_type=Path, dir_okay=False)
_kinds = click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="fact, outcome, … or a knowledge base."
)


@click.group(cls=Anywhere)
@placed
def memory() -> None:
    """Look at, add to and delete what is remembered."""


@memory.command(name="list")
@_kinds
@click.option("--all", "every", is_flag=True, help="What runs left as well, by id.")
@number_option(100, "How many, the newest.")
@click.pass_obj
def list_(place: Place, kinds: tuple[str, ...], every: bool, number: int) -> None:  # noqa: FBT001 - click's way
    """List what is remembered by key; --all or --kind for the rest."""
    with opened(place) as store:
        if kinds or every:
            from agent.memory.kinds import expand  # noqa: PLC0415 - only here

            lines = [_row(hit) for hit in store.control.list(sorted(expand(kinds)) or None, number)]
        else:
            kept = list(store.remembered().items())[-number:]
            lines = [clean(f"{key}: {value}") for key, value in kept]
        if not lines:
            _require_known(store, kinds)
            note(
                "Nothing is remembered here yet." if every else "Nothing is remembered by key.",
                "" if every or kinds else "`--all` lists what runs left as well.",
            )
    print("\n".join(lines), end="\n" if lines else "")


@memory.command()
@click.argument("query")
@_kinds
@number_option(10, "How many.")
@click.pass_obj
def search(place: Place, query: str, kinds: tuple[str, ...], number: int) -> None:
    """Search what is remembered; exit 3 where nothing is found."""
    require_words(query, "a search")
    with opened(place) as store:
        found = store.search(query, number, kinds or None)
        if not found:
            _require_known(store, kinds)
            raise NotFound(f"nothing that is remembered bears on {query!r}")
    for hit in found:
        print(f"{hit.score:5.2f}  {_row(hit)}")


@memory.command()
@click.argument("key")
@click.pass_obj
def show(place: Place, key: str) -> None:
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
def remember(place: Place, key: str, value: str) -> None:
    """Keep VALUE under KEY."""
    require_words(key, "a memory's key")
    require_words(value, "a memory", "`research memory forget KEY` takes one away.")
    with opened(place) as store:
        store.remember(key, value)
        print(clean(f"remembered {key}"))


@memory.command()
@click.argument("key")
@click.pass_obj
def forget(place: Place, key: str) -> None:
    """Delete what is kept under KEY (or an id) for good."""
    with opened(place) as store:
        if not store.forget(key):
            hit = _by_id(store, key)
            if hit.shared:
                raise UsageError(f"{key} is shared by all", hint="Add --namespace shared.")
            store.control.delete([hit.id])
        print(clean(f"forgot {key}"))


@memory.command()
@click.argument("question")
@click.option("--session", metavar="NAME", help="As if asked in this conversation.")
@click.pass_obj
def preview(place: Place, question: str, session: str | None) -> None:
    """Show what a run with QUESTION would be given, and why; nothing is asked or changed."""
    from agent.memory.preview import preview as explain  # noqa: PLC0415 - `--help` needs no database

    require_words(question, "a question")
    with opened(place) as store:
        print(clean(explain(store.layers(question, session), question)))


@memory.command()
@click.option("--html", type=_FILE, metavar="FILE", help="Write it as a picture.")
@click.pass_obj
def graph(place: Place, html: Path | None) -> None:
    """Show how memories are linked: the strongest links, or a picture of all."""
    from agent.memory.picture import page  # noqa: PLC0415 - only here

    with opened(place) as store:
        found = store.control.graph()
    if html is not None:
        _write(html, page(found))
        print(f"wrote {html}")
        return
    if not found.links:
        note("No memories are linked yet.", "`research memory dream` links those that are alike.")
    texts = {hit.id: clean(f"{hit.text[:60]}") for hit in found.memories}
    for link in found.links:
        print(f"{link.strength:.2f} {link.kind:10}  {texts[link.one]}  —  {texts[link.other]}")


@memory.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def delete(ctx: click.Context, yes: bool) -> None:  # noqa: FBT001 - click's way
    """Delete all that a --namespace holds, conversations too, for good."""
    place: Place = ctx.obj
    namespace = place[1]
    if not is_given(ctx, "namespace"):
        raise click.UsageError("Say whose memories: --namespace NAME.")
    if not yes:
        click.confirm(f"Delete everything in {namespace!r} for good?", abort=True, err=True)
    with opened(place) as store:
        gone = store.control.clear()
    if not gone:
        note(f"There was nothing in {namespace!r}.")
    else:
        print(f"deleted {counted(gone, 'memory or conversation', 'memories and conversations')}")


def _by_id(store: Memory, name: str) -> Hit:
    found = store.control.get(int(name)) if name.isdecimal() and len(name) <= _ID_DIGITS else None
    if found is None:
        raise UsageError(
            f"nothing is remembered under {name!r}",
            hint="`memory list` shows the keys, `memory list --all` the ids.",
        )
    return found


def _require_known(store: Memory, kinds: tuple[str, ...]) -> None:
    """Refuse kinds that nobody knows; raises `UsageError`."""
    from agent.memory.kinds import BASES, KNOWN  # noqa: PLC0415 - only here

    strange = sorted(set(kinds) - KNOWN - BASES.keys())
    if strange and not store.control.list(strange, 1):
        hint = f"Choose of {', '.join([*sorted(KNOWN), *BASES])}."
        raise UsageError(f"no memory is of the kind {strange[0]!r}", hint=hint)


def _show_by_id(hit: Hit) -> None:
    print(clean(hit.text))
    origin = [f"run {hit.origin.run}" if hit.origin.run else "", hit.origin.url or ""]
    words = "" if hit.origin.trusted else "the web's words"
    print(clean(f"  {hit.kind}, {hit.at:%Y-%m-%d %H:%M}  {' '.join([*origin, words])}".rstrip()))


def _row(hit: Hit) -> str:
    text = " ".join(hit.text.split())
    text = text if len(text) <= _LINE else text[: _LINE - 1] + "…"
    kind = f"shared {hit.kind}" if hit.shared else hit.kind
    return clean(f"{hit.id:>6} [{kind}] {f'{hit.key}: ' if hit.kind == 'memory' else ''}{text}")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
