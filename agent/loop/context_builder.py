"""Builds the first messages of a loop: memory, the open page, files and the question.

Everything added is also registered in the run's provenance, which later determines what may be
sent.
"""

from __future__ import annotations

import asyncio
import mimetypes
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent import jsvalues
from agent.errors import UsageError
from agent.guard.provenance import Kind
from agent.journal.events import MAIN
from agent.memory.kinds import PROFILE, REMEMBERED
from agent.memory.layers import SHOWN_WITHOUT_FILTER, build_messages, candidates, entry_text
from agent.memory.memory_types import Layers, Untrusted
from agent.protocol.replies import inert
from agent.tools.page_tools import page_context
from agent.tools.sources import register_source, show_passages
from agent.tools.toolset import record_provenance
from agent.tools.web_tools import read
from agent.types import Message, Observation, ToolCall
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from agent.tools.context import ToolContext, Web
    from agent.types import Passage
    from browser.types import PageContext


@dataclass(slots=True)
class ContextBuilder:
    """Builds the first messages of a loop: the question with the open page, files and memory.

    `captured` contains (type, text) pairs that are added to the prompt. `is_public_run(id)` returns
    whether a run did not read anything private. After a call for the main loop, `skills` contains
    the names of the skills in the prompt, and `layers` contains the loaded memory layers.
    """

    context: ToolContext
    session: str
    page: PageContext | None = None
    captured: Sequence[tuple[str, str]] = ()
    is_public_run: Callable[[str], bool] = lambda _run: False
    skills: tuple[str, ...] = field(default=(), init=False)
    layers: Layers | None = field(default=None, init=False)
    _observed: list[Observation] | None = field(default=None, init=False)
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def __call__(self, question: str, place: str = MAIN) -> list[Message]:
        """Build the messages, and record which skills they contain.

        Raises `UsageError` for a file that cannot be read.
        """
        async with self._loading:  # subtasks start concurrently and share page and files
            if self._observed is None:
                await self._load_page_and_files()
        context, memory = self.context, self.context.memory
        if memory is None and self.page is None and not self.captured:
            return self._redacted([Message("user", question, question=question)])
        layers = await self._load_layers(question)
        # If there are too many entries to show, they are ranked, by embeddings if available.
        entries = candidates(layers)
        near: dict[str, float] = {}
        if len(entries) > SHOWN_WITHOUT_FILTER:
            texts = [entry_text(key, value) for key, value in entries.items()]
            near = await context.similarities(question, texts)
        messages, skills = build_messages(
            question,
            layers,
            page_context=self.page,
            context=self.captured,
            near=near,
        )
        observed = tuple(self._observed or ())
        messages[-1] = replace(messages[-1], observations=observed, question=question)
        self._add_provenance(layers, "\n".join(m.content for m in messages))
        if memory is not None and skills:
            now = context.now_ms()
            counted = [
                {**skill, "usageCount": (skill.get("usageCount") or 0) + 1, "lastUsedAt": now}
                for skill in layers.skills
                if skill.get("name") in skills
            ]
            await context.in_memory_thread(memory.save_skills, counted)
        if place == MAIN:
            self.skills, self.layers = tuple(skills), layers
            if skills:
                context.record("skills.given", place, names=skills)
            if layers.recalled:
                memories = [{"id": h.id, "kind": h.kind, "score": h.score} for h in layers.recalled]
                context.record("memory.given", place, memories=memories)
        return self._redacted(messages)

    def _redacted(self, messages: list[Message]) -> list[Message]:
        redactor = self.context.redactor
        return [replace(message, content=redactor.text(message.content)) for message in messages]

    async def _load_page_and_files(self) -> None:
        """Read the open page and the files, and register them as sources that can be cited."""
        web, observed = self.context.web, list[Observation]()
        captured: list[tuple[str, str]] = []
        if web is not None and web.silent_tabs:
            line = "does not respond yet; READ without url tries again"
            captured.append(("open page", line))
        if web is not None and web.context is not None:
            self.page = page = web.context
            data = {"url": page.url, "title": page.title, "selection": page.selection}
            passages: tuple[Passage, ...] = ()
            if web.page is not None:  # the prompt shows the page's text without passage ids
                source = register_source(self.context, web.page)
                passages = source.passages
                line = f"is {source.name}; READ without url gives its passages"
                captured.append(("open page", line))
            observed.append(Observation(ToolCall(page_context.name), data, passages))
        for path in self.context.files:
            text, observation = await self._read_file(web, path)
            captured.append(("file", text))
            observed.append(observation)
        files = frozenset(map(web.reader.files.address, self.context.files)) if web else frozenset()
        for observation in observed:
            record_provenance(self.context.provenance, observation, files)
        self.captured = (*captured, *self.captured)
        self._observed = observed

    async def _read_file(self, web: Web | None, path: Path) -> tuple[str, Observation]:
        """Read a file; returns its content as text for the prompt and as structured data."""
        if await asyncio.to_thread(path.is_dir):
            hint = f"Search its files with --corpus {path}."
            raise UsageError(f"{path} is a folder, not a file", hint=hint)
        if web is None or not await asyncio.to_thread(path.is_file):
            raise UsageError(f"cannot read the file {path}", hint="Check the path of --file.")
        uri = web.reader.files.address(path)
        # The reader extracts text from any kind of document, and makes it citable like a page.
        kind = mimetypes.guess_type(path.name)[0] or ""
        if kind.startswith(_UPLOAD_ONLY_TYPES):
            text = f"{inert(clean(path.name))}, {kind}: it can be uploaded to a page (UPLOAD)"
            return text, Observation(ToolCall(read.name), {"url": uri, "title": path.name})
        page = await web.reader.read(uri)
        if page.document is None or not page.document.text.strip():
            why = page.reason if page.document is None else "it has no text"
            raise UsageError(f"cannot read the file {path}: {why}", hint="Check --file.")
        source = register_source(self.context, page)
        block, shown = show_passages(self.context, source, query=self.context.question)
        total = len(source.passages)
        head = f"{inert(clean(path.name))} is {source.name}, {len(shown)} of {total} passages:"
        text = f'{head}\n<web source="{source.name}">\n{inert(block)}\n</web>'
        data = {"url": source.url, "title": source.title, "source": source.name}
        return text, Observation(ToolCall(read.name), data, shown)

    async def _load_layers(self, question: str) -> Layers:
        memory = self.context.memory
        if memory is None:
            return Layers()
        await self.context.in_memory_thread(memory.trim, PROFILE, REMEMBERED)
        return await self.context.in_memory_thread(memory.layers, question, self.session)

    def _add_provenance(self, layers: Layers, shown: str) -> None:
        """Add the text of memory entries and of the page to the run's provenance.

        Memory entries are added only if they occur in `shown`, the text of the messages. Memories
        are private even if their text comes from the web, because the run that wrote them may have
        read something private. Facts that a public run found on web pages are the exception.
        """
        provenance = self.context.provenance
        for layer in (layers.profile, layers.memories, layers.sessions):
            for key, value in layer.items():
                text = jsvalues.to_string(value)
                if text in shown:
                    quoted = isinstance(value, Untrusted)
                    provenance.add(f"{key}: {text}", Kind.MEMORY, quoted=quoted, recalled=True)
        for skill in layers.skills:
            text = f"{skill.get('name')}: {skill.get('instruction')}"
            others = not skill.get("trusted", True)
            provenance.add(text, Kind.MEMORY, quoted=others, recalled=True)
        for hit in layers.recalled:
            public = hit.origin.url and hit.origin.run and self.is_public_run(hit.origin.run)
            kind, url = (Kind.WEB, hit.origin.url or "") if public else (Kind.MEMORY, "")
            text = f"{hit.key or ''} {hit.text}"
            provenance.add(text, kind, url, quoted=not hit.origin.trusted, recalled=True)
        for turn in layers.history:
            provenance.add(turn.text, Kind.TURNS, quoted=layers.quotes)
        if layers.condensed:
            provenance.add(layers.condensed, Kind.TURNS, quoted=layers.quotes)
        if self.page is not None:
            text = f"{self.page.title}\n{self.page.selection}\n{self.page.visible_text}"
            provenance.add(text, Kind.PAGE, self.page.url)


_UPLOAD_ONLY_TYPES = ("image/", "audio/", "video/")
"""Media types that contain no extractable text; such files can only be uploaded."""
