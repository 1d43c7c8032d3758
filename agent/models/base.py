"""The interface of all models: they get messages and return a reply.

Only the protocol `Model` is required. Optional attributes declare further abilities: `takes` (only
some tasks), `sees` (images), `native` (function calling, see `SystemPrompt`), `streams` (`reply`
accepts a listener), `reply_as` (replies that follow a JSON Schema) and `start_guided_mode` (the
model only selects the answer, see `agent.loop.guided`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.types import Fit, Message


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost in USD of one call; `input_tokens` include `cached_tokens`."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The text of a reply, its usage, and the name of the model that answered.

    `fit` says how well the quoted sentence fits the question; only the extractive model sets it.
    `is_truncated` means that the reply was cut off at its length limit.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    fit: Fit | None = None
    is_truncated: bool = False


class Task(StrEnum):
    """Requests to a model in addition to the question itself."""

    PLAN = "plan"
    OUTLINE = "outline"
    MISSING = "missing"
    VALUES = "values"
    REVIEW = "review"
    JUDGE = "judge"
    BACKGROUND = "after"
    """The post-run tasks."""
    CONDENSE = "condense"
    """Summarising a conversation's old steps when its window is full."""
    CHALLENGE = "challenge"
    """Queries for pages that contradict claims."""
    REPHRASE = "rephrase"
    """Alternative queries when a search found little."""
    NUDGE = "nudge"
    """Not a request, but the ability to continue when told that an answer has no evidence."""
    FOLLOW_NOTES = "heed"
    """Not a request, but the ability to understand notes, such as those about repeated calls."""


class SystemPrompt(str):
    """A system prompt, and the tools offered to a model with native function calling.

    The functions belong to the prompt: a request with a different prompt (a plan, a review) offers
    none. They stay the same throughout the run, since each request starts with them.
    """

    __slots__ = ("in_text", "tools")
    in_text: str
    tools: Sequence[dict[str, Any]]

    def __new__(cls, text: str, tools: Sequence[dict[str, Any]], in_text: str = "") -> Self:
        """Create a prompt from its text and the tools, in OpenAI's tool calling format.

        `in_text` is the prompt for an endpoint that turns out not to accept functions.
        """
        prompt = super().__new__(cls, text)
        prompt.tools, prompt.in_text = tools, in_text
        return prompt


OnText = Callable[[str | None], None]
"""Called with each piece of a reply; None means that the reply starts again after a failure."""


class Model(Protocol):
    """A language model, or something that behaves like one.

    `reply` gets the system prompt and the messages so far, the last one from the user. It handles
    its own retries, and raises `ModelError` if they fail too.
    """

    name: str

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Return the model's reply to the last message."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


@runtime_checkable
class Streaming(Model, Protocol):
    """A model whose reply can be streamed, if `streams` is true."""

    streams: bool

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Reply to the last message; `on_text` is called with each piece of the reply."""
        ...


@runtime_checkable
class Structured(Model, Protocol):
    """A model whose server can constrain the reply to a JSON Schema."""

    async def reply_as(
        self, system: str, messages: Sequence[Message], schema: dict[str, Any], max_tokens: int
    ) -> ModelReply:
        """Reply with JSON that conforms to `schema`, in at most `max_tokens` tokens."""
        ...


def sees(model: object) -> bool:
    """Return whether a model accepts images (default: no)."""
    return bool(getattr(model, "sees", False))


def takes(model: object, task: Task) -> bool:
    """Return whether a model can perform a task (default: yes)."""
    decide = getattr(model, "takes", None)
    return decide is None or bool(decide(task))


def uses_native_tools(model: object) -> bool:
    """Return whether a model uses native function calling instead of tool tags (default: no)."""
    return bool(getattr(model, "native", False))


def start_guided_mode(model: Model) -> bool:
    """Start the guided mode (`agent.loop.guided`); returns whether the model has one."""
    start = getattr(model, "start_guided_mode", None)
    if start is not None:
        start()
    return start is not None


async def ask_model(
    model: Model, system: str, messages: Sequence[Message], on_text: OnText | None = None
) -> ModelReply:
    """Call a model; `on_text` gets the reply in pieces if the model can stream."""
    if isinstance(model, Streaming) and model.streams:
        return await model.reply(system, messages, on_text)
    return await model.reply(system, messages)


class ModelWrapper:
    """A wrapper with the same abilities as its model, for subclasses that change replies."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model

    def takes(self, task: Task) -> bool:
        """Return whether the wrapped model can perform a task."""
        return takes(self._model, task)

    @property
    def sees(self) -> bool:
        """Whether the wrapped model accepts images."""
        return sees(self._model)

    async def aclose(self) -> None:
        """Close the connections of the wrapped model."""
        await self._model.aclose()


class TextStream:
    """Passes the pieces of a reply to a listener; restarts if an attempt fails halfway."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._begun = False

    def restart(self) -> None:
        """Notify the listener that the attempt failed, so that it discards what it has received."""
        if self._begun:
            self._on_text(None)
        self._begun = False

    def __call__(self, piece: str | None) -> None:
        """Pass on a piece; None means that the reply starts again."""
        if piece is None:
            self.restart()
        elif piece:
            self._begun = True
            self._on_text(piece)


class CallBudget(Protocol):
    """The budget for one call: its maximum price is reserved before each attempt."""

    def begin(self) -> int | None:
        """Reserve the price of an attempt; returns the reply's length limit (None: no limit).

        The limit is in tokens. Raises `LimitReached` if the budget is too small for the attempt.
        """

    def failed(self, *, billed: bool) -> None:
        """End an attempt without a reply; its price remains charged if it may have been billed."""


# A context variable lets retries and fallbacks deep inside a model access the budget, although
# `Model.reply` has no parameter for it.
CALL_BUDGET: ContextVar[CallBudget | None] = ContextVar("CALL_BUDGET", default=None)
"""The budget for the current call; a model calls `begin` before each attempt."""
