"""What goes in and out of the server as JSON; the OpenAPI document is made of these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from agent.config import MAX_STEPS
from agent.limits import Depth
from agent.memory.associations import MemoryLink
from agent.types import ErrorInfo, Standing

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_000)]
Hex = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class ResumeForm(BaseModel):
    """Limits from here on, where they are to be others."""

    model_config = ConfigDict(extra="forbid")

    budget: float | None = Field(None, gt=0, le=10_000)
    timeout: float | None = Field(None, gt=0, le=1e6)
    max_steps: int | None = Field(None, ge=1, le=MAX_STEPS)
    attended: bool = False


class AskForm(ResumeForm):
    """A question, and what of the server's settings is another for it.

    `source` is `web`, `tab` (the tab of the Chrome that the server is attached to), or a folder by
    the name under which the server offers it. `attended` says that somebody watches, who answers
    what the run asks and says yes or no. `continues` goes on with the conversation of that run.
    """

    question: Words
    depth: Depth | None = None
    report: bool | None = None
    source: str = "web"
    site: str | None = Field(None, max_length=200)
    since: str | None = Field(None, max_length=40)
    lang: str | None = Field(None, max_length=20)
    max_sources: int | None = Field(None, ge=1, le=1_000)
    schema_: dict[str, Any] | None = Field(None, alias="schema")
    continues: str | None = Field(None, max_length=80)


class Begun(BaseModel):
    """A run that began, or goes on."""

    run: str
    events: str = Field(description="Where its events are told.")


class RunState(BaseModel):
    """A run in a list."""

    run: str
    question: str
    status: Literal["answered", "not_found", "partial", "failed", "cut off", "running"]
    badge: str = Field("", description="Status and standing as one: answered, disputed.")
    kind: str = Field("", description="The verdict or status whose colour the badge has.")
    standing: Standing | None = None
    doubt: str | None = None
    confidence: float | None
    at: str
    session: str
    model: str
    usd: float
    elapsed_s: float
    sources: int
    tags: list[str]
    found: list[tuple[str, bool]] = Field(
        default_factory=list,
        description="Words around what was searched for, and which it is; else the answer begins.",
    )
    asked: list[dict[str, Any]] = Field(
        default_factory=list, description="What the run asks now: n, kind (ask, approve), what."
    )


class AnswerForm(BaseModel):
    """The answer to a question of a run: its number, and yes, no, `site`, or words."""

    n: int = Field(ge=1, le=10_000)
    answer: bool | Annotated[str, StringConstraints(max_length=4_000)]


class HintForm(BaseModel):
    """Something that the model is to know; it reads it with the next result of a tool."""

    hint: Words


class ActForm(BaseModel):
    """What a person does in the picture of a page, in its pixels; `keys` such as `Enter`."""

    kind: Literal["click", "text", "keys", "scroll"]
    x: float = Field(0, ge=0, le=20_000)
    y: float = Field(0, ge=-20_000, le=20_000)
    text: str = Field("", max_length=4_000)


class TagsForm(BaseModel):
    """The tags of a run, in place of those it has."""

    tags: list[Annotated[str, StringConstraints(max_length=40)]] = Field(max_length=20)


class RememberForm(BaseModel):
    """A value to be remembered under a key."""

    key: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    value: Words


class MemoryRow(BaseModel):
    """A memory; `trusted` says that it is not the web's words."""

    id: int
    key: str | None
    kind: str
    text: str
    at: str | None
    run: str | None
    url: str | None
    trusted: bool
    shared: bool
    score: float = 0.0


class MemoryGraph(BaseModel):
    """The memories that have the most links, and the links among them."""

    memories: list[MemoryRow]
    links: list[MemoryLink]


class Done(BaseModel):
    """It was done."""

    done: bool = True


class Failed(BaseModel):
    """The body of every answer that is no success."""

    error: ErrorInfo
