"""What a loop begins with: the layers of memory, the page and the question, as messages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.guard.provenance import SEARCH, Kind
from agent.journal.events import MAIN
from agent.types import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.memory.memory_types import Layers, Turn
    from agent.tools.context import ToolContext
    from agent.types import Observation
    from browser.types import PageContext


@dataclass(slots=True)
class ContextBuilder:
    """Lays out a question with all that is before the person and in memory.

    `captured` are (type, text) pairs for the model to read, `observed` the same files and page as
    data, None until they are gathered. `history` takes the place of the conversation's own turns;
    `shown` are the skills that the main loop was given. Without `recall` the block of what earlier
    runs left is not added. `was_public` tells of a run by its id that it read nothing private.
    """

    context: ToolContext
    session: str
    page: PageContext | None = None
    captured: Sequence[tuple[str, str]] = ()
    observed: tuple[Observation, ...] | None = None
    history: Sequence[Turn] | None = None
    recall: bool = True
    was_public: Callable[[str], bool] = lambda _run: False
    shown: tuple[str, ...] = field(default=(), init=False)
    layers: Layers | None = field(default=None, init=False)

    async def __call__(self, question: str, place: str = MAIN) -> list[Message]:
        """Give the messages; the skills among them are counted as used."""
        memory = self.context.memory
        if memory is None and self.page is None and not self.captured and not self.history:
            return [Message("user", question, question=question)]
        layers = await self._layers(question)
        messages, shown = await self._built(question, layers)
        messages[-1] = replace(messages[-1], observations=self.observed or (), question=question)
        self._note_origins(layers, messages)
        if memory is not None and shown:
            from agent.memory.storage import used  # noqa: PLC0415 - loads SQLAlchemy

            upkeep = memory.upkeep(self.session)
            counted = used(list(map(dict, layers.skills)), tuple(shown), self.context.now_ms())
            await self.context.in_memory_thread(upkeep.put_skills, counted)
        if place == MAIN and shown:
            self.context.record("skills.given", place, names=shown)
        if place == MAIN and layers.recalled:
            given = [{"id": h.id, "kind": h.kind, "score": h.score} for h in layers.recalled]
            self.context.record("memory.given", place, memories=given)
        if place == MAIN:
            self.shown, self.layers = tuple(shown), layers
        return messages

    async def _layers(self, question: str) -> Layers:
        from agent.memory.memory_types import Layers  # noqa: PLC0415 - a bare question needs no layers

        memory, layers = self.context.memory, Layers()
        if memory is not None:
            await self.context.in_memory_thread(memory.upkeep(self.session).trim)
            layers = await self.context.in_memory_thread(memory.layers, question, self.session)
        history = layers.history if self.history is None else tuple(self.history)
        return replace(layers, history=history, recalled=layers.recalled if self.recall else ())

    async def _built(self, question: str, layers: Layers) -> tuple[list[Message], list[str]]:
        from agent.memory.layers import build_messages  # noqa: PLC0415 - as above

        near = await self._near(question, layers)
        return build_messages(
            question,
            layers,
            page_context=self.page,
            context=self.captured,
            similarity=(lambda _key, text: near.get(text)) if near else None,
        )

    def _note_origins(self, layers: Layers, messages: list[Message]) -> None:
        """Tell the run's provenance whose words the messages are, of those entries that they show.

        An entry is private also where the web wrote it, since it may have been written in a run
        that had read something private, unless it is a fact of a page that a run found by itself.
        """
        from agent import jsvalues  # noqa: PLC0415 - a bare question needs none of it
        from agent.memory.memory_types import Untrusted  # noqa: PLC0415 - as above

        read, shown = self.context.provenance, "\n".join(m.content for m in messages)
        layered = (layers.profile, layers.memories, layers.sessions)
        for key, value in (item for layer in layered for item in layer.items()):
            text = jsvalues.to_string(value)
            if text in shown:
                read.add(f"{key}: {text}", Kind.MEMORY, quoted=isinstance(value, Untrusted))
        for skill in layers.skills:
            quoted = not skill.get("trusted", True)
            read.add(f"{skill.get('name')}: {skill.get('instruction')}", Kind.MEMORY, quoted=quoted)
        for hit in layers.recalled:
            public = hit.origin.url and hit.origin.run and self.was_public(hit.origin.run)
            kind, url = (Kind.WEB, hit.origin.url or "") if public else (Kind.MEMORY, "")
            read.add(f"{hit.key or ''} {hit.text}", kind, url, quoted=not hit.origin.trusted)
        for turn in layers.history:
            read.add(turn.text, Kind.TURNS, quoted=layers.quotes)
        if layers.condensed:
            read.add(layers.condensed, Kind.TURNS, quoted=layers.quotes)
        if layers.public:
            read.add(layers.public, Kind.WEB, SEARCH)
        if self.page is not None:
            seen = self.page
            read.add(f"{seen.title}\n{seen.selection}\n{seen.visible_text}", Kind.PAGE, seen.url)

    async def _near(self, question: str, layers: Layers) -> dict[str, float]:
        """Measure entries by embeddings, where the run has them and has to choose."""
        from agent.memory.layers import SHOWN_WITHOUT_FILTER, candidates, entry_text  # noqa: PLC0415

        entries = candidates(layers)
        if len(entries) <= SHOWN_WITHOUT_FILTER:
            return {}
        return await self.context.near(question, [entry_text(k, v) for k, v in entries.items()])
