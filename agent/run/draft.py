"""The draft of an audit: reads its text and references, and looks the references up.

A draft is Markdown, HTML, Word, PDF or another document type that the reader supports, with links,
footnotes, a numbered list of references, or pandoc's `[@key]`. A BibTeX file contains only
references. DOIs are looked up at Crossref, then at doi.org, since other agencies register DOIs too.
Archived copies of dead pages come from the Wayback Machine.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from agent.config import host_port
from agent.errors import ToolError, UsageError, WebOutOfReach
from agent.evidence.passages import line_kind
from agent.tools.sources import register_source
from agent.types import CheckedReference
from browser.errors import BrowserError, ExtractError
from browser.extract import extract_body
from browser.extract.blocks import render_markdown, walk
from browser.extract.hidden import strip_hidden
from browser.extract.metadata import CLOSING_PUNCTUATION, find_doi
from browser.extract.sniff import sniff
from browser.extract.tree import parse_html
from browser.net.url import normalize
from browser.text.words import content_words, words
from browser.types import CROSSREF_API, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from agent.options import Options
    from agent.tools.context import ToolContext, Web
    from browser.types import Page


READABLE_FORMATS: Final = "An audit reads Markdown, .docx, HTML, PDF and .bib."
_URL_RE = re.compile(r"https?://[^\s<>()\[\]\"|]*(?:\([^\s()]*\)[^\s<>()\[\]\"|]*)*")
# `[1] text`, `[^note]: text`, `1. text`.
_KEYED_REFERENCE_RE = re.compile(r"^ {0,3}(?:\[\^?([\w:.-]+)\]:?|(\d{1,3})[.)])[ \t]+(\S.*)$")
_BULLET_PREFIXES: Final = ("- ", "* ", "+ ", "• ")
_LINK_RE = re.compile(r"\[[^\[\]\n]*\]\(([^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)")
_LINKS_IN_BRACKETS_RE = re.compile(
    rf"\(({_LINK_RE.pattern}(?:(?:\s*[,;]\s*|\s+and\s+){_LINK_RE.pattern})*)\)"
)
"""Brackets that contain only links: the link texts are titles, not part of the sentence."""
# `[1]`, `[^1]`, `[1, 3–5]`.
_NUMBERED_MARKER_RE = re.compile(r"\[\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*\]")
# `[words][key]`, and `[key][]`.
_REFERENCE_LINK_RE = re.compile(r"\[([^\[\]\n]+)\]\[([^\[\]\n]*)\]")
# `[@key]`, `[@one; @two]`.
_PANDOC_CITATION_RE = re.compile(r"\[(@[\w:.-]+(?:\s*;\s*@[\w:.-]+)*)\]")
_BIB_ENTRY_RE = re.compile(r"@(\w+)\s*[{(]\s*([^\s,{}]+)\s*,")
# `name = {value}` with braces up to three deep, `name = "value"`, `name = value`.
_BIB_FIELD_RE = re.compile(
    r"(\w+)\s*=\s*(?:\{((?>(?:[^{}]|\{(?>(?:[^{}]|\{[^{}]*\})*)\})*))\}"
    r'|"([^"]*)"|([^,}\n]*))'
)
_TEX_MARKUP_RE = re.compile(r"\\[a-zA-Z]+\s*|\\.|[{}]")
_NON_ENTRY_TYPES: Final = frozenset({"comment", "preamble", "string"})


@dataclass(frozen=True, slots=True)
class DraftReference:
    """A reference in a draft: `key` is its number or name, empty for a link in the text.

    `text` is the reference as written. Only BibTeX provides `title` and `authors` (family names) as
    fields; in other references they are part of the text.
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

    def with_addresses(self, page_urls: Mapping[DraftReference, str]) -> str:
        """Return the draft with each address replaced by the one that was read (`page_urls`).

        Citation markers are kept; references from a list are defined at the end.
        """
        replacements = {ref.url: url for ref, url in page_urls.items() if not ref.key and url}

        def replace_url(match: re.Match[str]) -> str:
            url = match[0].rstrip(CLOSING_PUNCTUATION)
            return replacements.get(url, url) + match[0][len(url) :]

        text = _LINKS_IN_BRACKETS_RE.sub(
            lambda match: _LINK_RE.sub(r"[source](\1)", match[1]), self.text
        )
        body = _URL_RE.sub(replace_url, text).strip()
        notes = "\n".join(
            f"[{ref.key}]: {page_urls.get(ref) or ref.url or 'none'}"
            for ref in self.references
            if ref.key
        )
        return "\n\n".join(part for part in (body, notes) if part) + "\n"


