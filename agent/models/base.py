"""The seam behind which every model stands: messages in, a reply out.

Only `Model` is needed. What else a model can do it shows by having it: `takes` (only some tasks),
`sees` (pictures), `native` and `offer` (tools as functions), `streams` (`reply` takes a listener),
`reply_as` (a JSON Schema) and `guide` (leaving the search to rules).
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Fit, Message


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and USD of one call; `cached_tokens` are part of `input_tokens`."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the model said, with what it cost and which model it was in the end.

    `fit` is how well the sentence it quotes fits the question, where a model can tell that itself.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    fit: Fit | None = None


class Task(StrEnum):
    """What a model may be asked beside the question itself."""

    PLAN = "plan"
    OUTLINE = "outline"
    MISSING = "missing"
    VALUES = "values"
    REVIEW = "review"
    JUDGE = "judge"
    AFTER = "after"
    CONDENSE = "condense"
    """Summing up the old steps of a conversation whose window is full."""
    REPHRASE = "rephrase"
    """Other queries where a search found little."""
    NUDGE = "nudge"
    """Not a call: whether an answer that rests on nothing may be asked for once more."""
    HEED = "heed"
    """Not a call: whether notes about going in circles mean anything to it."""


OnText = Callable[[str | None], None]
"""Gets what a model says, piece by piece; None says that it begins anew after a failure."""


class Model(Protocol):
    """A language model, or what speaks like one.

    `reply` gets the system prompt and the messages so far, the last one from the user; it raises
    a `ModelError` when it fails for good, retries being its own matter.
    """

    name: str

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Answer the last message."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


@runtime_checkable
class Native(Model, Protocol):
    """A model that can be offered tools as functions; what it calls comes back as tool tags."""

    @property
    def native(self) -> bool:
        """Whether it should be."""
        ...

    def offer(
        self, system: str, tools: Sequence[dict[str, Any]], on_page: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Let the model call these functions where it gets this system prompt.

        Those `on_page` are offered from the first page on that a conversation shows.
        """
        ...


@runtime_checkable
class Streaming(Model, Protocol):
    """A model that can be heard while it speaks, or stands before one."""

    streams: bool

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Answer the last message, and pass on what is said as it comes."""
        ...


@runtime_checkable
class Structured(Model, Protocol):
    """A model whose reply can be held to a JSON Schema by the server that runs it."""

    async def reply_as(
        self, system: str, messages: Sequence[Message], schema: dict[str, Any], longest: int
    ) -> ModelReply:
        """Answer with an instance of the schema, as far as the server can, in so many tokens."""
        ...


def sees(model: Model) -> bool:
    """Whether a model can be shown pictures; one that does not say cannot."""
    return bool(getattr(model, "sees", False))


def takes(model: Model, task: Task) -> bool:
    """Whether a model can be asked for a task; one that does not say can for all."""
    choosy = getattr(model, "takes", None)
    return choosy is None or bool(choosy(task))


def uses_native_tools(model: Model) -> TypeGuard[Native]:
    """Whether a model is to be offered tools as functions."""
    return isinstance(model, Native) and model.native


def guide(model: Model) -> bool:
    """Let rules drive the loop for a model (`agent.loop.guided`); False where it knows no such."""
    start = getattr(model, "guide", None)
    if start is not None:
        start()
    return start is not None


async def ask_model(
    model: Model, system: str, messages: Sequence[Message], on_text: OnText | None = None
) -> ModelReply:
    """Ask a model; `on_text` gets the reply piece by piece where the model can stream."""
    if isinstance(model, Streaming) and model.streams:
        return await model.reply(system, messages, on_text)
    return await model.reply(system, messages)


class ModelWrapper:
    """Stands before a model, with the same abilities; a base for those that change replies."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model

    def takes(self, task: Task) -> bool:
        """Whether the model takes a task."""
        return takes(self._model, task)

    @property
    def sees(self) -> bool:
        """Whether the model sees."""
        return sees(self._model)

    async def aclose(self) -> None:
        """Let go of the model's connections."""
        await self._model.aclose()


class TextStream:
    """The pieces of a reply on their way to a listener, over tries that fail and start over."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._begun = False

    def restart(self) -> None:
        """Start over: what was passed on so far belongs to a try that failed."""
        if self._begun:
            self._on_text(None)
        self._begun = False

    def __call__(self, piece: str | None) -> None:
        """Pass a piece on."""
        if piece is None:
            self.restart()
        elif piece:
            self._begun = True
            self._on_text(piece)


class CallBudget(Protocol):
    """What a call may cost: its highest price is set aside before each try."""

    def begin(self) -> int | None:
        """Set a try's price aside; gives the tokens that its reply may have, None for no bound.

        Raises what ends the run where the try cannot be paid for.
        """

    def failed(self, *, billed: bool) -> None:
        """End a try that brought no reply; one that may have been billed stays counted."""


CALL_BUDGET: ContextVar[CallBudget | None] = ContextVar("CALL_BUDGET", default=None)
"""The budget of the call that is being made; each model that is asked begins its own tries."""
