"""The JSON requests and responses of the server; the OpenAPI document is generated from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from agent.memory.associations import MemoryLink
from agent.options import SETTINGS, schema_type
from agent.types import ErrorInfo, Standing

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_000)]
Hex = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


def _form_fields(*names: str) -> dict[str, Any]:
    """Return form fields for settings, with the table's types, bounds and descriptions."""
    return {name: (schema_type(name), None) for name in names}


class _Watched(BaseModel):
    model_config = ConfigDict(extra="forbid")

    attended: bool = Field(
        False, description="Whether a user is watching the run and can answer its questions."
    )

    def settings(self) -> dict[str, Any]:
        """Return the settings that the form sets."""
        named = self.model_dump(by_alias=True, exclude_none=True)
        return {name: value for name, value in named.items() if name in SETTINGS}


class _Question(_Watched):
    question: Words
    source: str | None = Field(
        None,
        description="`web`, `tab`, or a folder that the server offers (default: the source of the"
        " run in `continues`, otherwise `web`, or the corpus if the server searches nothing else).",
    )
    continues: str | None = Field(
        None, max_length=80, description="Run whose conversation to continue."
    )
    model: str | None = Field(
        None, max_length=300, description="One of the server's models (default: the server's own)."
    )
    files: list[Hex] = Field(
        default_factory=list,
        max_length=10,
        description="Ids of files that the question is about, as returned by `/api/files`.",
    )
    # On the command line, a schema is a file name, but clients must not specify files on the
    # server.
    schema_: dict[str, Any] | None = Field(None, alias="schema")


LIMITS = ("budget", "timeout", "max_steps")
ASK_FIELDS = (*LIMITS, "depth", "report", "plan", "site", "since", "lang", "max_sources")
"""The settings that a client may set for a run; the server sets all others."""
if TYPE_CHECKING:  # type checkers cannot see fields that are generated from a table

    class _Limits(_Watched): ...

    class _Asked(_Question): ...

else:
    _Limits = create_model("_Limits", __base__=_Watched, **_form_fields(*LIMITS))
    _Asked = create_model("_Asked", __base__=_Question, **_form_fields(*ASK_FIELDS))


class ResumeForm(_Limits):
    """Limits for the remainder of a run."""


class AskForm(_Asked):
    """A question, and settings that differ from the server's."""


class RunStarted(BaseModel):
    """A started or resumed run."""

    run: str
    events: str = Field(description="URL of the run's event stream.")


class Uploaded(BaseModel):
    """An uploaded file: its id, for use in questions, and its name."""

    id: str
    name: str


class KeyForm(BaseModel):
    """An API key to store, and its provider, such as `openai`."""

    provider: Annotated[str, StringConstraints(max_length=40)]
    key: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


class RunState(BaseModel):
    """A run in a list."""

    run: str
    question: str
    status: Literal["answered", "not_found", "partial", "failed", "cut off", "running"]
    badge: str = Field("", description="Status and standing, such as “answered, disputed”.")
    kind: str = Field("", description="Verdict or status that determines the badge's colour.")
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
        description="Excerpts, and whether each one matches the search;"
        " the answer if there is no search.",
    )
    asked: list[dict[str, Any]] = Field(
        default_factory=list,
        description="Open questions to the user: `n` is the number, `kind` is ask, approve or plan,"
        " and `what` is the text.",
    )


class AnswerForm(BaseModel):
    """The answer to a run's question: its number, and true, false, `site` or text.

    To approve a plan, send its text as edited by the user; to refuse it, send false.
    """

    n: int = Field(ge=1, le=10_000)
    answer: bool | Annotated[str, StringConstraints(max_length=20_000)]


class HintForm(BaseModel):
    """A hint for the model, which reads it with the next tool result."""

    hint: Words


class ActForm(BaseModel):
    """The user's action on a page's screenshot, in pixels; `keys` such as `Enter`."""

    kind: Literal["click", "text", "keys", "scroll"]
    x: float = Field(0, ge=0, le=20_000)
    y: float = Field(0, ge=-20_000, le=20_000)
    text: str = Field("", max_length=4_000)


class TagsForm(BaseModel):
    """The new tags of a run."""

    tags: list[Annotated[str, StringConstraints(max_length=40)]] = Field(max_length=20)


class RememberForm(BaseModel):
    """A value to save under a key."""

    key: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    value: Words


class MemoryRow(BaseModel):
    """A memory. `trusted` means that it is not from the web; only insights have a `confidence`."""

    id: int
    key: str | None
    kind: str
    text: str
    at: str | None
    run: str | None
    url: str | None
    trusted: bool
    shared: bool
    confidence: float | None = None
    score: float = 0.0


class MemoryGraph(BaseModel):
    """The memories with the most links, and the links between them."""

    memories: list[MemoryRow]
    links: list[MemoryLink]


class Done(BaseModel):
    """Confirmation."""

    done: bool = True


class Failed(BaseModel):
    """The body of every error response."""

    error: ErrorInfo
