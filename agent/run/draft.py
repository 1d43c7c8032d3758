"""A draft of somebody's own as it is audited: its text, what it cites, its references looked up.

Markdown, HTML, Word, PDF and other documents that the reader reads, with links, footnotes, a
numbered list of references or pandoc's `[@key]`; a BibTeX file is references alone. Whether a DOI
exists is asked of Crossref, and of doi.org where Crossref does not know it (other agencies give
DOIs too); whether a dead page was archived, of the Wayback Machine.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from agent.errors import ToolError, UsageError, WebOutOfReach
from agent.tools.sources import register_source
from agent.types import CheckedReference
from browser.errors import BrowserError, ExtractError
from browser.extract import extract_body
from browser.extract.blocks import render_markdown, walk
from browser.extract.hidden import strip_hidden
from browser.extract.sniff import sniff
from browser.extract.tree import parse_html
from browser.net.url import normalize
from browser.text.words import content_words, words
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from agent.tools.context import ToolContext, Web
    from browser.types import Page


READABLE: Final = "An audit reads Markdown, .docx, HTML, PDF and .bib."
_URL = re.compile(r"https?://[^\s<>()\[\]\"|]*(?:\([^\s()]*\)[^\s<>()\[\]\"|]*)*")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+")
_CLOSING: Final = ".,;:!?'\"*_"
"""What ends the sentence behind an address, not the address."""
_KEYED = re.compile(r"^ {0,3}(?:\[\^?([\w:.-]+)\]:?|(\d{1,3})[.)])[ \t]+(\S.*)$")
_ITEM = re.compile(r"^ {0,3}[-*+•][ \t]+(\S.*)$")
_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)
_LINK = re.compile(r"\[[^\[\]\n]*\]\(([^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)")
_IN_BRACKETS = re.compile(rf"\(({_LINK.pattern}(?:(?:\s*[,;]\s*|\s+and\s+){_LINK.pattern})*)\)")
"""Links alone in brackets: their words are a title, none of the sentence."""
_NUMBERED = re.compile(r"\[\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*\]")
_NAMED_LINK = re.compile(r"\[([^\[\]\n]+)\]\[([^\[\]\n]*)\]")
_PANDOC = re.compile(r"\[(@[\w:.-]+(?:\s*;\s*@[\w:.-]+)*)\]")
_BIB_ENTRY = re.compile(r"@(\w+)\s*\{\s*([^\s,{}]+)\s*,")
_BIB_FIELD = re.compile(r"(\w+)\s*=\s*")
_TEX = re.compile(r"\\[a-zA-Z]+\s*|\\.|[{}]")
_NO_ENTRY: Final = frozenset({"comment", "preamble", "string"})


@dataclass(frozen=True, slots=True)
class DraftReference:
    """What a draft cites: `key` is its number or name there, empty for a link in the text.

    `text` is the reference as it is written. `title` and `authors` (family names) are known of
    BibTeX alone; of other references the text has them.
    """

    key: str
    text: str
    url: str = ""
    doi: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a draft as Markdown, without its list of references, and the references."""

    text: str
    references: tuple[DraftReference, ...]

    def with_addresses(self, places: Mapping[DraftReference, str]) -> str:
        """Write the draft with the addresses that were read in place of those it names.

        Markers keep their form; each reference of a list is defined at the end.
        """
        moved = {ref.url: place for ref, place in places.items() if not ref.key and place}

        def read_place(found: re.Match[str]) -> str:
            url = found[0].rstrip(_CLOSING)
            return moved.get(url, url) + found[0][len(url) :]

        text = _IN_BRACKETS.sub(lambda found: _LINK.sub(r"[source](\1)", found[1]), self.text)
        body = _URL.sub(read_place, text)
        notes = [f"[{r.key}]: {places.get(r) or r.url or 'none'}" for r in self.references if r.key]
        return "\n\n".join(filter(None, [body.strip(), "\n".join(notes)])) + "\n"


def read_draft(path: Path, bibliography: Path | None = None) -> Draft:
    """Read a draft; `bibliography` is the BibTeX file that its `[@key]` mean.

    Raises `UsageError` for a file that cannot be read, or cites nothing that can be looked up.
    """
    bib = list(_bib_entries(_text(bibliography))) if bibliography else []
    if path.suffix.lower() == ".bib":
        draft = Draft("", (*_bib_entries(_text(path)), *bib))
    else:
        draft = _split(_PANDOC.sub(_as_footnotes, _markdown(path)), bib)
    if not any(one.url or one.doi for one in draft.references):
        hint = "An audit needs links, footnotes, or a list of references with addresses or DOIs."
        raise UsageError(f"{path.name} cites nothing that can be looked up", hint=hint)
    return draft