def read_draft(path: Path, bibliography: Path | None = None) -> Draft:
    """Read a draft; `bibliography` is the BibTeX file for its `[@key]` references.

    Raises `UsageError` if the file cannot be read, or none of its citations can be looked up.
    """
    bib = list(_bib_entries(_text(bibliography))) if bibliography else []
    if path.suffix.lower() == ".bib":
        draft = Draft("", (*_bib_entries(_text(path)), *bib))
    else:
        # `[@one; @two]` becomes `[^one][^two]`.
        text = _PANDOC_CITATION_RE.sub(
            lambda match: "".join(f"[^{key.strip().lstrip('@')}]" for key in match[1].split(";")),
            _markdown(path),
        )
        draft = _split(text, bib)
    if not any(ref.url or ref.doi for ref in draft.references):
        hint = "An audit requires links, footnotes or a list of references with URLs or DOIs."
        raise UsageError(f"{path.name} cites nothing that can be looked up", hint=hint)
    return draft


def _markdown(path: Path) -> str:
    if path.suffix.lower() in (".md", ".markdown"):
        return _text(path)
    try:
        body, url = path.read_bytes(), f"file:///{quote(path.name)}"
        if sniff(body, "", url) == "html":
            return _full_page_markdown(body, url)
        document = extract_body(body, "", url)
    except (OSError, ExtractError) as error:
        raise UsageError(f"cannot read {path}: {error}", hint=READABLE_FORMATS) from error
    return document.markdown or document.text


def _full_page_markdown(body: bytes, url: str) -> str:
    """Convert an HTML draft to Markdown, including everything around the article."""
    root = parse_html(body)
    strip_hidden(root)
    for link in root.iter("a"):
        if (link.get("href") or "").startswith("#"):  # a footnote's number, or its back link
            del link.attrib["href"]
            text = (link.text or "").strip()
            link.text = f"[{text}]" if text.isdigit() else link.text
    return render_markdown(walk(root, url))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", hint=READABLE_FORMATS) from error


def _split(text: str, bibliography: Sequence[DraftReference]) -> Draft:
    """Split a draft into its body and its references: first those in lists, then links in the body.

    A line that begins with `[1]` or `[^1]:` and contains an address or a DOI starts a reference,
    which ends before the next one or at a blank line. If a draft uses numbered markers, each item
    in its last list is also a reference.
    """
    lines = text.splitlines(keepends=True)
    list_start = _find_last_list(lines) if _NUMBERED_MARKER_RE.search(text) else len(lines)
    body: list[str] = []
    listed: list[tuple[str, list[str]]] = []  # key and lines
    in_reference = False
    for number, line in enumerate(lines):
        in_list = number >= list_start
        keyed, key, first_line = _KEYED_REFERENCE_RE.match(line), "", ""
        if keyed and (in_list or (keyed[1] and (_URL_RE.search(keyed[3]) or find_doi(keyed[3])))):
            key, first_line = keyed[1] or keyed[2], keyed[3]
        elif in_list and _is_item(line) and not keyed:
            key, first_line = str(len(listed) + 1), line.strip()[1:]
        if key:
            listed.append((key, [first_line]))
        elif in_reference and line.strip() and line_kind(line) != "heading":
            listed[-1][1].append(line)
        else:
            body.append(line)
        in_reference = bool(key) or (in_reference and bool(line.strip()))

    by_key = {}
    for key, own_lines in listed:
        reference = " ".join(" ".join(own_lines).split())
        match = _URL_RE.search(reference)
        url = match[0].rstrip(CLOSING_PUNCTUATION) if match else ""
        by_key[key] = DraftReference(key, reference, url, find_doi(reference))

    def inline_link(match: re.Match[str]) -> str:
        """Turn a reference-style link (`[words][key]`) into an inline link."""
        target = by_key.get(match[2] or match[1])
        return f"[{match[1]}]({target.url})" if target and target.url else match[0]

    plain = _REFERENCE_LINK_RE.sub(inline_link, "".join(body))
    urls = dict.fromkeys(match[0].rstrip(CLOSING_PUNCTUATION) for match in _URL_RE.finditer(plain))
    links = (DraftReference("", url, url, find_doi(url)) for url in urls)
    return Draft(plain, (*by_key.values(), *links, *bibliography))


