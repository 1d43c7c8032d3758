"""Local files: only those that the user named, or that stand in a folder the user named."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from browser.errors import BadResponse, Refused, TooLarge
from browser.extract import extract_body
from browser.types import Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Iterable

# The same limit as for a body over HTTP: nothing readable is larger.
MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Files:
    """The files and folders that may be read, symbolic links resolved."""

    allowed: tuple[Path, ...]

    @classmethod
    def of(cls, paths: Iterable[Path | str]) -> Files:
        """Resolve what the user named, once: a link that changes later opens nothing new."""
        return cls(tuple(Path(path).expanduser().resolve() for path in paths))

    def read(self, url: str) -> Page:
        """Read a `file://` URL.

        Raises Refused outside what is allowed, FetchError and ExtractError where it is no document.
        """
        path = self._resolve(url)
        if not path.is_file():
            message = f"no file {path}"
            raise BadResponse(message, hint="Check the path.")
        if path.stat().st_size > MAX_BYTES:
            message = f"{path} is larger than {MAX_BYTES // 1024 // 1024} MB"
            raise TooLarge(message)
        body = path.read_bytes()
        kind = mimetypes.guess_type(path.name)[0] or ""
        document = extract_body(body, kind, url)
        return Page(
            requested_url=url, url=path.as_uri(), via="file", outcome=Outcome.OK, body=body,
            fetched_at=datetime.now(UTC), content_type=kind, document=document,
            reason="a local file",
        )  # fmt: skip

    def _resolve(self, url: str) -> Path:
        parts = urlsplit(url)
        if parts.netloc not in {"", "localhost"} or "\x00" in unquote(parts.path):
            raise _refused(url)
        path = Path(unquote(parts.path)).resolve()
        if not any(path == root or path.is_relative_to(root) for root in self.allowed):
            raise _refused(url)
        return path


def _refused(url: str) -> Refused:
    message = f"{url} is outside the files and folders that were named"
    return Refused(message, hint="Name the file with --file or its folder with --corpus.")
