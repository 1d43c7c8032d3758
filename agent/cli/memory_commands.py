"""`research memory`: inspect, change and delete memories.

Consolidation (`dream`) runs on request, and in `ask` after the answer is printed. `import` and
`export` read and write an entire memory as a JSON file. `seal`, `stamp` and `verify` maintain the
tamper-evident log.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from agent.cli.flags import (
    FILE,
    POSITIVE_AMOUNT,
    NonBlank,
    blocks_option,
    calendars_option,
    complete_option,
    json_option,
    number_option,
    only_run_flags,
    option,
    require_stamper,
    roots_option,
    setting_flag,
    several,
    switch,
)
from agent.cli.stores import MemoryLocation, memory_at, memory_group, with_memory
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
from agent.memory.kinds import BASES, KNOWN, NAMED, NOTE, is_known
from browser.text.words import shorten

if TYPE_CHECKING:
    from agent.memory.memory_api import Memory
    from agent.memory.memory_types import Hit
    from agent.memory.sealed_log import SealedLog
    from agent.options import Options

_MAX_LINE_CHARS = 160  # maximum characters per memory in a list
_ID_DIGITS = 18  # more digits may exceed the range of a database integer
_FILE_OR_DASH = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
_kinds_option = several(
    ("--kind", "kinds"), "KIND", "Only memories of this kind: fact, outcome, … or a knowledge base."
)
_EXPORT_PARTS = {
    "urchinMemory": ("memory", "memories"),
    "urchinProfile": ("profile entry", "profile entries"),
    "urchinSkills": ("skill", "skills"),
    "urchinProjects": ("project", "projects"),
    "urchinChatHistory": ("message", "messages"),
    "urchinCondensed": ("condensed conversation", "condensed conversations"),
}
"""The parts of an export, with their singular and plural names."""

memory = memory_group("memory", "List, search, add and delete memories.")


@memory.command(name="list")
@_kinds_option
@switch(("--all", "everything"), "Also list memories without a key, by id.")
@number_option(100, "Maximum number of memories; older ones are left out.")
@json_option
@with_memory
def list_(
    store: Memory, kinds: tuple[str, ...], number: int, *, everything: bool, as_json: bool
) -> None:
    """List memories that have a key; --all or --kind lists others."""
    if not kinds and not everything:
        rows = [{"key": key, "text": str(value)} for key, value in store.remembered().items()]
        hint = "`--all` also lists memories without a key."
        print_rows(
            rows[-number:],
            "{0[key]}: {0[text]}".format,
            as_json=as_json,
            empty=("No memories have a key.", hint),
        )
        return
    hits = store.newest(kinds or None, number)
    if as_json:
        fields = ("id", "key", "text", "kind", "confidence")
        print_json([{name: getattr(hit, name) for name in fields} for hit in hits])
        return
    if not hits:
        _require_known(store, kinds)
    nothing = "No memories yet." if everything else "No memories have a key."
    print_rows(hits, _format, empty=[nothing])


@memory.command()
@click.argument("query", type=NonBlank("a search"))
@_kinds_option
@number_option(10, "Maximum number of results.")
@with_memory
def search(store: Memory, query: str, kinds: tuple[str, ...], number: int) -> None:
    """Search memories; exits with code 3 if nothing is found."""
    hits = store.search(query, number, kinds or None)
    if not hits:
        _require_known(store, kinds)
        raise NotFound(f"no memory matches {query!r}")
    print_rows(hits, lambda hit: f"{hit.score:5.2f}  {_format(hit)}")


@memory.command()
@click.argument("key")
@with_memory
def show(store: Memory, key: str) -> None:
    """Show the memory with this KEY (or id) and its earlier values."""
    from agent.memory.outcomes import uses  # noqa: PLC0415 - `--help` needs no database

    value = store.recall(key)
    if value is not None:
        print_text(str(value))
        for former in store.former_values(key):
            print_text(f"  before: {former}")
        return
    hit = _find(store, key)
    origin = [f"run {hit.origin.run}" if hit.origin.run else "", hit.origin.url or ""]
    origin.append("" if hit.origin.trusted else "quoted from the web")
    print_text(hit.text)
    print_text(f"  {_kind(hit)}, {hit.at:%Y-%m-%d %H:%M}  {' '.join(origin)}".rstrip())
    given, cited = uses(store.entries, hit.id)
    if given:
        print(f"  used in {given} runs; {cited} of their answers cite its page")


@memory.command()
@click.argument("key", type=NonBlank("a memory's key"))
@click.argument("value", type=NonBlank("a memory", "`research memory forget KEY` deletes one."))
@with_memory
def remember(store: Memory, key: str, value: str) -> None:
    """Store VALUE under KEY."""
    store.remember(key, value)
    print_text(f"remembered {key}")


@memory.command()
@click.argument("text", type=NonBlank("a memory"))
@option(
    "--kind",
    "KIND",
    "Kind or knowledge base: Domain, Body, Soul, Heart, Episodic, Mind.",
    default=NOTE,
    show_default=True,
)
@with_memory
def add(store: Memory, text: str, kind: str) -> None:
    """Add TEXT as a memory without a key; runs receive it if it is relevant to the question."""
    if kind in NAMED:  # these have keys, and most have a special format
        hint = "`research memory remember KEY VALUE` stores a memory under a key."
        raise UsageError(f"memories of kind {kind} cannot be added as text", hint=hint)
    _require_known(store, (kind,))
    print(f"added as memory {store.add(text, kind)}")


@memory.command()
@click.argument("key")
@with_memory
def forget(store: Memory, key: str) -> None:
    """Permanently delete the memory with this KEY (or id)."""
    if not store.forget(key):
        store.delete([_find(store, key, own=True).id])
    print_text(f"forgot {key}")


@memory.command()
@click.argument("key", metavar="ID")
@with_memory
def trust(store: Memory, key: str) -> None:
    """Trust the memory ID: runs see it as your own statement, not as a quotation."""
    hit = _find(store, key, own=True)
    store.trust(hit.id)
    print_text(f"trusted {shorten(hit.text, _MAX_LINE_CHARS)}")


@memory.command()
@click.argument("question", type=NonBlank("a question"))
@option("--session", "NAME", "Preview within this conversation.")
@with_memory
def preview(store: Memory, question: str, session: str | None) -> None:
    """Show which memories a run with QUESTION would receive, and why. Changes nothing."""
    from agent.memory.layers import preview as explain  # noqa: PLC0415 - `--help` needs no database

    print_text(explain(store.layers(question, session), question))


@memory.command()
@option("--output", "FILE", "Write the graph to FILE: .graphml or .mmd (Mermaid).", type=FILE)
@click.pass_obj
def graph(location: MemoryLocation, output: Path | None) -> None:
    """Show the links between memories, strongest first, or write them to a file."""
    if output is not None and output.suffix not in (".graphml", ".mmd"):
        raise UsageError(
            f"{output.name!r} is not a graph file", hint="Use the extension .graphml or .mmd."
        )
    with memory_at(location) as store:
        found = store.graph()
    if not found.links:
        note("No memories are linked yet.", "`research memory dream` links similar memories.")
    if output is not None:
        text = found.graphml() if output.suffix == ".graphml" else found.mermaid()
        write_file(output, text.encode())
        print(f"wrote {output}")
        return
    texts = {hit.id: shorten(hit.text, 60) for hit in found.memories}
    for link in found.links:
        print_text(f"{link.strength:.2f} {link.kind:10}  {texts[link.one]}  —  {texts[link.other]}")


@memory.command()
@switch("--yes", "Do not ask for confirmation.")
@click.pass_context
def delete(ctx: click.Context, /, *, yes: bool) -> None:
    """Permanently delete everything in the namespace (--namespace), including conversations."""
    location: MemoryLocation = ctx.obj
    namespace = location[1]
    # A namespace from the settings file is not enough: a flag or variable must name it.
    group = ctx.parent or ctx
    if group.get_parameter_source("namespace") is ParameterSource.DEFAULT:
        raise click.UsageError("Specify the namespace to delete: --namespace NAME.")
    if not yes:
        click.confirm(f"Permanently delete everything in {namespace!r}?", abort=True, err=True)
    with memory_at(location) as store:
        gone = store.clear()
    if gone:
        print(f"deleted {plural(gone, 'memory or conversation', 'memories and conversations')}")
    else:
        note(f"The namespace {namespace!r} is empty.")


@memory.command()
@option(
    "--seconds",
    None,
    "Maximum duration in seconds.",
    default=30.0,
    type=POSITIVE_AMOUNT,
    show_default=True,
)
@setting_flag("model", "Model that writes the new insights.")
@only_run_flags("--base-url")
@click.pass_obj
def dream(
    location: MemoryLocation, seconds: float, model: str | None, base_url: str | None
) -> None:
    """Consolidate memory: link and merge memories, derive insights, retire stale memories."""
    folder, namespace = location
    flags = {"data_dir": folder, "namespace": namespace, "base_url": base_url}
    settings = load_options(flags, config=True)
    # The model from the settings is not used, because `dream` without flags must not cost money.
    named = (model or "") if model or base_url else None
    with memory_at(location) as store:
        asyncio.run(_dream(store, seconds, named, settings))


async def _dream(store: Memory, seconds: float, model_name: str | None, settings: Options) -> None:
    """Finish post-run tasks of killed runs, consolidate, and have the model write insights."""
    from agent.memory.consolidation import consolidate  # noqa: PLC0415 - not needed for `--help`
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
                raise UsageError(
                    f"{model.name} cannot write insights", hint="Choose a language model."
                )
        runner = JobRunner(store, memory_name(settings), model)
        await runner.finish_killed_runs(settings.data)
        done = consolidate(store.entries, seconds)
        print(
            f"linked {done.linked}, merged {done.merged}, insights {done.insights}, "
            f"faded {done.faded}, retired {done.retired}"
        )
        if model is not None:
            print(f"written by the model: {await word_insights(store, model)}")


@memory.command(name="import")
@click.argument("file", type=_FILE_OR_DASH)
@option("--session", None, "Name of the conversation.", default="imported", show_default=True)
@click.pass_obj
def import_(location: MemoryLocation, file: Path, session: str) -> None:
    """Import FILE (`-` for standard input). Replaced values stay in their key's history."""
    from agent.memory.storage import load_storage  # noqa: PLC0415 - `--help` needs no database

    name = "standard input" if str(file) == "-" else str(file)
    storage = _read_storage(file, name)
    with memory_at(location) as store:
        renamed = load_storage(store, storage, session)
    held = {key: value for key, value in storage.items() if value and key in _EXPORT_PARTS}
    if held:
        sizes = {key: 1 if isinstance(value, str) else len(value) for key, value in held.items()}
        parts = [plural(sizes[key], *names) for key, names in _EXPORT_PARTS.items() if key in sizes]
        print(f"imported {', '.join(parts)}")
    if others := sorted(storage.keys() - _EXPORT_PARTS.keys()):
        print_text(f"kept only for `memory export`: {', '.join(others)}")
    for skill, new in renamed:
        print_text(f"the skill {skill!r} already exists; imported as {new!r}")
    if not any(storage.values()):
        note(f"{name} contains nothing to import.")


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
@option("--session", "NAME", "Conversation whose chat history to export (default: the latest).")
@with_memory
def export(store: Memory, file: Path, session: str | None) -> None:
    """Export everything to FILE (`-` for standard output), for `research memory import`."""
    from agent.memory.storage import export_storage  # noqa: PLC0415 - `--help` needs no database

    text = json.dumps(export_storage(store, session), ensure_ascii=False, indent=2) + "\n"
    body = text.encode("utf-8", "backslashreplace")  # writes lone surrogates as JSON escapes
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
    """Add a milestone, decision or incident to the sealed log: CATEGORY and CONTENT."""
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
    """Timestamp the memory log, with the authority at URL (RFC 3161) or OpenTimestamps calendars.

    OpenTimestamps needs a few hours to issue a proof; fetch it later with --complete.
    """
    require_stamper(authority, calendars, complete=complete)
    log, proxy = _sealed_log(store), load_options({}, config=True).proxy
    missing: tuple[str, ...] = ()
    if authority:
        stamped = log.stamp(authority, proxy=proxy)
        print_text(f"entry {stamped.number} was timestamped by {authority}")
    if complete:
        missing = log.complete(calendars, proxy=proxy)
        print("still pending" if missing else "the proofs are complete")
    elif calendars:
        anchored, missing = log.anchor(calendars, proxy=proxy)
        print(f"entry {anchored.number} was submitted; use --complete in a few hours")
    for reason in missing:
        print_error(reason)