def _find_last_list(lines: Sequence[str]) -> int:
    """Find the list directly after the last heading, or else at the end of a draft.

    Returns the number of its first line, or the number of lines if there is no list.
    """
    headings = [number for number, line in enumerate(lines, 1) if line_kind(line) == "heading"]
    if headings:
        below = next((line for line in lines[headings[-1] :] if line.strip()), "")
        if _is_item(below):
            return headings[-1]
    start = len(lines)
    while start and (not lines[start - 1].strip() or _is_item(lines[start - 1])):
        start -= 1
    return start


def _is_item(line: str) -> bool:
    return line.lstrip().startswith(_BULLET_PREFIXES) or bool(_KEYED_REFERENCE_RE.match(line))


def _bib_entries(text: str) -> Iterator[DraftReference]:
    """Read the entries of a BibTeX file."""
    entries = list(_BIB_ENTRY_RE.finditer(text))
    ends = [entry.start() for entry in entries[1:]] + [len(text)]
    for entry, end in zip(entries, ends, strict=True):
        if entry[1].lower() in _NON_ENTRY_TYPES:
            continue
        fields: dict[str, str] = {}
        for match in _BIB_FIELD_RE.finditer(text, entry.end(), end):
            value = match[2] or match[3] or match[4] or ""
            fields[match[1].lower()] = " ".join(_TEX_MARKUP_RE.sub("", value).split())
        parts = [fields.get(name, "") for name in ("author", "title", "year")]
        url = fields.get("url", "")
        yield DraftReference(
            key=entry[2],
            text=". ".join(part for part in parts if part),
            url=url,
            doi=find_doi(fields.get("doi", "") or url),
            title=parts[1],
            authors=tuple(_family_name(name) for name in parts[0].split(" and ") if name),
        )


def _family_name(name: str) -> str:
    head, comma, _ = name.partition(",")
    return (head if comma else name.rsplit(maxsplit=1)[-1]).strip()


def service_addresses(options: Options) -> tuple[dict[str, str], Options]:
    """Return the services' addresses, and settings that allow access to them.

    Raises `UsageError` for an unknown service.
    """
    addresses = dict(setting.partition("=")[::2] for setting in options.service)
    for name in addresses.keys() - SERVICES.keys():
        raise UsageError(f"unknown service {name!r}", hint=f"Services: {', '.join(SERVICES)}.")
    # The user set these addresses, so they may be private.
    private = (*options.allow_private, *map(host_port, addresses.values()))
    return {**SERVICES, **addresses}, replace(options, allow_private=private)


SERVICES: Final = {
    "crossref": CROSSREF_API,
    "doi": "https://doi.org",
    "archive": "https://archive.org",
}
"""The services that look up references, and their addresses."""
CONCURRENT_CHECKS: Final = 6  # references looked up concurrently; each host has its own delay
MIN_SAME_TITLE_SHARE: Final = 0.5
"""Two titles are the same if the longer one has at least this share of the shorter one's words."""
_RETRACTION_TYPES: Final = frozenset(
    {"retraction", "removal", "withdrawal", "retracted", "withdrawn"}
)
"""Crossref's update types for withdrawn works."""
_DOI_FOUND_CODE: Final = 1
"""The `responseCode` that doi.org returns for a DOI that exists."""


