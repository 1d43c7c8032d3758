"""What is piped to a question: `git diff | research "what changed?"`; context, as `--file` is."""

from __future__ import annotations

import os
import select
import stat
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.terminal import note

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOON, _PATIENCE = 1.0, 9.0
"""Seconds for the first byte to come: before it is said that it is waited for, and after that."""


@contextmanager
def piped_file() -> Iterator[Path | None]:
    """Give what comes on standard input as a file that lasts as long as the block, or None.

    Read are pipes, sockets and files, to their end; terminals and /dev/null hold nothing. A pipe
    whose writer says nothing for ten seconds is left alone, which is said.
    """
    body = _read()
    if not body.strip():
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="research-") as folder:
        path = Path(folder) / f"standard-input{_ending(body)}"
        path.write_bytes(body)
        yield path


def _read() -> bytes:
    try:
        handle = sys.stdin.fileno()
        mode = os.fstat(handle).st_mode
    except (AttributeError, OSError, ValueError):  # closed by the caller (`<&-`)
        return b""
    if stat.S_ISREG(mode) or (_is_stream(mode) and _speaks(handle)):
        return sys.stdin.buffer.read()
    return b""


def _is_stream(mode: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _speaks(handle: int) -> bool:
    """Wait for the first byte, or the end; Windows cannot wait for a pipe and reads at once."""
    if sys.platform == "win32" or select.select([handle], [], [], _SOON)[0]:
        return True
    note("Waiting for standard input; `< /dev/null` says that there is none.")
    if select.select([handle], [], [], _PATIENCE)[0]:
        return True
    note("Nothing came on standard input; going on without it.")
    return False


def _ending(body: bytes) -> str:
    """Tell the kinds that are not read as plain text by how they begin."""
    head = body[:200].lstrip().lower()
    if head.startswith(b"%pdf-"):
        return ".pdf"
    return ".html" if head.startswith((b"<!doctype html", b"<html")) else ".txt"
