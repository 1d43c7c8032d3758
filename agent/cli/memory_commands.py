"""`research memory`: what is remembered, and the person's say over it.

Consolidation (`dream`) is made on request, and by `ask` when the answer is printed; `import` and
`export` take a memory as one file of JSON; `seal`, `stamp` and `verify` keep the log that
nobody can change unseen.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import (
    Amount,
    Anywhere,
    blocks_option,
    calendars_option,
    complete_option,
    is_given,
    json_option,
    number_option,
    require_one,
    require_words,
    roots_option,
)
from agent.cli.stores import Place, opened, placed
from agent.cli.terminal import complain_of, counted, note, print_json, print_rows
from agent.config import load_options
from agent.errors import CHECK_FAILED, NotFound, UsageError
from agent.files import write_file
from agent.memory.kinds import BASES, KNOWN, expand
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.config import Options
    from agent.memory.memory_api import Memory
    from agent.memory.memory_types import Hit
    from agent.memory.sealed_log import SealedLog

_LINE = 160  # characters of a memory in a list
_ID_DIGITS = 18  # more are no id, and no number that a database takes
_FILE = click.Path(path_type=Path, dir_okay=False)
_GRAPHS = frozenset({".graphml", ".mmd"})
_kinds = click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="fact, outcome, … or a knowledge base."
)
_FILE_OR_DASH = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
_PARTS = {
    "urchinMemory": ("memory", "memories"),
    "urchinProfile": ("entry of the profile", "entries of the profile"),
    "urchinSkills": ("skill", "skills"),
    "urchinProjects": ("project", "projects"),
    "urchinChatHistory": ("message", "messages"),
    "urchinCondensed": ("condensed conversation", "condensed conversations"),
}


@click.group(cls=Anywhere)
@placed
def memory() -> None:
    """Look at, add to and delete what is remembered."""


@memory.command(name="list")
@_kinds
@click.option("--all", "every", is_flag=True, help="What runs left as well, by id.")
@number_option(100, "How many, the newest.")
@json_option
@click.pass_obj
def list_(
    place: Place, /, kinds: tuple[str, ...], number: int, *, every: bool, as_json: bool
) -> None:
    """List what is remembered by key; --all or --kind for the rest."""
    if not kinds and not every:
        with opened(place) as store:
            kept = list(store.remembered().items())[-number:]
        rows = [{"key": key, "text": str(value)} for key, value in kept]
        empty = "Nothing is remembered by key.", "`--all` lists what runs left as well."
        print_rows(rows, "{0[key]}: {0[text]}".format, as_json=as_json, empty=empty)
        return
    with opened(place) as store:
        found = store.newest(sorted(expand(kinds)) or None, number)
        if not found and not as_json:
            _require_known(store, kinds)
    if as_json:
        print_json([{"id": h.id, "key": h.key, "text": h.text, "kind": h.kind} for h in found])
    else:
        nothing = "Nothing is remembered here yet." if every else "Nothing is remembered by key."
        print_rows(found, _row, empty=[nothing])


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
    print_rows(found, lambda hit: f"{hit.score:5.2f}  {_row(hit)}")


@memory.command()
@click.argument("key")
@click.pass_obj
def show(place: Place, key: str) -> None:
    """Show what is kept under KEY (or an id), and what stood there before."""
    with opened(place) as store:
        value = store.recall(key)
        if value is None:
            hit = _by_id(store, key)
            _show_by_id(hit)
            given, cited = store.uses(hit.id)
            if given:
                print(f"  given to {given} runs; {cited} of their answers cite its page")
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
            store.delete([_own(store, key).id])
        print(clean(f"forgot {key}"))


@memory.command()
@click.argument("key", metavar="ID")
@click.pass_obj
def trust(place: Place, key: str) -> None:
    """Take the memory ID for your own word: runs are no longer shown it as a quotation."""
    with opened(place) as store:
        hit = _own(store, key)
        store.trust(hit.id)
        print(clean(f"trusted {' '.join(hit.text.split())[:_LINE]}"))


@memory.command()
@click.argument("question")
@click.option("--session", metavar="NAME", help="As if asked in this conversation.")
@click.pass_obj
def preview(place: Place, question: str, session: str | None) -> None:
    """Show what a run with QUESTION would be given, and why; nothing is asked or changed."""
    from agent.memory.layers import preview as explain  # noqa: PLC0415 - `--help` needs no database

    require_words(question, "a question")
    with opened(place) as store:
        print(clean(explain(store.layers(question, session), question)))


@memory.command()
@click.option("--output", type=_FILE, metavar="FILE", help="Write it: .graphml or .mmd (Mermaid).")
@click.pass_obj
def graph(place: Place, output: Path | None) -> None:
    """Show how memories are linked, the strongest links first, or write the graph to a file."""
    if output is not None and output.suffix not in _GRAPHS:
        raise UsageError(f"cannot write a graph as {output.name!r}", hint="Use .graphml or .mmd.")
    with opened(place) as store:
        found = store.graph()
    if not found.links:
        note("No memories are linked yet.", "`research memory dream` links those that are alike.")
    if output is not None:
        text = found.graphml() if output.suffix == ".graphml" else found.mermaid()
        write_file(output, text.encode())
        print(f"wrote {output}")
        return
    texts = {hit.id: clean(f"{hit.text[:60]}") for hit in found.memories}
    for link in found.links:
        print(f"{link.strength:.2f} {link.kind:10}  {texts[link.one]}  —  {texts[link.other]}")


@memory.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def delete(ctx: click.Context, /, *, yes: bool) -> None:
    """Delete all that a --namespace holds, conversations too, for good."""
    place: Place = ctx.obj
    namespace = place[1]
    if not is_given(ctx, "namespace"):
        raise click.UsageError("Say whose memories: --namespace NAME.")
    if not yes:
        click.confirm(f"Delete everything in {namespace!r} for good?", abort=True, err=True)
    with opened(place) as store:
        gone = store.clear()
    if not gone:
        note(f"There was nothing in {namespace!r}.")
    else:
        print(f"deleted {counted(gone, 'memory or conversation', 'memories and conversations')}")


@memory.command()
@click.option(
    "--seconds",
    default=30.0,
    type=Amount(min=0, min_open=True),
    show_default=True,
    help="How long at most.",
)
@click.option("--model", metavar="NAME", help="Has new insights worded by this model.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible endpoint.")
@click.pass_obj
def dream(place: Place, seconds: float, model: str | None, base_url: str | None) -> None:
    """Consolidate: link, merge, draw insights, retire what is stale."""
    folder, namespace = place
    given: dict[str, Any] = {"data_dir": folder, "namespace": namespace, "base_url": base_url}
    settings = load_options(given, config=True)
    asked = (model or "") if model or base_url else None
    from agent.run.job_runner import UnsettledRuns  # noqa: PLC0415 - `--help` needs none of it

    with opened(place) as store:
        if UnsettledRuns(folder).names():
            asyncio.run(_finish_runs(store, asked, settings))
        done = store.consolidate(seconds)
        print(
            f"linked {done.linked}, merged {done.merged}, insights {done.insights}, "
            f"faded {done.faded}, retired {done.retired}"
        )
        if asked is not None:
            print(f"worded {asyncio.run(_worded(store, asked, settings))}")


@memory.command(name="import")
@click.argument("file", type=_FILE_OR_DASH)
@click.option("--session", default="imported", show_default=True, help="Names the conversation.")
@click.pass_obj
def import_(place: Place, file: Path, session: str) -> None:
    """Take over FILE (`-` for standard input); what has the same key goes into the history."""
    storage = _read_storage(file)
    with opened(place) as store:
        renamed = store.load(storage, session)
    for line in _told(storage):
        print(clean(line))
    for name, new in renamed:
        print(clean(f"kept beside the skill {name!r} that was there: {new!r}"))
    if not any(storage.values()):
        note(f"{_named(file)} holds nothing to import.")


@memory.command()
@click.argument("file", type=_FILE_OR_DASH)
@click.option("--session", metavar="NAME", help="Whose chat history; the latest unless told.")
@click.pass_obj
def export(place: Place, file: Path, session: str | None) -> None:
    """Write everything to FILE (`-` for standard output), as `import` takes it."""
    with opened(place) as store:
        text = json.dumps(store.export(session), ensure_ascii=False, indent=2) + "\n"
    text = text.encode("utf-8", "backslashreplace").decode()  # half pairs, as JSON spells them
    if str(file) == "-":
        print(text, end="")
        return
    write_file(file, text.encode(), private=True)
    print(f"wrote {file}")


@memory.command()
@click.argument("category")
@click.argument("content")
@click.pass_obj
def seal(place: Place, category: str, content: str) -> None:
    """Seal a milestone, a decision or an incident: CATEGORY and CONTENT."""
    require_words(content, "an entry")
    with opened(place) as store:
        sealed = _log(store).append(category, content)
    print(f"sealed as entry {sealed.number}; head {sealed.hash}")


@memory.command()
@click.argument("authority", metavar="[URL]", required=False)
@calendars_option
@complete_option
@click.pass_obj
def stamp(
    place: Place, /, authority: str | None, calendars: tuple[str, ...], *, complete: bool
) -> None:
    """Have the head stamped with the time: by the authority at URL (RFC 3161), or by calendars.

    Calendars need some hours: --complete takes up then what they promised.
    """
    require_one(authority, calendars, complete=complete)
    proxy = load_options({}, config=True).proxy
    with opened(place) as store:
        if authority:
            stamped = _log(store).stamp(authority, proxy=proxy)
            print(clean(f"entry {stamped.number} is stamped by {authority}"))
        if complete:
            missing = _log(store).complete(calendars, proxy=proxy)
            complain_of(missing)
            print("still pending" if missing else "the proofs name their blocks")
        elif calendars:
            taken, missing = _log(store).anchor(calendars, proxy=proxy)
            complain_of(missing)
            print(f"entry {taken.number} is taken down: its block comes in some hours (--complete)")


@memory.command()
@click.option("--head", metavar="HASH", help="A head that was noted before.")
@roots_option
@blocks_option
@click.pass_obj
def verify(place: Place, head: str | None, roots: Path | None, blocks: dict[int, bytes]) -> int:
    """Check that the sealed log is what was sealed, and when; exit 8 where it is not."""
    with opened(place) as store:
        check = _log(store).verify(head, roots, blocks)
    if check.reason:
        print(clean(f"does not hold: {check.reason}"))
        return CHECK_FAILED
    if not check.entries:
        note("Nothing is sealed yet.", "`research memory seal` adds an entry.")
        return 0
    holding = "entry holds" if check.entries == 1 else "entries hold"
    print(f"{check.entries} {holding}; head {check.head}")
    for number, stamped in check.stamps:
        since = f" existed at {stamped}" if stamped.when else f": {stamped}"
        print(clean(f"entry {number}{since}"))
    return 0


def _log(store: Memory) -> SealedLog:
    from agent.memory.sealed_log import SealedLog  # noqa: PLC0415 - `--help` needs no database

    return SealedLog(store)


def _by_id(store: Memory, name: str) -> Hit:
    found = store.get(int(name)) if name.isdecimal() and len(name) <= _ID_DIGITS else None
    if found is None:
        raise UsageError(
            f"nothing is remembered under {name!r}",
            hint="`memory list` shows the keys, `memory list --all` the ids.",
        )
    return found


def _own(store: Memory, name: str) -> Hit:
    """Find a memory by its id that this namespace may change; raises `UsageError`."""
    hit = _by_id(store, name)
    if hit.shared:
        raise UsageError(f"{name} is shared by all", hint="Add --namespace shared.")
    return hit


def _require_known(store: Memory, kinds: tuple[str, ...]) -> None:
    """Refuse kinds that nobody knows; raises `UsageError`."""
    strange = sorted(set(kinds) - KNOWN - BASES.keys())
    if strange and not store.newest(strange, 1):
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
    return f"{hit.id:>6} [{kind}] {f'{hit.key}: ' if hit.kind == 'memory' else ''}{text}"


async def _finish_runs(store: Memory, name: str | None, settings: Options) -> None:
    """Do the jobs of runs that were killed behind their answers, without a model some of them."""
    from agent.run.job_runner import JobRunner  # noqa: PLC0415 - `--help` needs none of it
    from agent.run.models import open_model  # noqa: PLC0415 - as above
    from agent.run.settings import memory_name  # noqa: PLC0415 - as above

    async with AsyncExitStack() as stack:
        model = None
        if name is not None:
            model = await open_model(stack, name, settings, os.environ)
        runner = JobRunner(store, asyncio.to_thread, memory_name(settings), model)
        await runner.settle_killed(settings.data)


async def _worded(store: Memory, name: str, settings: Options) -> int:
    """Have insights worded; returns how many."""
    from agent.models.base import Task, takes  # noqa: PLC0415 - as above
    from agent.run.conversation_jobs import word_insights  # noqa: PLC0415 - only where a model is named
    from agent.run.models import open_model  # noqa: PLC0415 - as above

    async with AsyncExitStack() as stack:
        model = await open_model(stack, name, settings, os.environ)
        if not takes(model, Task.AFTER):
            raise UsageError(f"{model.name} words nothing", hint="Name a language model.")
        return await word_insights(store, model)


def _told(storage: dict[str, Any]) -> Iterator[str]:
    """Say what an import holds, by the names that people know."""
    known = {key: (*names, storage[key]) for key, names in _PARTS.items() if storage.get(key)}
    if known:
        parts = [counted(_size(value), one, many) for one, many, value in known.values()]
        yield f"imported {', '.join(parts)}"
    others = sorted(key for key in storage.keys() - _PARTS.keys())
    if others:
        yield f"kept for `memory export`, and not used otherwise: {', '.join(others)}"


def _size(value: Any) -> int:
    return 1 if isinstance(value, str) else len(value)


def _named(file: Path) -> str:
    return "standard input" if str(file) == "-" else str(file)


def _read_storage(file: Path) -> dict[str, Any]:
    from agent.memory.memory_types import BadImport  # noqa: PLC0415 - only where something is imported

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
        value = json.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadImport(f"{_named(file)} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadImport(f"{_named(file)} holds no JSON object")
    return value