@dataclass(slots=True)
class ReferenceChecker:
    """Looks up the references of one draft; the pages that it reads become sources of the run."""

    context: ToolContext
    web: Web
    services: Mapping[str, str]
    page_urls: dict[DraftReference, str] = field(default_factory=dict)
    """The address from which each reference's page was read."""
    _pages_read: int = field(default=0, init=False)
    _unreachable: list[str] = field(default_factory=list, init=False)

    async def check_all(
        self, references: Sequence[DraftReference]
    ) -> dict[DraftReference, CheckedReference]:
        """Check all references, but each address only once.

        Each address has one result, returned under the first reference to it; its `key` lists the
        keys of all references to that address. Raises `WebOutOfReach` if none of the addresses
        can be reached.
        """
        slots = asyncio.Semaphore(CONCURRENT_CHECKS)
        by_address: dict[object, list[DraftReference]] = {}
        for ref in references:
            address = (normalise_url(ref.url), ref.title) if ref.url and not ref.doi else ref
            by_address.setdefault(address, []).append(ref)
        groups = list(by_address.values())

        async def check(ref: DraftReference) -> tuple[CheckedReference, Page | None]:
            async with slots:
                return await self._check(ref)

        results = await asyncio.gather(*(check(group[0]) for group in groups))
        if self._unreachable and len(self._unreachable) == self._pages_read:
            raise WebOutOfReach(f"none of the references can be reached: {self._unreachable[0]}")
        # Pages are registered only now, so that source numbers follow the draft's order and do not
        # depend on the sites' speed.
        for group, (checked, page) in zip(groups, results, strict=True):
            checked.key = ", ".join(ref.key for ref in group if ref.key)
            if page is not None:
                self._register(group, checked, page)
        return {group[0]: checked for group, (checked, _) in zip(groups, results, strict=True)}

    async def _check(self, ref: DraftReference) -> tuple[CheckedReference, Page | None]:
        """Look up a reference's DOI, and read its page, or an archived copy if the page is dead."""
        checked = CheckedReference(key=ref.key, text=ref.text, url=ref.url, doi=ref.doi)
        if ref.doi:
            await self._check_doi(ref, checked)
        url = ref.url or (f"{self.services['doi']}/{ref.doi}" if ref.doi else "")
        if checked.state == "dead" and not ref.url:
            return checked, None
        if not url:
            checked.notes.append("it has neither a URL nor a DOI")
            return checked, None
        page = await self.web.reader.read(url)
        self._pages_read += 1
        why = page.reason or page.outcome.value.replace("_", " ")
        if page.outcome is Outcome.OK and page.document is not None:
            moved = not ref.doi and normalise_url(page.url) != normalise_url(url)
            checked.state, checked.now = ("moved", page.url) if moved else ("ok", "")
            return checked, page
        if page.outcome is Outcome.UNREACHABLE:
            self._unreachable.append(page.reason)
        if page.outcome in (Outcome.NOT_FOUND, Outcome.UNREACHABLE) or page.status in (404, 410):
            checked.state = "dead"
            checked.wrong.append(f"the link is dead: {why}")
            return checked, await self._read_archived(url, checked)
        checked.state = "not_read"
        checked.notes.append(f"it could not be read: {why}")
        return checked, None

    def _register(
        self, group: Sequence[DraftReference], checked: CheckedReference, page: Page
    ) -> None:
        """Register the page of one or more references as a source, if it has text."""
        first = group[0]
        try:
            source = register_source(self.context, page)
        except ToolError as error:
            checked.state = "not_read"
            checked.notes.append(str(error))
            return
        self.page_urls.update(dict.fromkeys(group, source.url))
        cited = first.title or first.text
        if first.key and not first.doi and not _same_title(cited, source.title):
            checked.notes.append(f"the page is titled “{source.title}”")

    async def _read_archived(self, url: str, checked: CheckedReference) -> Page | None:
        """Find the archived copy of a dead page and read it instead; None if there is none."""
        checked.archived, problem = await find_archived(self.web, self.services["archive"], url)
        if problem:
            checked.notes.append(problem)
        if not checked.archived:
            return None
        page = await self.web.reader.read(checked.archived)
        return page if page.outcome is Outcome.OK and page.document is not None else None

    async def _check_doi(self, ref: DraftReference, checked: CheckedReference) -> None:
        """Compare a reference with Crossref's metadata for its DOI; note if the DOI is unknown."""
        answer = await self._get_json("crossref", f"/works/{quote(ref.doi, safe='/')}", checked)
        work = (answer or {}).get("message")
        if isinstance(work, dict):
            _compare(ref, work, checked)
        elif answer is not None:
            path = f"/api/handles/{quote(ref.doi, safe='/')}"
            handle = await self._get_json("doi", path, checked)
            if handle is not None and handle.get("responseCode") != _DOI_FOUND_CODE:
                checked.wrong.append(f"the DOI {ref.doi} does not exist")
                checked.state = "dead"

    async def _get_json(
        self, name: str, path: str, checked: CheckedReference
    ) -> dict[str, Any] | None:
        """Query a service.

        Returns `{}` if there is no entry. On failure, adds a note and returns None.
        """
        data, problem = await _get_json(self.web, name, self.services[name], path)
        if problem:
            checked.notes.append(problem)
        return data