def _markdown(path: Path) -> str:
    if path.suffix.lower() in (".md", ".markdown"):
        return _text(path)
    try:
        body, place = path.read_bytes(), path.resolve().as_uri()
        if sniff(body, "", place) == "html":
            return _whole_page(body, place)
        document = extract_body(body, "", place)
    except (OSError, ExtractError) as error:
        raise UsageError(f"cannot read {path}: {error}", hint=READABLE) from error
    return document.markdown or document.text


def _whole_page(body: bytes, place: str) -> str:
    """Read all of an author's own page: what stands around an article is part of a draft."""
    root = parse_html(body)
    strip_hidden(root)
    for link in root.iter("a"):
        if (link.get("href") or "").startswith("#"):  # a footnote's number, or the way back from it
            del link.attrib["href"]
            said = (link.text or "").strip()
            link.text = f"[{said}]" if said.isdigit() else link.text
    return render_markdown(walk(root, place))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", hint=READABLE) from error


def _as_footnotes(found: re.Match[str]) -> str:
    return "".join(f"[^{key.strip().lstrip('@')}]" for key in found[1].split(";"))


def _split(text: str, bibliography: Sequence[DraftReference]) -> Draft:
    """Part a text into its body and its references: those of a list, then links in the body.

    A line that begins with `[1]` or `[^1]:` and names an address or a DOI is a reference, and goes
    on up to the next one or to a blank line; in the list that ends a text with numbered markers,
    so is each item.
    """
    list_begins = _list_at_the_end(text) if _NUMBERED.search(text) else len(text)
    body: list[str] = []
    listed: list[tuple[str, list[str]]] = []  # key and lines
    at, running = 0, False
    for line in text.splitlines(keepends=True):
        in_list = at >= list_begins
        keyed, item = _KEYED.match(line), _ITEM.match(line) if in_list else None
        key = ""
        if keyed and (in_list or (keyed[1] and (_URL.search(keyed[3]) or _DOI.search(keyed[3])))):
            key = keyed[1] or keyed[2]
        elif item and not keyed:
            key = str(len(listed) + 1)
        if key:
            listed.append((key, [keyed[3] if keyed else item[1] if item else ""]))
        elif running and line.strip() and not _HEADING.match(line):
            listed[-1][1].append(line)
        else:
            body.append(line)
        running = bool(key) or (running and bool(line.strip()))
        at += len(line)
    named = {}
    for key, lines in listed:
        told = " ".join(" ".join(lines).split())
        url = _URL.search(told)
        named[key] = DraftReference(key, told, url[0].rstrip(_CLOSING) if url else "", doi_of(told))

    def inlined(found: re.Match[str]) -> str:
        """Write a link that is defined elsewhere (`[words][key]`) as one that is not."""
        target = named.get(found[2] or found[1])
        return f"[{found[1]}]({target.url})" if target and target.url else found[0]

    plain = _NAMED_LINK.sub(inlined, "".join(body))
    urls = dict.fromkeys(match[0].rstrip(_CLOSING) for match in _URL.finditer(plain))
    links = (DraftReference("", url, url, doi_of(url)) for url in urls)
    return Draft(plain, (*named.values(), *links, *bibliography))


def _list_at_the_end(text: str) -> int:
    """Find where the list begins that ends a text: behind its last heading, or as its last lines.

    The end of the text where there is none.
    """
    begun = max((match.end() for match in _HEADING.finditer(text)), default=0)
    behind = text.find("\n", begun) + 1
    if begun and _is_item(next(filter(str.strip, text[behind:].splitlines()), "")):
        return behind
    at = len(text)
    for line in reversed(text.splitlines(keepends=True)):
        if line.strip() and not _is_item(line):
            break
        at -= len(line)
    return at


def _is_item(line: str) -> bool:
    return bool(_KEYED.match(line) or _ITEM.match(line))


def doi_of(text: str) -> str:
    """Find the DOI that a reference or an address names; empty for none."""
    match = _DOI.search(text)
    found = match[0].rstrip(_CLOSING) if match else ""
    while found.endswith((")", "]")) and found.count(")") > found.count("("):
        found = found[:-1].rstrip(_CLOSING)
    return found.lower()


def _bib_entries(text: str) -> Iterator[DraftReference]:
    """Read the entries of a BibTeX file."""
    for match in _BIB_ENTRY.finditer(text):
        if match[1].lower() in _NO_ENTRY:
            continue
        fields = dict(_bib_fields(text, match.end()))
        told = [fields.get(name, "") for name in ("author", "title", "year")]
        url, doi = fields.get("url", ""), doi_of(fields.get("doi", "") or fields.get("url", ""))
        names = told[0].replace("\n", " ").split(" and ")
        authors = tuple(_family_name(name) for name in names if name.strip())
        title = " ".join(told[1].split())
        yield DraftReference(match[2], ". ".join(filter(None, told)), url, doi, title, authors)


