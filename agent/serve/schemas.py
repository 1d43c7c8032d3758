"""What goes in and out of the server as JSON; the OpenAPI document is made of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from agent.memory.associations import MemoryLink
from agent.options import SETTINGS
from agent.types import ErrorInfo, Standing

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_000)]
Hex = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


def _form_fields(*names: str) -> dict[str, Any]:
    """The fields of a form for settings: types, bounds and descriptions are those of the table."""
    return {
        name: (
            SETTINGS[name].type | None,
            Field(None, description=SETTINGS[name].metadata["help"]),
        )
        for name in names
    }


class _Watched(BaseModel):
    model_config = ConfigDict(extra="forbid")

    attended: bool = Field(False, description="Somebody watches, and answers what the run asks.")

    def settings(self) -> dict[str, Any]:
        """Return the settings that the form sets."""
        named = self.model_dump(by_alias=True, exclude_none=True)
        return {name: value for name, value in named.items() if name in SETTINGS}


class _Question(_Watched):
    question: Words
    source: str = Field("web", description="`web`, `tab`, or a folder that the server offers.")
    continues: str | None = Field(
        None, max_length=80, description="The run whose conversation this continues."
    )
    # On the command line a schema is a file; a client must not name files of the server.
    schema_: dict[str, Any] | None = Field(None, alias="schema")


LIMITS = ("budget", "timeout", "max_steps")
ASKED = (*LIMITS, "depth", "report", "site", "since", "lang", "max_sources")
"""The settings that a client may choose for a run; all others are the server's."""
if TYPE_CHECKING:
    _Limits, _Asked = _Watched, _Question
else:
    _Limits = create_model("_Limits", __base__=_Watched, **_form_fields(*LIMITS))
    _Asked = create_model("_Asked", __base__=_Question, **_form_fields(*ASKED))


class ResumeForm(_Limits):
    """Limits for the rest of a run."""


class AskForm(_Asked):
    """A question, and the settings that differ from the server's."""


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
