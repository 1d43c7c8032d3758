"""Completes a PDF's publication data from the Crossref and arXiv registries.

Crossref: https://api.crossref.org/works/DOI (https://www.crossref.org/documentation/retrieve-metadata/rest-api/).
arXiv: https://export.arxiv.org/api/query?id_list=ID (https://info.arxiv.org/help/api/user-manual.html).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from browser.errors import BrowserError
from browser.extract.metadata import find_doi, text_of
from browser.extract.tree import parse_xml
from browser.net.pace import current_pace
from browser.net.url import netloc
from browser.text.words import one_line, words
from browser.types import ARXIV_API, CROSSREF_API, UNKNOWN_PUBLICATION, Publication

if TYPE_CHECKING:
    from browser.net.http import HttpClient
    from browser.types import Document

CROSSREF = f"{CROSSREF_API}/works"
# Seconds between requests, as arXiv requires; Crossref's limits are far above one request per
# document.
_ARXIV_DELAY = 3.0
# Seconds to wait for a registry's answer; the document is usable without it.
_DEADLINE = 10.0
_MAX_BYTES = 2_000_000
_ARXIV_DOI = "10.48550/arxiv."
_ATOM_NAMESPACE, _ARXIV_NAMESPACE = (
    "{http://www.w3.org/2005/Atom}",
    "{http://arxiv.org/schemas/atom}",
)
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A work's metadata in a registry; missing fields are empty."""

    title: str = ""
    authors: tuple[str, ...] = ()
    published: str = ""
    publication: Publication = UNKNOWN_PUBLICATION


class OnlineMetadata:
    """Queries the registries, once for each document that has a DOI or arXiv id.

    `crossref` and `arxiv` are the addresses of their APIs.
    """

    def __init__(
        self, http: HttpClient, *, crossref: str = CROSSREF, arxiv: str = ARXIV_API
    ) -> None:
        self._http = http
        self._crossref = crossref
        self._arxiv = arxiv
        self._answers: dict[str, bytes] = {}
        self._pace = current_pace()
        self._pace.delays[netloc(arxiv)] = _ARXIV_DELAY

    async def complete(self, document: Document) -> Document:
        """Add title, authors, date and publication to a PDF, and a note on any contradictions.

        Existing data is kept. Documents of other kinds, or without an identifier, are returned
        unchanged; a document that the registry does not know only gets a note.
        """
        doi, arxiv = document.publication.doi, document.publication.arxiv
        if document.kind != "pdf" or not (doi or arxiv):
            return document
        if doi.startswith(_ARXIV_DOI):  # arXiv's DOIs are not registered with Crossref
            doi, arxiv = "", arxiv or doi.removeprefix(_ARXIV_DOI)
        name = "Crossref" if doi else "arXiv"
        try:
            entry = await (self._ask_crossref(doi) if doi else self._ask_arxiv(arxiv))
        except (BrowserError, ValueError, TypeError, AttributeError) as error:
            return _with_note(document, f"its metadata could not be completed by {name}: {error}")
        if entry is None:
            return _with_note(document, f"{name} has no entry for {doi or arxiv}")
        return _completed(document, entry, name)

    async def _ask_crossref(self, doi: str) -> _Entry | None:
        body = await self._get(f"{self._crossref}/{quote(doi, safe='')}")
        return _crossref_entry(json.loads(body)["message"]) if body else None

    async def _ask_arxiv(self, arxiv: str) -> _Entry | None:
        body = await self._get(f"{self._arxiv}?id_list={quote(arxiv, safe='/')}")
        feed = parse_xml(body)
        entry = next(feed.iter(f"{_ATOM_NAMESPACE}entry"), None) if feed is not None else None
        return _arxiv_entry(entry) if entry is not None else None

    async def _get(self, url: str) -> bytes:
        """Return the registry's answer, without retries; empty for an unknown work."""
        if url in self._answers:
            return self._answers[url]
        response = await self._http.get(
            url, deadline=_DEADLINE, max_bytes=_MAX_BYTES, pace=self._pace, cached=True
        )
        if response.status != 404 and not response.ok:
            raise ValueError(f"the service returned status {response.status}")
        self._answers[url] = response.body if response.ok else b""
        return self._answers[url]


def _crossref_entry(message: dict[str, Any]) -> _Entry:
    parts = ((message.get("issued") or {}).get("date-parts") or [[]])[0]
    names = [
        " ".join(filter(None, (author.get("given"), author.get("family") or author.get("name"))))
        for author in message.get("author") or ()
    ]
    kind = message.get("type") or ""
    return _Entry(
        _strip_markup(text_of(message.get("title"))),
        tuple(filter(None, map(one_line, names))),
        "-".join(f"{part:02d}" for part in parts if isinstance(part, int)),
        Publication(
            venue=_strip_markup(text_of(message.get("container-title"))),
            in_proceedings=kind in ("proceedings-article", "book-chapter"),
            volume=text_of(message.get("volume")),
            issue=text_of(message.get("issue")),
            pages=text_of(message.get("page")),
            publisher=text_of(message.get("publisher")),
            doi=find_doi(text_of(message.get("DOI"))),
        ),
    )


def _arxiv_entry(entry: Any) -> _Entry | None:
    title = one_line(entry.findtext(f"{_ATOM_NAMESPACE}title", ""))
    if not title or title == "Error":  # for a malformed id, arXiv returns an entry with this title
        return None
    names = (
        author.findtext(f"{_ATOM_NAMESPACE}name", "")
        for author in entry.iter(f"{_ATOM_NAMESPACE}author")
    )
    return _Entry(
        title,
        tuple(filter(None, map(one_line, names))),
        entry.findtext(f"{_ATOM_NAMESPACE}published", "")[:10],
        Publication(doi=find_doi(entry.findtext(f"{_ARXIV_NAMESPACE}doi", ""))),
    )


def _strip_markup(text: str) -> str:
    """Remove the markup (`<i>`, MathML) from a title."""
    return one_line(_TAG.sub("", text))


def _completed(document: Document, entry: _Entry, name: str) -> Document:
    """Fill in missing fields; the registry's authors are used if its first author matches."""
    notes = list(document.notes)
    title, authors = document.title, ", ".join(entry.authors)
    title = "" if title.lower().endswith(".pdf") else title  # the title is a file name
    if entry.title and not _titles_agree(title, entry.title):
        if title:
            notes.append(f"{name} has a different title: {entry.title}")
        else:
            title = entry.title
    elif len(entry.title) > len(title):
        title = entry.title
    author = document.author
    if authors and author and not set(words(entry.authors[0])[-1:]) <= set(words(author)):
        notes.append(f"{name} has different authors: {authors}")
    else:
        author = authors or author
    # A file's date is that of its creation; the registry's date is that of publication.
    published = entry.published or document.published
    if document.published and published and document.published[:4] != published[:4]:
        notes.append(f"{name} gives the date {published}; the file has {document.published[:10]}")
    return replace(
        document, title=title or document.title, author=author, published=published,
        notes=tuple(notes),
        publication=_merge_publications(document.publication, entry.publication),
    )  # fmt: skip


def _titles_agree(one: str, other: str) -> bool:
    """Whether two titles differ only in punctuation, or only one has a subtitle."""
    shorter, longer = sorted((words(one), words(other)), key=len)
    return bool(shorter) and longer[: len(shorter)] == shorter


def _merge_publications(own: Publication, registered: Publication) -> Publication:
    fields = Publication.__dataclass_fields__
    return Publication(**{f: getattr(own, f) or getattr(registered, f) for f in fields})


def _with_note(document: Document, note: str) -> Document:
    return replace(document, notes=(*document.notes, note))
