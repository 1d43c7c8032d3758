"""Writes files atomically."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_FILE_IN_USE_ERRORS: Final = (5, 32)
"""Windows error codes for replacing a file that another process has open: access denied, sharing
violation."""
MAX_RETRIES: Final = 6
"""Maximum number of retries, the first immediately, the others after 0.05 to 0.8 s: readers and
virus scanners soon close the file."""


def write_atomic(path: Path, body: bytes, *, private: bool = False) -> None:
    """Write a file atomically, synced to disk; if `OSError` is raised, the file is unchanged.

    If `path` is a symbolic link, its target is written; a `private` file, which only its owner can
    read, replaces the link. Pipes and terminals are written directly.
    """
    target = path if private else path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(body)
        return
    # In the same folder, so that `replace` stays on one file system. Names are limited to 255
    # bytes.
    draft = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}")
    mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(draft, mode, 0o600 if private else 0o666), "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        _replace(draft, target)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _replace(draft: Path, target: Path) -> None:
    """Replace a file; on Windows, retry until no other process has it open."""
    try:
        draft.replace(target)
    except PermissionError as error:
        if not _is_in_use(error):
            raise
        from tenacity import (  # noqa: PLC0415 - rarely needed, and every command loads this module
            Retrying,
            retry_if_exception,
            stop_after_attempt,
            wait_exponential,
        )

        repeat = Retrying(
            retry=retry_if_exception(_is_in_use),
            stop=stop_after_attempt(MAX_RETRIES),
            wait=wait_exponential(multiplier=0.05),
            reraise=True,
        )
        repeat(draft.replace, target)


def _is_in_use(error: BaseException) -> bool:
    return getattr(error, "winerror", None) in _FILE_IN_USE_ERRORS
