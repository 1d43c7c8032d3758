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
    ABOVE_ZERO,
    FILE,
    NonBlank,
    blocks_option,
    calendars_option,
    complete_option,
    is_given,
    json_option,
    number_option,
    option,
    require_stamper,
    roots_option,
    several,
    switch,
)
from agent.cli.stores import MemoryPlace, memory_at, memory_group, with_memory
from agent.cli.terminal import (
    note,
    plural,
    print_error,
    print_json,
    print_rows,
    print_text,
)
from agent.config import load_options
from agent.errors import CHECK_FAILED, NotFound, UsageError
from agent.files import write_file
from agent.memory.kinds import BASES, KNOWN, expand
from browser.text.words import shorten

if TYPE_CHECKING:
    from agent.config import Options
    from agent.memory.memory_api import Memory
    from agent.memory.memory_types import Hit
    from agent.memory.sealed_log import SealedLog

_LINE = 160  # characters of a memory in a list
_ID_DIGITS = 18  # more are no id, and no number that a database takes
_FILE_OR_DASH = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
_kinds_option = several(("--kind", "kinds"), "KIND", "fact, outcome, … or a knowledge base.")
_PARTS = {
    "urchinMemory": ("memory", "memories"),
    "urchinProfile": ("entry of the profile", "entries of the profile"),
    "urchinSkills": ("skill", "skills"),
    "urchinProjects": ("project", "projects"),
    "urchinChatHistory": ("message", "messages"),
    "urchinCondensed": ("condensed conversation", "condensed conversations"),
}
"""The parts of an export, by the names that people know: one, many."""

memory = memory_group("memory", "Look at, add to and delete what is remembered.")


@memory.command(name="list")
@_kinds_option
@switch(("--all", "everything"), "What runs left as well, by id.")
@number_option(100, "How many, the newest.")
@json_option
@with_memory
def list_(
    store: Memory, kinds: tuple[str, ...], number: int, *, everything: bool, as_json: bool
) -> None:
    """List what is remembered by key; --all or --kind for the rest."""
    if not kinds and not everything:
        rows = [{"key": key, "text": str(value)} for key, value in store.remembered().items()]
        hint = "`--all` lists what runs left as well."
        print_rows(
            rows[-number:],
            "{0[key]}: {0[text]}".format,
            as_json=as_json,
            empty=("Nothing is remembered by key.", hint),
        )
        return
    hits = store.newest(sorted(expand(kinds)) or None, number)
    if as_json:
        print_json([{"id": h.id, "key": h.key, "text": h.text, "kind": h.kind} for h in hits])
        return
    if not hits:
        _require_known(store, kinds)
    nothing = "Nothing is remembered here yet." if everything else "Nothing is remembered by key."
    print_rows(hits, _format, empty=[nothing])


@memory.command()
@click.argument("query", type=NonBlank("a search"))
@_kinds_option
@number_option(10, "How many.")
@with_memory
def search(store: Memory, query: str, kinds: tuple[str, ...], number: int) -> None:
    """Search what is remembered; exit 3 where nothing is found."""
    hits = store.search(query, number, kinds or None)
    if not hits:
        _require_known(store, kinds)
        raise NotFound(f"nothing that is remembered bears on {query!r}")
    print_rows(hits, lambda hit: f"{hit.score:5.2f}  {_format(hit)}")


@memory.command()
@click.argument("key")
@with_memory
def show(store: Memory, key: str) -> None:
    """Show what is kept under KEY (or an id), and what stood there before."""
    from agent.memory.outcomes import uses  # noqa: PLC0415 - `--help` needs no database

    value = store.recall(key)
    if value is not None:
        print_text(str(value))
        for former in store.former_values(key):
            print_text(f"  before: {former}")
        return
    hit = _find(store, key)
    origin = [f"run {hit.origin.run}" if hit.origin.run else "", hit.origin.url or ""]
    origin.append("" if hit.origin.trusted else "the web's words")
    print_text(hit.text)
    print_text(f"  {hit.kind}, {hit.at:%Y-%m-%d %H:%M}  {' '.join(origin)}".rstrip())
    given, cited = uses(store.entries, hit.id)
    if given:
        print(f"  given to {given} runs; {cited} of their answers cite its page")


