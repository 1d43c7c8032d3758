"""Zip files from strangers: bounded in what they unpack to, nothing written to disk."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lxml import etree

from browser.errors import ExtractError, TooLarge
from browser.extract.tree import parse_xml

if TYPE_CHECKING:
    from collections.abc import Iterator

# All parts that are read of one file, unpacked: a novel is 1 MB, a large workbook 20.
_MOST_BYTES = 32 * 1024 * 1024
# Text packs to a tenth, sheets full of zeros to a hundredth; what packs better was made to burst.
_HIGHEST_RATIO = 250
_SMALL = 1024 * 1024
# The list of parts, unpacked it takes ten times as much: 2 MB hold some 20,000 names.
_LARGEST_DIRECTORY = 2 * 1024 * 1024
_END_RECORD = b"PK\x05\x06"
_RELATIONSHIPS = "{http://schemas.openxmlformats.org/package/2006/relationships}"
# What zipfile raises on broken files; NotImplementedError on a compression that it does not know.
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError)


class Archive:
    """A zip file in memory. Its parts are read under one limit for all of them together."""

    def __init__(self, body: bytes) -> None:
        """Raises ExtractError where it is no zip, TooLarge where it has far too many parts."""
        end = body.rfind(_END_RECORD)
        # zipfile reads as many entries as this size covers, whatever count stands beside it.
        size = int.from_bytes(body[end + 12 : end + 16], "little") if end >= 0 else 0
        if size > _LARGEST_DIRECTORY:
            raise TooLarge("the archive lists far too many parts", hint="Try another source.")
        try:
            self._zip = zipfile.ZipFile(BytesIO(body))
        except BROKEN_ZIP as error:
            raise ExtractError(f"not readable as an archive: {error}") from error
        self._infos = {info.filename: info for info in self._zip.infolist()}
        self._left = _MOST_BYTES

    @property
    def names(self) -> frozenset[str]:
        """The names of all parts."""
        return frozenset(self._infos)

    def read(self, name: str) -> bytes:
        """Unpack one part; nothing where there is none of that name.

        Raises TooLarge for a part that would burst the limit, ExtractError for a broken or
        encrypted one.
        """
        info = self._infos.get(name)
        if info is None:
            return b""
        if info.flag_bits & 0x1:
            raise ExtractError("the file is encrypted", hint="Save it without a password.")
        self._check(info)
        try:
            data = self._zip.read(info)
        except (*BROKEN_ZIP, RuntimeError) as error:
            raise ExtractError(f"{name} in it cannot be unpacked: {error}") from error
        self._left -= len(data)
        return data

    def check_all(self) -> None:
        """Hold the limits over all parts that are XML, for a library that reads them itself."""
        parts = [info for name, info in self._infos.items() if name.endswith((".xml", ".rels"))]
        for info in parts:
            self._check(info)
        if sum(info.file_size for info in parts) > self._left:
            raise TooLarge("it unpacks to more than can be read", hint="Try another source.")

    def _check(self, info: zipfile.ZipInfo) -> None:
        ratio = info.file_size / max(1, info.compress_size)
        if info.file_size > self._left or (info.file_size > _SMALL and ratio > _HIGHEST_RATIO):
            raise TooLarge(
                f"{info.filename} in it unpacks to {info.file_size:,} bytes",
                hint="It looks made to burst; try another source.",
            )

    def tree(self, name: str) -> etree._Element | None:
        """Parse a small XML part; None where there is none, or none that can be parsed."""
        data = self.read(name)
        return parse_xml(data) if data else None

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """What a part of an Office file refers to: id to (last word of the kind, target).

        Targets within the file are full part names, those outside stay as they are.
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
        """The first part of a kind that a part refers to, nothing where there is none.

        Of the whole file, "", the `officeDocument` is its main part, as `word/document.xml`.
        """
        return next((target for what, target in self.related(name).values() if what == kind), "")


def relations_of(name: str) -> str:
    """The name of the part that lists what a part refers to."""
    return join(dirname(name), "_rels", f"{name.rpartition('/')[2]}.rels")


def stream_xml(data: bytes, *tags: str) -> Iterator[etree._Element]:
    """Yield elements of these names as they end; the caller drops what it is done with."""
    events = etree.iterparse(
        BytesIO(data), events=("end",), tag=tags, resolve_entities=False, no_network=True,
        remove_comments=True, remove_pis=True, recover=True,
    )  # fmt: skip
    try:
        for _, element in events:
            yield element
    except etree.XMLSyntaxError as error:
        raise ExtractError(f"broken XML in it: {error}") from error


def drop(element: etree._Element) -> None:
    """Free an element that was read, and what stood before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def without_office(kind: str, other: str) -> ExtractError:
    """The error of a format whose library is not installed; `other` is what to save it as."""
    message = f"reading .{kind} needs: pip install 'urchin-research[office]'"
    return ExtractError(message, hint=f"Or save it as {other}.")
