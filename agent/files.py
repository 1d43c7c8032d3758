"""Writes files to paths that the user names, and removes characters that XML does not allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.errors import UsageError
from browser.files import write_atomic
from browser.text.words import NOT_XML

if TYPE_CHECKING:
    from pathlib import Path


def write_file(path: Path, body: bytes, *, private: bool = False) -> None:
    """Write a user's file and create its parent folders; raises `UsageError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, body, private=private)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}",
            hint="Choose a file in a folder that you can write to.",
        ) from error


def xml_text(text: str, replacement: str = "") -> str:
    """Replace or remove characters that XML 1.0 does not allow even in escaped form."""
    return NOT_XML.sub(replacement, text)