@memory.command()
@click.argument("key", type=NonBlank("a memory's key"))
@click.argument("value", type=NonBlank("a memory", "`research memory forget KEY` takes one away."))
@with_memory
def remember(store: Memory, key: str, value: str) -> None:
    """Keep VALUE under KEY."""
    store.remember(key, value)
    print_text(f"remembered {key}")


@memory.command()
@click.argument("key")
@with_memory
def forget(store: Memory, key: str) -> None:
    """Delete what is kept under KEY (or an id) for good."""
    if not store.forget(key):
        store.delete([_find(store, key, own=True).id])
    print_text(f"forgot {key}")


@memory.command()
@click.argument("key", metavar="ID")
@with_memory
def trust(store: Memory, key: str) -> None:
    """Take the memory ID for your own word: runs are no longer shown it as a quotation."""
    hit = _find(store, key, own=True)
    store.trust(hit.id)
    print_text(f"trusted {' '.join(hit.text.split())[:_LINE]}")


@memory.command()
@click.argument("question", type=NonBlank("a question"))
@option("--session", "NAME", "As if asked in this conversation.")
@with_memory
def preview(store: Memory, question: str, session: str | None) -> None:
    """Show what a run with QUESTION would be given, and why; nothing is asked or changed."""
    from agent.memory.layers import preview as explain  # noqa: PLC0415 - `--help` needs no database

    print_text(explain(store.layers(question, session), question))


@memory.command()
@option("--output", "FILE", "Write it: .graphml or .mmd (Mermaid).", type=FILE)
@click.pass_obj
def graph(place: MemoryPlace, output: Path | None) -> None:
    """Show how memories are linked, the strongest links first, or write the graph to a file."""
    if output is not None and output.suffix not in (".graphml", ".mmd"):
        raise UsageError(f"cannot write a graph as {output.name!r}", hint="Use .graphml or .mmd.")
    with memory_at(place) as store:
        found = store.graph()
    if not found.links:
        note("No memories are linked yet.", "`research memory dream` links those that are alike.")
    if output is not None:
        text = found.graphml() if output.suffix == ".graphml" else found.mermaid()
        write_file(output, text.encode())
        print(f"wrote {output}")
        return
    texts = {hit.id: hit.text[:60] for hit in found.memories}
    for link in found.links:
        print_text(f"{link.strength:.2f} {link.kind:10}  {texts[link.one]}  —  {texts[link.other]}")


@memory.command()
@switch("--yes", "Do not ask.")
@click.pass_context
def delete(ctx: click.Context, /, *, yes: bool) -> None:
    """Delete all that a --namespace holds, conversations too, for good."""
    place: MemoryPlace = ctx.obj
    namespace = place[1]
    # What a settings file names was not meant now, by whoever types `delete`.
    if not is_given(ctx, "namespace"):
        raise click.UsageError("Say whose memories: --namespace NAME.")
    if not yes:
        click.confirm(f"Delete everything in {namespace!r} for good?", abort=True, err=True)
    with memory_at(place) as store:
        gone = store.clear()
    if gone:
        print(f"deleted {plural(gone, 'memory or conversation', 'memories and conversations')}")
    else:
        note(f"There was nothing in {namespace!r}.")