@memory.command()
@option("--head", "HASH", "Expected head, saved earlier.")
@roots_option
@blocks_option
@with_memory
def verify(store: Memory, head: str | None, roots: Path | None, blocks: dict[int, bytes]) -> int:
    """Verify the sealed log and its timestamps; exits with code 8 if it was changed."""
    check = _sealed_log(store).verify(head, roots, blocks)
    if check.reason:
        print_text(f"verification failed: {check.reason}")
        return CHECK_FAILED
    if not check.entries:
        note("The sealed log is empty.", "`research memory seal` adds an entry.")
        return 0
    print(f"{plural(check.entries, 'entry', 'entries')} verified; head {check.head}")
    for number, stamped in check.stamps:
        since = f" existed at {stamped}" if stamped.when else f": {stamped}"
        print_text(f"entry {number}{since}")
    return 0


def _sealed_log(store: Memory) -> SealedLog:
    from agent.memory.sealed_log import SealedLog  # noqa: PLC0415 - `--help` needs no database

    return SealedLog(store)


def _find(store: Memory, name: str, *, own: bool = False) -> Hit:
    """Find a memory by its id, including shared ones unless `own` is set; raises `UsageError`."""
    hit = store.get(int(name)) if name.isdecimal() and len(name) <= _ID_DIGITS else None
    if hit is None:
        raise UsageError(
            f"no memory has the key or id {name!r}",
            hint="`research memory list` shows keys; `research memory list --all` shows ids.",
        )
    if own and hit.shared:
        raise UsageError(f"{name} is a shared memory", hint="Add --namespace shared.")
    return hit


def _require_known(store: Memory, kinds: tuple[str, ...]) -> None:
    """Reject unknown kinds; raises `UsageError`."""
    unknown = sorted(kind for kind in set(kinds) if not is_known(kind))
    if unknown and not store.newest(unknown, 1):  # `Memory.add` accepts any kind
        known = [*sorted(KNOWN - BASES.keys()), *BASES]
        near = get_close_matches(unknown[0].lower(), known, 1)
        meant = f"Did you mean {near[0]}? " if near else ""
        hint = f"{meant}Choose one of {', '.join(known)}."
        raise UsageError(f"{unknown[0]!r} is not a kind of memory", hint=hint)


def _format(hit: Hit) -> str:
    kind = f"shared {_kind(hit)}" if hit.shared else _kind(hit)
    key = f"{hit.key}: " if hit.kind == "memory" else ""
    return f"{hit.id:>6} [{kind}] {key}{shorten(hit.text, _MAX_LINE_CHARS)}"


def _kind(hit: Hit) -> str:
    """Return a memory's kind, including type and confidence for an insight."""
    if hit.confidence is None:
        return hit.kind
    type_ = (hit.key or "").partition(":")[0]
    return f"{hit.kind}: {type_}, confidence {hit.confidence:.1f}"
