"""Writing files atomically."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_atomic(path: Path, body: bytes, *, private: bool = False) -> None:
    """Write a file atomically, synced to disk; if `OSError` is raised, it is as it was before.

    A `private` file is readable by its owner alone, and replaces a symbolic link; otherwise the
    target of the link is written. Pipes and terminals are written directly.
    """
    target = path if private else path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(body)
        return
    # In the same folder, so that `replace` stays on one file system. Names have at most 255 bytes.
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