@memory.command()
@option("--seconds", None, "How long at most.", default=30.0, type=ABOVE_ZERO, show_default=True)
@option("--model", "NAME", "Has new insights worded by this model.")
@option("--base-url", "URL", "An OpenAI-compatible endpoint.")
@click.pass_obj
def dream(place: MemoryPlace, seconds: float, model: str | None, base_url: str | None) -> None:
    """Consolidate: link, merge, draw insights, retire what is stale."""
    folder, namespace = place
    flags = {"data_dir": folder, "namespace": namespace, "base_url": base_url}
    settings = load_options(flags, config=True)
    # The model of the settings is not asked: whoever types `dream` did not say that it may cost.
    named = (model or "") if model or base_url else None
    with memory_at(place) as store:
        asyncio.run(_dream(store, seconds, named, settings))


async def _dream(store: Memory, seconds: float, model_name: str | None, settings: Options) -> None:
    """Do the jobs of killed runs, consolidate, and have a named model word new insights."""
    from agent.memory.consolidation import consolidate  # noqa: PLC0415 - `--help` needs none of it
    from agent.models.base import Task, takes  # noqa: PLC0415 - as above
    from agent.run.conversation_jobs import word_insights  # noqa: PLC0415 - as above
    from agent.run.job_runner import JobRunner  # noqa: PLC0415 - as above
    from agent.run.models import open_model  # noqa: PLC0415 - as above
    from agent.run.settings import memory_name  # noqa: PLC0415 - as above

    async with AsyncExitStack() as stack:
        model = None
        if model_name is not None:
            model = await open_model(stack, model_name, settings, os.environ)
            if not takes(model, Task.BACKGROUND):
                raise UsageError(f"{model.name} words nothing", hint="Name a language model.")
        runner = JobRunner(store, memory_name(settings), model)
        await runner.settle_killed(settings.data)
        done = consolidate(store.entries, seconds)
        print(
            f"linked {done.linked}, merged {done.merged}, insights {done.insights}, "
            f"faded {done.faded}, retired {done.retired}"
        )
        if model is not None:
            print(f"worded {await word_insights(store, model)}")


@memory.command(name="import")
@click.argument("file", type=_FILE_OR_DASH)
@option("--session", None, "Names the conversation.", default="imported", show_default=True)
@click.pass_obj
def import_(place: MemoryPlace, file: Path, session: str) -> None:
    """Take over FILE (`-` for standard input); what has the same key goes into the history."""
    from agent.memory.storage import load_storage  # noqa: PLC0415 - `--help` needs no database

    name = "standard input" if str(file) == "-" else str(file)
    storage = _read_storage(file, name)
    with memory_at(place) as store:
        renamed = load_storage(store, storage, session)
    held = {key: value for key, value in storage.items() if value and key in _PARTS}
    if held:
        sizes = {key: 1 if isinstance(value, str) else len(value) for key, value in held.items()}
        parts = [plural(sizes[key], *names) for key, names in _PARTS.items() if key in sizes]
        print(f"imported {', '.join(parts)}")
    if others := sorted(storage.keys() - _PARTS.keys()):
        print_text(f"kept for `memory export`, and not used otherwise: {', '.join(others)}")
    for skill, new in renamed:
        print_text(f"kept beside the skill {skill!r} that was there: {new!r}")
    if not any(storage.values()):
        note(f"{name} holds nothing to import.")


def _read_storage(file: Path, name: str) -> Any:
    from agent.memory.memory_types import BadImport  # noqa: PLC0415 - only where something is imported

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
        return json.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadImport(f"{name} is not JSON: {error}") from error


@memory.command()
@click.argument("file", type=_FILE_OR_DASH)
@option("--session", "NAME", "Whose chat history; the latest unless told.")
@with_memory
def export(store: Memory, file: Path, session: str | None) -> None:
    """Write everything to FILE (`-` for standard output), as `import` takes it."""
    from agent.memory.storage import export_storage  # noqa: PLC0415 - `--help` needs no database

    text = json.dumps(export_storage(store, session), ensure_ascii=False, indent=2) + "\n"
    body = text.encode("utf-8", "backslashreplace")  # half pairs, as JSON spells them
    if str(file) == "-":
        print(body.decode(), end="")
        return
    write_file(file, body, private=True)
    print(f"wrote {file}")


