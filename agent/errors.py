"""The errors of the agent package, each with an exit code, a message and a hint.

ResearchError
 ├── UsageError         2   a flag, a file or the configuration is invalid
 │    └── NoApprover         --plan, but no user can be asked
 ├── NotFound           3   nothing found (raised only by the command line; a run reports a status)
 ├── WebOutOfReach      6   every search provider failed, or there is no browser
 │    └── Offline            could not connect to any search provider
 ├── ModelError         7   the model failed permanently
 │    ├── ModelUnauthorized  the key was rejected
 │    │    └── KeyMissing   2     no key is set
 │    ├── ModelQuota         the account has no quota left
 │    ├── ModelUnavailable   an outage, a rate limit or no answer, after all retries
 │    ├── ModelContext       the conversation is too long, even after trimming
 │    ├── ModelFiltered      a content filter stopped the question or the reply
 │    ├── ModelTruncated     the reply reached its token limit before it contained any text
 │    ├── ModelUnknown     2 the endpoint has no model with this name
 │    └── NotAnEndpoint    2 the URL is not a model API but a web page or another API
 ├── LimitReached       5   a limit of the run was reached (defined in `agent.guard.budget`)
 ├── NeedsUser          5   an action needs the user's approval, and no user replied or can be asked
 ├── PlanRefused        5   the user did not approve the plan of a run (--plan)
 ├── NotSent            6   a messaging service did not accept a message
 ├── ReplayDiverged     8   a replayed run makes a request that is not in its journal
 ├── RerunStopped       8   a step of a recorded browser session could not be repeated
 ├── JournalError       1   the journal cannot be written or read
 │    └── ArchiveDamaged 8  a run archive was changed, or is not an archive
 ├── InternalError      1   a bug in Urchin; the run's journal has the traceback
 └── ToolError          -   a tool call failed; it becomes a result with a hint and never ends a run
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_VERIFIED = 4
"""Exit code if the answer is not verified although --require-verified requires it."""
CHECK_FAILED = 8
"""Exit code of a command whose check failed."""
MAX_ERROR_CHARS = 2_000
"""Maximum length of a recorded error text in characters; some errors quote their entire input."""


class ResearchError(Exception):
    """Base class of the agent's errors. `hint` is one sentence that says what to do."""

    exit_code = 1
    hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint


def error_text(error: BaseException | str, limit: int = MAX_ERROR_CHARS) -> str:
    """Return the text of an error, shortened if it is very long."""
    text = str(error) or type(error).__name__
    if len(text) <= limit:
        return text
    # Cut between words, since half a secret would not be redacted.
    kept = text[:limit].rpartition(" ")[0] or text[:limit]
    return f"{kept}… ({len(text) - len(kept):,} more characters)"


def error_class(name: str) -> type[ResearchError]:
    """Return the error class with a recorded name; `ResearchError` for an unknown name."""
    classes = [ResearchError]
    for error in classes:  # grows during the iteration until it contains all subclasses
        classes += error.__subclasses__()
    for error in classes:
        if error.__name__ == name:
            return error
    return ResearchError


class UsageError(ResearchError):
    """A flag, a file or the configuration is invalid."""

    exit_code = 2


@contextmanager
def requires_extra(extra: str, or_else: str = "") -> Iterator[None]:
    """Wrap the import of an optional dependency; raises a `UsageError` that names its extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        hint = f"pip install 'urchin-research[{extra}]'{or_else}"
        raise UsageError(f"{error.name} is not installed", hint=hint) from error


class NotFound(ResearchError):
    """The requested object does not exist."""

    exit_code = 3


class WebOutOfReach(ResearchError):
    """Every search provider failed, or there is no browser."""

    exit_code = 6
    hint = "Run `research doctor` to check the connection."


class Offline(WebOutOfReach):
    """Could not connect to any search provider."""

    hint = ""


class ModelError(ResearchError):
    """The model failed permanently."""

    exit_code = 7
    hint = "Run `research doctor`, or use `--model extractive`, which needs no key."


class ModelUnauthorized(ModelError):
    """The key is invalid, or does not allow this model."""


class KeyMissing(ModelUnauthorized, UsageError):
    """A provider needs a key, but none is set."""

    exit_code = 2


class ModelQuota(ModelError):
    """The account has no quota left."""

    hint = "Top up the account, or use another model with --model or --fallback."


class ModelUnavailable(ModelError):
    """After all retries, the provider is down, too slow, or sends invalid replies."""


class ModelContext(ModelError):
    """The conversation exceeds the context window of `tokens` (None: not reported)."""

    hint = "Use a model with a larger context window, or set the actual size with --context-window."

    def __init__(self, message: str, *, tokens: int | None = None) -> None:
        super().__init__(message)
        self.tokens = tokens


class ModelFiltered(ModelError):
    """The provider's content filter blocked the question or the reply."""

    hint = "Rephrase the question, or use another model with --model."


class ModelTruncated(ModelError):
    """The model reached the reply's token limit while it was still reasoning."""

    hint = "Raise --max-tokens or --budget, or use a model that reasons less."


class ModelUnknown(ModelError, UsageError):
    """The endpoint has no model with this name."""

    exit_code = 2
    hint = "Check --model, and check that --base-url is the root of the API (often ending in /v1)."


class NotAnEndpoint(ModelError, UsageError):
    """The URL is not a model API."""

    exit_code = 2
    hint = "Check --base-url: it must be the root of the API, often ending in /v1."


class NeedsUser(ResearchError):
    """An action needs the user's approval, but no user replied or could be asked."""

    exit_code = 5
    hint = "Use a terminal, so that you can be asked for approval."


class PlanRefused(ResearchError):
    """The user did not approve the plan of a run."""

    exit_code = 5
    hint = "Ask the question again and edit the plan, or omit --plan."


class NoApprover(UsageError):
    """The run's plan needs approval (--plan), but no user can be asked."""

    hint = (
        "Use a terminal or the web page of `research serve`, or pass `edit_plan` to `research()`."
    )

    def __init__(self) -> None:
        super().__init__("the plan cannot be approved: there is no user to ask")


class NotSent(ResearchError):
    """A messaging service did not accept a message."""

    exit_code = 6
    hint = "`research channels test` checks whether a service can be reached."


class ReplayDiverged(ResearchError):
    """A replayed run made a request that its journal lacks; the message shows the difference."""

    exit_code = 8
    hint = (
        "The prompts or tools have changed since the run, or the journal was edited (see `research "
        "verify`). `--model NAME` runs a model on the recorded pages."
    )


class RerunStopped(ResearchError):
    """A step of a recorded browser session could not be repeated or had a different outcome."""

    exit_code = 8
    hint = "The page has changed. Repeat the task with a model to make a new record."


class JournalError(ResearchError):
    """A run's journal cannot be written or read."""


class ArchiveDamaged(JournalError):
    """A run archive was changed, is truncated, or is not an archive."""

    exit_code = 8
    hint = "Get a new copy of the archive, or recreate it with `research export RUN FILE.zip`."


class InternalError(ResearchError):
    """A bug in Urchin; the run's journal has the traceback."""

    hint = "This is a bug. `research show --steps` shows the run; please report it."


class ToolError(ResearchError):
    """A tool call failed. The model gets the message and the hint as the result."""

    hint = "Tool failed. Try a different approach."
