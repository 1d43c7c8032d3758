"""A file of questions with expectations: reading it, and what of a report does not hold."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from agent.config import load_options
from agent.errors import UsageError
from agent.run.outcome import verified
from agent.types import Status  # noqa: TC001 - pydantic reads the annotation
from browser.net.url import host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.types import Report


_HINT: Final = "It is a mapping with `checks:`, a list of `question` (or `run`) and `expect`."


def _several(value: Any) -> tuple[str, ...]:
    # What YAML reads as a number is meant as it is written.
    return tuple(str(part) for part in (value if isinstance(value, list) else [value]))


def _patterns(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"{value!r} is no regular expression: {error}") from error
    return values


Globs = Annotated[tuple[str, ...], BeforeValidator(_several)]
Patterns = Annotated[tuple[str, ...], BeforeValidator(_several), AfterValidator(_patterns)]


class Expectation(BaseModel):
    """What must hold; what is not named is not looked at, but for the status.

    Patterns are regular expressions searched in the answer, without regard to case. Globs are
    matched against the addresses of the sources: without `://` from the host on, without `/`
    against the host alone. `from_pages`: no sentence may rest on a search result alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: Status = "answered"
    answer: Patterns = ()
    not_answer: Patterns = ()
    cite: Globs = ()
    not_cite: Globs = ()
    min_confidence: float | None = Field(None, ge=0, le=1)
    verified: bool | None = None
    from_pages: bool = False
    max_usd: float | None = Field(None, ge=0)
    max_steps: int | None = Field(None, ge=0)
    max_seconds: float | None = Field(None, gt=0)

    def failures(self, report: Report) -> list[str]:
        """Say in a line each what does not hold."""
        return [*self._quality(report), *self._answer(report), *self._costs(report)]

    def _quality(self, report: Report) -> Iterator[str]:
        if report.status != self.status:
            why = f": {report.error.message}" if report.error else ""
            yield f"status is {report.status}, not {self.status}{why}"
        if self.verified is False and verified(report):
            yield "the answer is verified"
        if self.verified and not verified(report):
            others = [s.text for s in report.sentences if s.verdict != "supported"]
            yield f"not every sentence is supported: {'; '.join(others) or 'there is none'}"
        if self.from_pages and (weak := [s.text for s in report.sentences if s.weak]):
            yield f"search results alone say: {'; '.join(weak)}"
        wanted, rated = self.min_confidence, report.confidence
        if wanted is not None and (rated is None or rated < wanted):
            said = "not rated" if rated is None else f"{rated:.2f}"
            yield f"confidence is {said}, below {wanted:.2f}"

    def _answer(self, report: Report) -> Iterator[str]:
        for pattern in self.answer:
            if not re.search(pattern, report.answer, re.IGNORECASE):
                yield f"the answer does not match {pattern!r}"
        for pattern in self.not_answer:
            if found := re.search(pattern, report.answer, re.IGNORECASE):
                yield f"the answer matches {pattern!r}: {found[0]!r}"
        urls = [source.url for source in report.sources]
        for glob in self.cite:
            if not any(_matches(url, glob) for url in urls):
                yield f"no source matches {glob!r}: {', '.join(urls) or 'none is cited'}"
        for glob in self.not_cite:
            yield from (f"{url} is cited, against {glob!r}" for url in urls if _matches(url, glob))

    def _costs(self, report: Report) -> Iterator[str]:
        if self.max_usd is not None and report.usage.usd > self.max_usd:
            yield f"it cost ${report.usage.usd:.4f}, above ${self.max_usd:.4f}"
        if self.max_steps is not None and report.steps > self.max_steps:
            yield f"it took {report.steps} steps, above {self.max_steps}"
        if self.max_seconds is not None and report.elapsed_s > self.max_seconds:
            yield f"it took {report.elapsed_s:.1f} s, above {self.max_seconds:g} s"


def _matches(url: str, glob: str) -> bool:
    if "://" in glob:
        return fnmatchcase(url, glob)
    return fnmatchcase(url.partition("://")[2] if "/" in glob else host(url), glob)


class Check(BaseModel):
    """One question, or one recorded run (its id, `last`, or an archive), and what is expected.

    `options` are the flags of a run with underscores.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""
    question: str | None = None
    run: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    expect: Expectation = Expectation()

    @model_validator(mode="after")
    def _one_of_both(self) -> Check:
        if bool(self.question) == bool(self.run):
            raise ValueError("a check has either a question or a run")
        return self

    @property
    def title(self) -> str:
        """How the check is called where it has no name."""
        return self.name or self.question or f"run {self.run}"


class Suite(BaseModel):
    """A file of checks; its `options` hold for all questions. Paths are as seen from the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    options: dict[str, Any] = Field(default_factory=dict)
    checks: tuple[Check, ...] = Field(min_length=1)
    folder: Path = Path()


def read_suite(path: Path) -> Suite:
    """Read a file of checks; raises `UsageError` that names the line or the key that is wrong."""
    try:
        rows = YAML(typ="rt", pure=True).load(path.read_text(encoding="utf-8"))
        suite = Suite.model_validate({**rows, "folder": path.parent})
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read {path}: {reason}") from error
    except YAMLError as error:
        raise UsageError(f"{path} is not valid YAML: {error}") from error
    except TypeError as error:
        raise UsageError(f"{path} holds no checks", hint=_HINT) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise _wrong(path, rows, first["loc"], first["msg"]) from error
    # A wrong setting is found before the first question is asked.
    settings: list[tuple[tuple[str | int, ...], dict[str, Any]]] = [(("options",), suite.options)]
    settings += [(("checks", n, "options"), check.options) for n, check in enumerate(suite.checks)]
    for place, given in settings:
        for name, value in given.items():
            try:
                load_options({name: value})
            except UsageError as error:
                raise _wrong(path, rows, (*place, name), str(error)) from error
    return suite


def _wrong(path: Path, rows: Any, place: tuple[str | int, ...], why: str) -> UsageError:
    """Name the line of the value at a path of keys and indexes, or of what would hold it."""
    node, line = rows, 0
    for part in place:
        if isinstance(node, CommentedMap) and part in node:
            line = node.lc.key(part)[0]
        elif isinstance(node, CommentedSeq) and isinstance(part, int) and part < len(node):
            line = node.lc.item(part)[0]
        else:
            break
        node = node[part]
    where = ".".join(str(part) for part in place) or "the file"
    return UsageError(f"{path}:{line + 1}: {where}: {why}", hint=_HINT)
