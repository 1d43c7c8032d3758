"""`research memory import` and `export`: a memory as one file of JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.memory import memory
from agent.cli.place import Place, opened
from agent.cli.say import counted, note
from agent.errors import UsageError
from browser.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
_NAMES = {
    "urchinMemory": ("memory", "memories"),
    "urchinProfile": ("entry of the profile", "entries of the profile"),
    "urchinSkills": ("skill", "skills"),
    "urchinProjects": ("project", "projects"),
    "urchinChatHistory": ("message", "messages"),
    "urchinCondensed": ("condensed conversation", "condensed conversations"),
}


@memory.command(name="import")
@click.argument("file", type=_FILE)
@click.option("--session", default="imported", show_default=True, help="Names the conversation.")
@click.pass_obj
def import_(place: Place, file: Path, session: str) -> None:
    """Take over FILE (`-` for standard input); what has the same key goes into the history."""
    storage = _read(file)
    with opened(place) as store:
        store.load(storage, session)
    for line in _told(storage):
        print(clean(line))
    if not any(storage.values()):
        note(f"{_named(file)} holds nothing to import.")


@memory.command()
@click.argument("file", type=_FILE)
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
    _write_private(file, text)
    print(f"wrote {file}")


def _told(storage: dict[str, Any]) -> Iterator[str]:
    """Say what an import holds, by the names that people know."""
    known = {key: (*names, storage[key]) for key, names in _NAMES.items() if storage.get(key)}
    if known:
        parts = [counted(_size(value), one, many) for one, many, value in known.values()]
        yield f"imported {', '.join(parts)}"
    others = sorted(key for key in storage.keys() - _NAMES.keys())
    if others:
        yield f"kept for `memory export`, and not used otherwise: {', '.join(others)}"


def _size(value: Any) -> int:
    return 1 if isinstance(value, str) else len(value)


def _named(file: Path) -> str:
    return "standard input" if str(file) == "-" else str(file)


def _read(file: Path) -> dict[str, Any]:
    from agent.memory import BadImport  # noqa: PLC0415 - only where something is imported

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


def _write_private(file: Path, text: str) -> None:
    """Write a file that its owner alone can read: it holds what a person said."""
    try:
        handle = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from error
