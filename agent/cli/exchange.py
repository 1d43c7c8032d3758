"""`research memory import` and `export`: a memory as one file of JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from agent.cli.memory import memory
from agent.cli.place import Place, opened
from agent.errors import UsageError

_FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@memory.command(name="import")
@click.argument("file", type=_FILE)
@click.option("--session", default="imported", show_default=True, help="Names the conversation.")
@click.pass_obj
def import_(place: Place, file: Path, session: str) -> None:
    """Take over FILE (`-` for standard input); what has the same key goes into the history."""
    storage = _read(file)
    with opened(place) as store:
        store.load(storage, session)
        print(f"imported {len(storage)} keys")


@memory.command()
@click.argument("file", type=_FILE)
@click.option("--session", metavar="NAME", help="Whose chat history; the latest unless told.")
@click.pass_obj
def export(place: Place, file: Path, session: str | None) -> None:
    """Write everything to FILE (`-` for standard output), as `import` takes it."""
    with opened(place) as store:
        text = json.dumps(store.export(session), ensure_ascii=False, indent=2) + "\n"
    if str(file) == "-":
        print(text, end="")
        return
    _write_private(file, text)
    print(f"wrote {file}")


def _read(file: Path) -> dict[str, Any]:
    from agent.memory import BadImport  # noqa: PLC0415 - only where something is imported

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
        value = json.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadImport(f"{file} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadImport(f"{file} holds no JSON object")
    return value


def _write_private(file: Path, text: str) -> None:
    """Write a file that its owner alone can read: it holds what a person said."""
    try:
        handle = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as out:
            out.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from error
