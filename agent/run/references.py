"""Each reference of a draft, looked up: reachable, moved, archived, known, retracted, as cited.

Whether a DOI exists is asked of Crossref, and of doi.org where Crossref does not know it (other
agencies give DOIs too); whether a dead page was archived, of the Wayback Machine.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from agent.errors import ToolError, WebOutOfReach
from agent.run.draft import DraftReference, fold
from agent.tools.sources import register
from agent.types import CheckedReference
from browser.errors import BrowserError
from browser.net.url import normalize
from browser.text.words import content_words
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.tools.context import ToolContext, Web
    from browser.types import Page

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
class ReferenceCheck:
    """Looks up the references of one draft; what is read becomes a source of the run."""

    context: ToolContext
    web: Web
    services: Mapping[str, str]
    places: dict[DraftReference, str] = field(default_factory=dict)
    """The address under which each reference is a source, where its page was read."""
    _asked: int = field(default=0, init=False)
    _away: list[str] = field(default_factory=list, init=False)

    async def all(self, references: Sequence[DraftReference]) -> list[CheckedReference]:
        """Check all references; sources are numbered in their order, however fast each page is.

        Raises `WebOutOfReach` where not one of them can be connected to.
        """
        slots = asyncio.Semaphore(AT_ONCE)

        async def looked_up(one: DraftReference) -> tuple[CheckedReference, Page | None]:
            async with slots:
                return await self._looked_up(one)

        found = await asyncio.gather(*map(looked_up, references))
        if self._away and len(self._away) == self._asked:
            raise WebOutOfReach(f"no reference can be reached: {self._away[0]}")
        for reference, (checked, page) in zip(references, found, strict=True):
            if page is not None:
                self._register(reference, checked, page)
        return [checked for checked, _ in found]

    async def _looked_up(self, one: DraftReference) -> tuple[CheckedReference, Page | None]:
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
        self._away += [page.reason] if page.outcome is Outcome.UNREACHABLE else []
        if page.outcome is Outcome.OK and page.document is not None:
            moved = not one.doi and _place(page.url) != _place(url)
            checked.state, checked.now = ("moved", page.url) if moved else ("ok", "")
            return checked, page
        if page.outcome in (Outcome.NOT_FOUND, Outcome.UNREACHABLE) or page.status in (404, 410):
            checked.state = "dead"
            checked.wrong.append(f"the link is dead: {_why(page)}")
            return checked, await self._archived(url, checked)
        checked.state = "not_read"
        checked.notes.append(f"it could not be read: {_why(page)}")
        return checked, None

    def _register(self, one: DraftReference, checked: CheckedReference, page: Page) -> None:
        try:
            source = register(self.context, page)
        except ToolError as error:
            checked.state = "not_read"
            checked.notes.append(str(error))
            return
        self.places[one] = source.url
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
        told = await self._json("crossref", f"/works/{quote(one.doi, safe='/')}", checked)
        work = (told or {}).get("message")
        if isinstance(work, dict):
            _compare(one, work, checked)
        elif told is not None and await self._is_unknown(one.doi, checked):
            checked.wrong.append(f"the DOI {one.doi} does not exist")
            checked.state = "dead"

    async def _is_unknown(self, doi: str, checked: CheckedReference) -> bool:
        told = await self._json("doi", f"/api/handles/{quote(doi, safe='/')}", checked)
        return told is not None and told.get("responseCode") != _HANDLE_FOUND

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
    others = _strangers(one, [name for name in names if name])
    if others:
        checked.wrong.append(others)
    kinds = {str(row.get("type", "")).lower() for row in work.get("updated-by") or ()}
    if kinds & _ENDED or title.lower().startswith(("retracted", "withdrawn")):
        checked.wrong.append("it was retracted")
    elif kinds:
        checked.notes.append(f"there is a later notice: {', '.join(sorted(kinds))}")


def _strangers(one: DraftReference, names: Sequence[str]) -> str:
    """Say which cited authors the work does not have; of free text, that it names none of its own.

    Of a reference that is only an address or a title nothing can be said.
    """
    known = [fold(name) for name in names]
    if not known:
        return ""
    if one.authors:
        told = [name for name in one.authors if fold(name) not in (*known, "others")]
        return f"not its authors: {', '.join(told)} ({', '.join(names)})" if told else ""
    text, title = fold(one.text), len(content_words(one.text))
    named = any(re.search(rf"\b{re.escape(name)}\b", text) for name in known)
    began = re.match(r"[^\d\W][\w'’-]+, (?:[A-Z]\.|[A-Z]\w+)", one.text)  # `Brask, H.`
    return f"its authors are {', '.join(names)}" if title and began and not named else ""


def _same_title(cited: str, title: str) -> bool:
    """Whether a title stands in what is cited; true where one of them says too little to tell."""
    told = {fold(w) for w in content_words(re.sub(r"https?://\S+", " ", cited))}
    theirs = {fold(w) for w in content_words(title)}
    fewest = min(len(told), len(theirs))
    return fewest < 2 or len(told & theirs) >= SAME_TITLE * fewest


def _place(url: str) -> str:
    """An address without what sites change freely: scheme, `www.`, a last slash, a fragment."""
    return normalize(url).partition("://")[2].removeprefix("www.").rstrip("/")


def _why(page: Page) -> str:
    return page.reason or page.outcome.value.replace("_", " ")
