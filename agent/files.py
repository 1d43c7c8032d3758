"""Writing files so that a full disk or a kill leaves what was there before, and text for XML."""

from __future__ import annotations

import os
import re
import secrets
from typing import TYPE_CHECKING

from agent.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_atomic(path: Path, body: bytes, *, private: bool = False) -> None:
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


def write_file(path: Path, body: bytes, *, private: bool = False) -> None:
    """Write a file that a person named, and its folders; raises `UsageError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, body, private=private)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}", hint="Name a file in a folder of yours."
        ) from error


def xml_text(text: str, instead: str = "") -> str:
    """Replace what XML 1.0 cannot hold, escaped or not."""
    return _NO_XML.sub(instead, text)
