"""The errors of the agent package, each with an exit code, a message and a hint.

ResearchError
 ├── UsageError         2   a flag, a file or the configuration is wrong
 ├── NotFound           3   nothing found (raised by the command line only; a run reports a status)
 ├── WebOutOfReach      6   every provider failed, or there is no browser
 │    └── Offline            no search provider could be connected to
 ├── ModelError         7   the model failed for good
 │    ├── ModelUnauthorized  the key was refused
 │    │    └── KeyMissing   2     there is none
 │    ├── ModelQuota         the account has nothing left
 │    ├── ModelUnavailable   an outage, a rate limit, no answer: after all retries
 │    ├── ModelContext       the conversation is too long for it, cut as far as it can be
 │    ├── ModelFiltered      a content filter stopped the question or the reply
 │    ├── ModelCut           the bound on its reply was reached before a word of it
 │    ├── ModelUnknown     2 the endpoint has no model of this name
 │    └── NotAnEndpoint    2 what answers at the address is no model: a web page, another API
 ├── LimitReached       5   a bound of the run is reached (defined in `agent.guard.budget`)
 ├── NeedsPerson        5   an action needs the person's consent, and nobody can be asked
 ├── NotSent            6   a messaging service did not accept a message
 ├── ReplayDiverged     8   a replayed run asks what its record does not have
 ├── JournalError       1   the record cannot be written or read
 │    └── ArchiveDamaged 8  an archive of a run was changed, or is none
 ├── InternalError      1   a bug of ours; the run's record has the traceback
 └── ToolError          -   a tool call failed; becomes a result with a hint, never ends a run
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECK_FAILED = 8
"""The exit code of a command whose check failed."""
MAX_ERROR_CHARS = 2_000
"""Characters of an error's text that are shown and recorded; some quote all that they failed on."""


class ResearchError(Exception):
    """Base class of the agent's errors. `hint` is one sentence that says what to do."""

    exit_code = 1
    hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint


def error_text(error: BaseException | str, limit: int = MAX_ERROR_CHARS) -> str:
    """Return the text of an error, of a very long one the beginning."""
    text = str(error) or type(error).__name__
    if len(text) <= limit:
        return text
    # Cut between words: half a secret would not be recognised as one.
    kept = text[:limit].rpartition(" ")[0] or text[:limit]
    return f"{kept}… ({len(text) - len(kept):,} more characters)"


def error_class(name: str) -> type[ResearchError]:
    """Return the error class of a name on record; `ResearchError` for an unknown name."""
    classes = [ResearchError]
    for error in classes:  # grows while it is iterated over, until it holds all subclasses
        classes += error.__subclasses__()
    for error in classes:
        if error.__name__ == name:
            return error
    return ResearchError


class UsageError(ResearchError):
    """A flag, a file or the configuration is wrong."""

    exit_code = 2


@contextmanager
def from_extra(extra: str, or_else: str = "") -> Iterator[None]:
    """Guard the import of an optional dependency; raises `UsageError` that names its extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        hint = f"pip install 'urchin-research[{extra}]'{or_else}"
        raise UsageError(f"{error.name} is not installed", hint=hint) from error


class NotFound(ResearchError):
    """What was asked for does not exist."""

    exit_code = 3


class WebOutOfReach(ResearchError):
    """Every search provider failed, or there is no browser."""

    exit_code = 6
    hint = "Run `research doctor` to see what can be reached."


class Offline(WebOutOfReach):
    """No search provider could be connected to."""

    hint = ""


class ModelError(ResearchError):
    """The model failed for good."""

    exit_code = 7
    hint = "Run `research doctor`, or use `--model extractive`, which needs no key."


class ModelUnauthorized(ModelError):
    """The key is wrong, or does not allow this model."""


class KeyMissing(ModelUnauthorized, UsageError):
    """A provider needs a key, and none is set."""

    exit_code = 2


class ModelQuota(ModelError):
    """The account has no quota left."""

    hint = "Top up the account, or ask another model with --model or --fallback."


class ModelUnavailable(ModelError):
    """The provider is down, too slow, or replies with garbage, after all retries."""


class ModelContext(ModelError):
    """The conversation is longer than the model takes: `tokens`, where the endpoint says it."""

    hint = "Name a model with a larger window, or the window of this one with --context-window."

    def __init__(self, message: str, *, tokens: int | None = None) -> None:
        super().__init__(message)
        self.tokens = tokens


class ModelFiltered(ModelError):
    """A content filter of the provider stopped the question or the reply."""

    hint = "Ask in other words, or another model with --model."


class ModelCut(ModelError):
    """The model spent its whole reply on thoughts, and was cut off before an answer."""

    hint = "Raise --max-tokens or --budget, or name a model that thinks less."


class ModelUnknown(ModelError, UsageError):
    """The endpoint has no model of this name."""

    exit_code = 2
    hint = "Check --model, and that --base-url ends where the API begins (often /v1)."


class NotAnEndpoint(ModelError, UsageError):
    """What answers at the address is no model's API."""

    exit_code = 2
    hint = "Check --base-url: it ends where the API begins, often in /v1."


class NeedsPerson(ResearchError):
    """An action of the run needs the person's consent, and nobody could be asked."""

    exit_code = 5
    hint = "Ask again on a terminal: there the run asks you before it acts."


class NotSent(ResearchError):
    """A messaging service did not accept a message."""

    exit_code = 6
    hint = "`research channels test` tells whether a service can be reached."


class ReplayDiverged(ResearchError):
    """A replayed run asks what its record does not have; the message shows the difference."""

    exit_code = 8
    hint = (
        "The prompts or tools have changed since, or the record has (`research verify` tells); "
        "`--model NAME` replays the web alone."
    )


class JournalError(ResearchError):
    """The record of a run cannot be written or read."""


class ArchiveDamaged(JournalError):
    """An archive of a run was changed, is cut short, or is none."""

    exit_code = 8
    hint = "Fetch it again, or make it anew with `research export RUN FILE.zip`."


class InternalError(ResearchError):
    """A bug of ours; the run's record has the traceback."""

    hint = "This is a bug. `research show --steps` shows the run; please report it."


class ToolError(ResearchError):
    """A tool call failed; the model sees the message and the hint as the call's result."""

    hint = "Tool failed. Try a different approach."
