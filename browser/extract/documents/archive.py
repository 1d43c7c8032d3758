"""Reads untrusted zip files, with limits on their unpacked size and without writing to disk."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lxml import etree

from browser.errors import Encrypted, ExtractError, TooLarge
from browser.extract.tree import parse_xml

if TYPE_CHECKING:
    from collections.abc import Iterator

# Maximum unpacked size of the parts read from one file: a novel is 1 MB, a large workbook 20 MB.
_MAX_BYTES = 32 * 1024 * 1024
# Text compresses to a tenth, sheets full of zeros to a hundredth; a file with a higher ratio than
# this is a zip bomb.
_MAX_RATIO = 250
_SMALL_PART_BYTES = 1024 * 1024
# In memory, the list of parts is ten times as large; 2 MB is enough for about 20,000 names.
_MAX_DIRECTORY_BYTES = 2 * 1024 * 1024
_END_RECORD = b"PK\x05\x06"
_RELATIONSHIPS = "{http://schemas.openxmlformats.org/package/2006/relationships}"
# Errors that zipfile raises for broken files; NotImplementedError means an unsupported compression.
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError)


class Archive:
    """A zip file in memory; one limit applies to all parts read from it."""

    def __init__(self, body: bytes) -> None:
        """Raises ExtractError if `body` is not a zip file, TooLarge if it has too many parts."""
        end = body.rfind(_END_RECORD)
        # zipfile reads all entries within this size, regardless of the number in the record.
        size = int.from_bytes(body[end + 12 : end + 16], "little") if end >= 0 else 0
        if size > _MAX_DIRECTORY_BYTES:
            raise TooLarge("the archive lists far too many entries", hint="Try another source.")
        try:
            self._zip = zipfile.ZipFile(BytesIO(body))
        except BROKEN_ZIP as error:
            raise ExtractError(f"not readable as an archive: {error}") from error
        self._infos = {info.filename: info for info in self._zip.infolist()}
        self._bytes_left = _MAX_BYTES
        self._counted: set[str] = set()

    @property
    def names(self) -> frozenset[str]:
        """The names of all parts."""
        return frozenset(self._infos)

    def read(self, name: str) -> bytes:
        """Unpack a part; b"" if there is none with that name.

        Raises TooLarge for a part above the limit, ExtractError for a broken or encrypted one.
        """
        info = self._infos.get(name)
        if info is None:
            return b""
        if info.flag_bits & 0x1:
            raise Encrypted("the file is encrypted")
        if name not in self._counted:
            self._check(info)
        try:
            data = self._zip.read(info)
        except (*BROKEN_ZIP, RuntimeError) as error:
            raise ExtractError(f"cannot unpack {name}: {error}") from error
        if name not in self._counted:  # a part that is read twice is counted once
            self._counted.add(name)
            self._bytes_left -= len(data)
        return data

    def check_all(self) -> None:
        """Check the limits for all XML parts, before a library reads the file."""
        parts = [info for name, info in self._infos.items() if name.endswith((".xml", ".rels"))]
        for info in parts:
            self._check(info)
        if sum(info.file_size for info in parts) > self._bytes_left:
            raise TooLarge("unpacked, it exceeds the size limit")

    def _check(self, info: zipfile.ZipInfo) -> None:
        ratio = info.file_size / max(1, info.compress_size)
        if info.file_size > self._bytes_left or (
            info.file_size > _SMALL_PART_BYTES and ratio > _MAX_RATIO
        ):
            raise TooLarge(
                f"{info.filename} in the archive unpacks to {info.file_size:,} bytes",
                hint="It looks like a zip bomb; try another source.",
            )

    def tree(self, name: str) -> etree._Element | None:
        """Parse a small XML part; None if it is missing or cannot be parsed."""
        data = self.read(name)
        return parse_xml(data) if data else None

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Map the ids of an Office part's relationships to (last segment of the type, target).

        Targets inside the file become full part names; external targets are left unchanged.
        """
        root = self.tree(relations_of(name))
        found = {}
        for node in root.iter(f"{_RELATIONSHIPS}Relationship") if root is not None else ():
            target = node.get("Target", "")
            if node.get("TargetMode") != "External":
                target = normpath(join("/", dirname(name), unquote(target))).lstrip("/")
            found[node.get("Id", "")] = (node.get("Type", "").rpartition("/")[2], target)
        return found

    def part(self, name: str, kind: str) -> str:
        """The first target of a relationship type; "" if there is none.

        For the file itself (name ""), the type `officeDocument` leads to the main part, such as
        `word/document.xml`.
        """
        return next((target for what, target in self.related(name).values() if what == kind), "")


def relations_of(name: str) -> str:
    """Return the name of the part that contains another part's relationships."""
    return join(dirname(name), "_rels", f"{name.rpartition('/')[2]}.rels")


def stream_xml(data: bytes, *tags: str) -> Iterator[etree._Element]:
    """Yield elements with these tags when they end; the caller should `drop` each one after use."""
    events = etree.iterparse(
        BytesIO(data), events=("end",), tag=tags, resolve_entities=False, no_network=True,
        remove_comments=True, remove_pis=True, recover=True,
    )  # fmt: skip
    try:
        for _, element in events:
            yield element
    except etree.XMLSyntaxError as error:
        raise ExtractError(f"the file contains invalid XML: {error}") from error


def drop(element: etree._Element) -> None:
    """Free the memory of an element that has been read, and of the siblings before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def missing_extra_error(kind: str, extra: str, other: str) -> ExtractError:
    """Return the error for a format whose library is missing; `other` is a format to convert to."""
    message = f"reading .{kind} requires: pip install 'urchin-research[{extra}]'"
    return ExtractError(message, hint=f"Alternatively, save the file as {other}.")