async def find_archived(
    web: Web, archive: str, url: str, at: datetime | None = None
) -> tuple[str, str]:
    """Ask the Wayback Machine for the copy of a page that is nearest to a given time.

    Returns the copy's address ("" if there is none), and the reason if the Wayback Machine could
    not be reached.
    """
    near = f"&timestamp={at:%Y%m%d%H%M%S}" if at else ""
    path = f"/wayback/available?url={quote(url, safe='')}{near}"
    data, problem = await _get_json(web, "archive", archive, path)
    closest = ((data or {}).get("archived_snapshots") or {}).get("closest") or {}
    return (str(closest.get("url") or "") if closest.get("available") else ""), problem


async def _get_json(
    web: Web, name: str, address: str, path: str
) -> tuple[dict[str, Any] | None, str]:
    """Query a service.

    Returns `{}` if there is no entry. On failure, returns None and the reason.
    """
    try:
        answer = await web.http.get(address.rstrip("/") + path)
        # Of these services, only doi.org returns JSON with status 404.
        data = {} if answer.status == 404 and name != "doi" else answer.json()
        if answer.status in (200, 404) and isinstance(data, dict):
            return data, ""
        why = f"status {answer.status}"
    except BrowserError as error:
        why = str(error)
    return None, f"{name} could not be reached: {why}"


def _compare(ref: DraftReference, work: Mapping[str, Any], checked: CheckedReference) -> None:
    """Compare a reference with Crossref's metadata for a work."""
    title = " ".join(map(str, work.get("title") or ()))
    if title and not _same_title(ref.title or ref.text, title):
        checked.wrong.append(f"the DOI {ref.doi} belongs to “{title}”")
    names = [str(row.get("family") or row.get("name") or "") for row in work.get("author") or ()]
    if difference := _wrong_authors(ref, [name for name in names if name]):
        checked.wrong.append(difference)
    kinds = {str(row.get("type", "")).lower() for row in work.get("updated-by") or ()}
    if kinds & _RETRACTION_TYPES or title.lower().startswith(("retracted", "withdrawn")):
        checked.wrong.append("it was retracted")
    elif kinds:
        checked.notes.append(f"there is a later notice: {', '.join(sorted(kinds))}")


def _wrong_authors(ref: DraftReference, names: Sequence[str]) -> str:
    """Describe how the cited authors differ from the authors of a work; empty if they agree.

    A BibTeX reference lists its authors. A free-text reference is wrong if it begins with a name
    (`Brask, H.`) and contains none of the work's authors; if it has only an address or a title,
    there is nothing to compare.
    """
    known = [" ".join(words(name)) for name in names]
    if not known:
        return ""
    if ref.authors:
        wrong = [name for name in ref.authors if " ".join(words(name)) not in (*known, "others")]
        return f"its authors are {', '.join(names)}, not {', '.join(wrong)}" if wrong else ""
    text = f" {' '.join(words(ref.text))} "
    has_author = any(f" {name} " in text for name in known)
    family, _, given = ref.text.partition(", ")
    # A single capital letter without a full stop is an article at the beginning of a title.
    has_given = given[:1].isupper() and not given[1:2].isspace()
    begins_with_name = has_given and all(c.isalpha() or c in "'’-" for c in family)
    if content_words(ref.text) and begins_with_name and not has_author:
        return f"its authors are {', '.join(names)}"
    return ""


def _same_title(cited: str, title: str) -> bool:
    """Whether a reference contains a title; true if either text is too short to decide."""
    cited_words, title_words = (set(content_words(_URL_RE.sub(" ", t))) for t in (cited, title))
    shorter = min(len(cited_words), len(title_words))
    return shorter < 2 or len(cited_words & title_words) >= MIN_SAME_TITLE_SHARE * shorter


def normalise_url(url: str) -> str:
    """Remove the parts of an address that vary: scheme, `www.`, trailing slash, fragment."""
    return normalize(url).partition("://")[2].removeprefix("www.").rstrip("/")
