"""Writing files so that a full disk or a kill leaves what was there before."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, body: bytes, *, private: bool = False) -> None:
    """Write a file, on disk when this returns; whole, or as it was where `OSError` is raised.

    `private` is for its owner alone, and takes the place of a link; else the file that a link leads
    to is written. What is no file (a pipe, a terminal) is written as it is.
    """
    target = path if private else path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(body)
        return
    draft = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}")
    mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(draft, mode, 0o600 if private else 0o666), "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