def _bib_fields(text: str, at: int) -> Iterator[tuple[str, str]]:
    """Read the fields of an entry from behind its key to its last brace."""
    while match := _BIB_FIELD.search(text, at):
        if "}" in text[at : match.start()]:
            return
        at = match.end()
        if text[at : at + 1] in ("{", '"'):
            end = _bib_closing(text, at)
            value = _TEX.sub("", text[at + 1 : end])
            at = end + 1
        else:
            end = next((n for n in range(at, len(text)) if text[n] in ",}\n"), len(text))
            value, at = text[at:end], end
        yield match[1].lower(), value.strip()


def _bib_closing(text: str, at: int) -> int:
    """Find what closes the brace or the quotation mark at this place, outside of inner braces."""
    depth, end = 0, at
    for end in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if not depth and (text[at] == "{" or (text[end] == '"' and end > at)):
            break
    return end


def _family_name(name: str) -> str:
    head, comma, _ = name.partition(",")
    return (head if comma else name.rsplit(maxsplit=1)[-1]).strip()


SERVICES: Final = {
    "crossref": "https://api.crossref.org",
    "doi": "https://doi.org",
    "archive": "https://archive.org",
}
"""What is asked about references, by name, and where each is."""
AT_ONCE: Final = 6
SAME_TITLE: Final = 0.5
"""Share of the shorter title's words in the longer one, below which they are two titles."""
_ENDED: Final = frozenset({"retraction", "removal", "withdrawal", "retracted", "withdrawn"})
_HANDLE_FOUND: Final = 1


@dataclass(slots=True)
class ReferenceChecker:
    """Looks up the references of one draft; what is read becomes a source of the run."""

    context: ToolContext
    web: Web
    services: Mapping[str, str]
    places: dict[DraftReference, str] = field(default_factory=dict)
    """The address under which each reference is a source, where its page was read."""
    _asked: int = field(default=0, init=False)
    _unreachable: list[str] = field(default_factory=list, init=False)

    async def check_all(
        self, references: Sequence[DraftReference]
    ) -> dict[DraftReference, CheckedReference]:
        """Check all references; sources are numbered in their order, however fast each page is.

        Those to one address are one, under all its keys: it stands under the first of them.
        Raises `WebOutOfReach` where not one of them can be connected to.
        """
        slots = asyncio.Semaphore(AT_ONCE)
        same: dict[object, list[DraftReference]] = {}
        for one in references:
            place = (_place(one.url), one.title) if one.url and not one.doi else one
            same.setdefault(place, []).append(one)

        async def check(one: DraftReference) -> tuple[CheckedReference, Page | None]:
            async with slots:
                return await self._check(one)

        found = await asyncio.gather(*(check(first) for first, *_ in same.values()))
        if self._unreachable and len(self._unreachable) == self._asked:
            raise WebOutOfReach(f"no reference can be reached: {self._unreachable[0]}")
        for each, (checked, page) in zip(same.values(), found, strict=True):
            checked.key = ", ".join(one.key for one in each if one.key)
            if page is not None:
                self._register(each, checked, page)
        return {each[0]: one for each, (one, _) in zip(same.values(), found, strict=True)}

    async def _check(self, one: DraftReference) -> tuple[CheckedReference, Page | None]:
        """Ask about a reference and read its page, or where that is dead an archived copy."""
        checked = CheckedReference(key=one.key, text=one.text, url=one.url, doi=one.doi)
        if one.doi:
            await self._by_doi(one, checked)
        url = one.url or (f"{self.services['doi']}/{one.doi}" if one.doi else "")
        if checked.state == "dead" and not one.url:
            return checked, None
        if not url:
            checked.notes.append("it names no address and no DOI")
            return checked, None
        page = await self.web.reader.read(url)
        self._asked += 1
        why = page.reason or page.outcome.value.replace("_", " ")
        if page.outcome is Outcome.OK and page.document is not None:
            moved = not one.doi and _place(page.url) != _place(url)
            checked.state, checked.now = ("moved", page.url) if moved else ("ok", "")
            return checked, page
        if page.outcome is Outcome.UNREACHABLE:
            self._unreachable.append(page.reason)
        if page.outcome in (Outcome.NOT_FOUND, Outcome.UNREACHABLE) or page.status in (404, 410):
            checked.state = "dead"
            checked.wrong.append(f"the link is dead: {why}")
            return checked, await self._archived(url, checked)
        checked.state = "not_read"
        checked.notes.append(f"it could not be read: {why}")
        return checked, None

    def _register(
        self, each: Sequence[DraftReference], checked: CheckedReference, page: Page
    ) -> None:
        """Make the page of some references a source, if it has a text."""
        one = each[0]
        try:
            source = register_source(self.context, page)
        except ToolError as error:
            checked.state = "not_read"
            checked.notes.append(str(error))
            return
        self.places.update(dict.fromkeys(each, source.url))
        if one.key and not one.doi and not _same_title(one.title or one.text, source.title):
            checked.notes.append(f"the page is titled “{source.title}”")

    async def _archived(self, url: str, checked: CheckedReference) -> Page | None:
        """Ask for an archived copy, and read it in the dead page's place."""
        told = await self._json("archive", f"/wayback/available?url={quote(url, safe='')}", checked)
        closest = ((told or {}).get("archived_snapshots") or {}).get("closest") or {}
        checked.archived = str(closest.get("url") or "") if closest.get("available") else ""
        if not checked.archived:
            return None
        page = await self.web.reader.read(checked.archived)
        return page if page.outcome is Outcome.OK and page.document is not None else None

    async def _by_doi(self, one: DraftReference, checked: CheckedReference) -> None:
        """Compare a reference with what Crossref says of its DOI; note one that does not exist."""
        told = await self._json("crossref", f"/works/{quote(one.doi, safe='/')}", checked)
        work = (told or {}).get("message")
        if isinstance(work, dict):
            _compare(one, work, checked)
        elif told is not None:
            handle = await self._json("doi", f"/api/handles/{quote(one.doi, safe='/')}", checked)
            if handle is not None and handle.get("responseCode") != _HANDLE_FOUND:
                checked.wrong.append(f"the DOI {one.doi} does not exist")
                checked.state = "dead"

    async def _json(self, name: str, path: str, checked: CheckedReference) -> dict[str, Any] | None:
        """Ask a service; `{}` where it knows nothing of it, None (and a note) where it fails."""
        try:
            answer = await self.web.http.get(self.services[name].rstrip("/") + path)
            told = {} if answer.status == 404 and name != "doi" else answer.json()
            if answer.status in (200, 404) and isinstance(told, dict):
                return told
            why = f"status {answer.status}"
        except BrowserError as error:
            why = str(error)
        checked.notes.append(f"{name} could not be asked: {why}")
        return None