@memory.command()
@click.argument("category")
@click.argument("content", type=NonBlank("an entry"))
@with_memory
def seal(store: Memory, category: str, content: str) -> None:
    """Seal a milestone, a decision or an incident: CATEGORY and CONTENT."""
    sealed = _sealed_log(store).append(category, content)
    print(f"sealed as entry {sealed.number}; head {sealed.hash}")


@memory.command()
@click.argument("authority", metavar="[URL]", required=False)
@calendars_option
@complete_option
@with_memory
def stamp(
    store: Memory, /, authority: str | None, calendars: tuple[str, ...], *, complete: bool
) -> None:
    """Have the head stamped with the time: by the authority at URL (RFC 3161), or by calendars.

    Calendars need some hours: --complete takes up then what they promised.
    """
    require_stamper(authority, calendars, complete=complete)
    log, proxy = _sealed_log(store), load_options({}, config=True).proxy
    missing: tuple[str, ...] = ()
    if authority:
        stamped = log.stamp(authority, proxy=proxy)
        print_text(f"entry {stamped.number} is stamped by {authority}")
    if complete:
        missing = log.complete(calendars, proxy=proxy)
        print("still pending" if missing else "the proofs name their blocks")
    elif calendars:
        anchored, missing = log.anchor(calendars, proxy=proxy)
        print(f"entry {anchored.number} is taken down: its block comes in some hours (--complete)")
    for reason in missing:
        print_error(reason)


@memory.command()
@option("--head", "HASH", "A head that was noted before.")
@roots_option
@blocks_option
@with_memory
def verify(store: Memory, head: str | None, roots: Path | None, blocks: dict[int, bytes]) -> int:
    """Check that the sealed log is what was sealed, and when; exit 8 where it is not."""
    check = _sealed_log(store).verify(head, roots, blocks)
    if check.reason:
        print_text(f"does not hold: {check.reason}")
        return CHECK_FAILED
    if not check.entries:
        note("Nothing is sealed yet.", "`research memory seal` adds an entry.")
        return 0
    holding = "entry holds" if check.entries == 1 else "entries hold"
    print(f"{check.entries} {holding}; head {check.head}")
    for number, stamped in check.stamps:
        since = f" existed at {stamped}" if stamped.when else f": {stamped}"
        print_text(f"entry {number}{since}")
    return 0


def _sealed_log(store: Memory) -> SealedLog:
    from agent.memory.sealed_log import SealedLog  # noqa: PLC0415 - `--help` needs no database

    return SealedLog(store)


def _find(store: Memory, name: str, *, own: bool = False) -> Hit:
    """Find a memory by its id, which may be one of all if not `own`; raises `UsageError`."""
    hit = store.get(int(name)) if name.isdecimal() and len(name) <= _ID_DIGITS else None
    if hit is None:
        raise UsageError(
            f"nothing is remembered under {name!r}",
            hint="`memory list` shows the keys, `memory list --all` the ids.",
        )
    if own and hit.shared:
        raise UsageError(f"{name} is shared by all", hint="Add --namespace shared.")
    return hit


def _require_known(store: Memory, kinds: tuple[str, ...]) -> None:
    """Refuse kinds that nobody knows; raises `UsageError`."""
    unknown = sorted(set(kinds) - KNOWN - BASES.keys())
    if unknown and not store.newest(unknown, 1):  # `Memory.add` takes any kind
        hint = f"Choose of {', '.join([*sorted(KNOWN), *BASES])}."
        raise UsageError(f"no memory is of the kind {unknown[0]!r}", hint=hint)


def _format(hit: Hit) -> str:
    kind = f"shared {hit.kind}" if hit.shared else hit.kind
    key = f"{hit.key}: " if hit.kind == "memory" else ""
    return f"{hit.id:>6} [{kind}] {key}{shorten(hit.text, _LINE)}"
