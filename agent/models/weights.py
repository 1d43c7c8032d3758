"""Downloads small models through the egress guard; they are pinned by URL, size and SHA-256."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

import httpx2

from agent.errors import UsageError, WebOutOfReach
from browser.errors import BrowserError, Refused
from browser.net.egress import Egress, EgressPolicy
from browser.net.transport import EgressTransport, typed_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import _Hash
    from pathlib import Path

# After this time without data, the download fails and can be resumed.
_SECONDS_WITHOUT_BYTES: Final = 60.0
_CHUNK: Final = 1 << 20  # bytes read at a time


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file: its address, its size in bytes (0 if unknown), and its SHA-256 in hex."""

    name: str
    url: str
    size: int
    sha256: str
    measured: str = ""
    """Its measured results, as in docs/benchmarks.md."""

    @property
    def file(self) -> str:
        """Its file name."""
        return unquote(PurePosixPath(urlsplit(self.url).path).name)


KNOWN_MODELS: Final = (
    Weights(
        "small",
        # Apache 2.0. The address contains a revision, so its content does not change. The hash is
        # the one that Hugging Face reports for the file (`x-linked-etag`).
        "https://huggingface.co/Qwen/Qwen2.5-1.5B-Instruct-GGUF/resolve/"
        "91cad51170dc346986eccefdc2dd33a9da36ead9/qwen2.5-1.5b-instruct-q4_k_m.gguf",
        1_117_320_736,
        "6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e",
        "1.5 billion parameters, guided: 31 of 40 questions right, 16 of 20 unanswerable refused",
    ),
)
"""The models that `research models pull NAME` knows."""


def models_folder(data: Path) -> Path:
    """Return the folder for downloaded models in a data folder."""
    return data / "models"


def downloaded(data: Path) -> list[Path]:
    """Return the downloaded model files."""
    return sorted(models_folder(data).glob("*.gguf"))


async def pull(
    weights: Weights,
    data: Path,
    policy: EgressPolicy,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Path:
    """Download a model file unless it exists, and return its path.

    An interrupted download is resumed. `progress` gets the bytes so far and the total. Raises
    `WebOutOfReach` if the server cannot be reached or the connection breaks, `UsageError` if the
    file cannot be written or has the wrong hash; in the latter case it is deleted.
    """
    target = models_folder(data) / weights.file
    if target.is_file():
        return target
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        done, digest = await asyncio.to_thread(_read_part, part)
        if not (weights.size and done == weights.size):
            digest = await _download(weights, part, policy, done, digest, progress)
        found = digest.hexdigest()
        if found != weights.sha256:
            part.unlink()
            raise UsageError(
                f"the SHA-256 of {weights.url} is {found}, not {weights.sha256}; "
                "the file was deleted",
                hint="Try again later, or use another URL.",
            )
        part.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror or error}") from error
    return target


def _read_part(part: Path) -> tuple[int, _Hash]:
    """Return the size and hash of the part that was already downloaded."""
    done, digest = 0, sha256()
    with suppress(FileNotFoundError), part.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            done += len(chunk)
    return done, digest


async def _download(
    weights: Weights,
    part: Path,
    policy: EgressPolicy,
    done: int,
    digest: _Hash,
    progress: Callable[[int, int], None],
) -> _Hash:
    """Append the bytes from offset `done` on to `part`; return the hash of the complete file."""
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    try:
        async with (
            Egress(policy) as egress,
            httpx2.AsyncClient(
                transport=EgressTransport(egress.proxy_url),
                follow_redirects=True,
                timeout=_SECONDS_WITHOUT_BYTES,
            ) as client,
        ):
            with typed_errors(weights.url):
                async with client.stream("GET", weights.url, headers=headers) as response:
                    # With this status, the server sends the complete file again.
                    if response.status_code == httpx2.codes.OK and done:
                        done, digest = 0, sha256()
                    elif response.status_code not in (
                        httpx2.codes.OK,
                        httpx2.codes.PARTIAL_CONTENT,
                    ):
                        raise WebOutOfReach(f"{weights.url} returned {response.status_code}")
                    total = done + int(response.headers.get("Content-Length") or 0)
                    with part.open("ab" if done else "wb") as file:
                        async for chunk in response.aiter_raw():
                            file.write(chunk)
                            digest.update(chunk)
                            done += len(chunk)
                            progress(done, weights.size or total)
                        file.flush()
                        os.fsync(file.fileno())
    except Refused as error:
        raise WebOutOfReach(
            str(error), hint="--allow-private HOST allows a private address."
        ) from error
    except BrowserError as error:
        raise WebOutOfReach(
            f"the download stopped: {error}", hint="Run the command again to resume it."
        ) from error
    return digest