def _compare(one: DraftReference, work: Mapping[str, Any], checked: CheckedReference) -> None:
    """Hold a reference against what the metadata service says of its DOI."""
    title = " ".join(map(str, work.get("title") or ()))
    if title and not _same_title(one.title or one.text, title):
        checked.wrong.append(f"the DOI {one.doi} is that of “{title}”")
    names = [str(row.get("family") or row.get("name") or "") for row in work.get("author") or ()]
    if others := _wrong_authors(one, [name for name in names if name]):
        checked.wrong.append(others)
    kinds = {str(row.get("type", "")).lower() for row in work.get("updated-by") or ()}
    if kinds & _ENDED or title.lower().startswith(("retracted", "withdrawn")):
        checked.wrong.append("it was retracted")
    elif kinds:
        checked.notes.append(f"there is a later notice: {', '.join(sorted(kinds))}")


def _wrong_authors(one: DraftReference, names: Sequence[str]) -> str:
    """Say which cited authors the work does not have; of free text, that it names none of its own.

    Of a reference that is only an address or a title nothing can be said.
    """
    known = [_fold(name) for name in names]
    if not known:
        return ""
    if one.authors:
        told = [name for name in one.authors if _fold(name) not in (*known, "others")]
        return f"not its authors: {', '.join(told)} ({', '.join(names)})" if told else ""
    text, title = f" {' '.join(words(_fold(one.text)))} ", len(content_words(one.text))
    named = any(f" {' '.join(words(name))} " in text for name in known)
    began = re.match(r"[^\d\W][\w'’-]+, (?:[A-Z]\.|[A-Z]\w+)", one.text)  # `Brask, H.`
    return f"its authors are {', '.join(names)}" if title and began and not named else ""


def _same_title(cited: str, title: str) -> bool:
    """Whether a title stands in what is cited; true where one of them says too little to tell."""
    told = {_fold(w) for w in content_words(_URL.sub(" ", cited))}
    theirs = {_fold(w) for w in content_words(title)}
    fewest = min(len(told), len(theirs))
    return fewest < 2 or len(told & theirs) >= SAME_TITLE * fewest


def _fold(text: str) -> str:
    """Write letters without their accents, in lower case: as names are compared."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).lower()


def _place(url: str) -> str:
    """An address without what sites change freely: scheme, `www.`, a last slash, a fragment."""
    return normalize(url).partition("://")[2].removeprefix("www.").rstrip("/")
