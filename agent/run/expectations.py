"""Checks for answers (`research check`): reads files of checks and compares reports with them."""

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
from agent.types import Status, format_usd
from browser.net.url import host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.types import Report


_HINT: Final = "Expected: a mapping with `checks:`, a list of `question` (or `run`) and `expect`."


def _to_texts(value: Any) -> tuple[str, ...]:
    # YAML reads `1902` as a number, but here it is a pattern.
    return tuple(str(part) for part in (value if isinstance(value, list) else [value]))


def _valid_patterns(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"{value!r} is not a valid regular expression: {error}") from error
    return values


Globs = Annotated[tuple[str, ...], BeforeValidator(_to_texts)]
Patterns = Annotated[tuple[str, ...], BeforeValidator(_to_texts), AfterValidator(_valid_patterns)]


class Expectation(BaseModel):
    """The properties that a report is expected to have; only the status has a default.

    Patterns are regular expressions searched for in the answer, ignoring case. Globs are matched
    against source addresses: globs without `://` start at the host, and globs without `/` match
    only the host. With `from_pages`, no sentence may be based only on a search result.
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
        """Describe the expectations that a report does not meet, one line each."""
        return [
            *self._quality_failures(report),
            *self._answer_failures(report),
            *self._cost_failures(report),
        ]

    def _quality_failures(self, report: Report) -> Iterator[str]:
        if report.status != self.status:
            why = f": {report.error.message}" if report.error else ""
            yield f"status is {report.status}, not {self.status}{why}"
        is_verified = report.standing == "supported"
        if self.verified is False and is_verified:
            yield "the answer is verified"
        if self.verified and not is_verified:
            others = [s.text for s in report.unsupported]
            why = f": {'; '.join(others)}" if others else ""
            yield f"the answer is not fully supported ({report.badge}){why}"
        if self.from_pages and (weak := [s.text for s in report.sentences if s.weak]):
            yield f"supported only by search results: {'; '.join(weak)}"
        least, confidence = self.min_confidence, report.confidence
        if least is not None and (confidence is None or confidence < least):
            shown = "not rated" if confidence is None else f"{confidence:.2f}"
            yield f"confidence is {shown}, below {least:.2f}"

    def _answer_failures(self, report: Report) -> Iterator[str]:
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
            yield from (
                f"{url} is cited, but `not_cite` excludes {glob!r}"
                for url in urls
                if _matches(url, glob)
            )

    def _cost_failures(self, report: Report) -> Iterator[str]:
        if self.max_usd is not None and report.usage.usd > self.max_usd:
            yield f"it cost {format_usd(report.usage.usd)}, above {format_usd(self.max_usd)}"
        if self.max_steps is not None and report.steps > self.max_steps:
            yield f"it took {report.steps} steps, above {self.max_steps}"
        if self.max_seconds is not None and report.elapsed_s > self.max_seconds:
            yield f"it took {report.elapsed_s:.1f} s, above {self.max_seconds:g} s"


def _matches(url: str, glob: str) -> bool:
    if "://" in glob:
        return fnmatchcase(url, glob)
    return fnmatchcase(url.partition("://")[2] if "/" in glob else host(url), glob)


class Check(BaseModel):
    """One question or one recorded run (its id, `last`, or an archive), and the expectations.

    `options` are the flags of a run, with underscores.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""
    question: str | None = None
    run: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    expect: Expectation = Expectation()

    @model_validator(mode="after")
    def _has_question_or_run(self) -> Check:
        if bool(self.question) == bool(self.run):
            raise ValueError("a check needs either a question or a run")
        return self

    @property
    def title(self) -> str:
        """The name of the check, by default its question or run."""
        return self.name or self.question or f"run {self.run}"


class Suite(BaseModel):
    """A file of checks; `options` apply to all questions. Paths are relative to its `folder`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    options: dict[str, Any] = Field(default_factory=dict)
    checks: tuple[Check, ...] = Field(min_length=1)
    folder: Path = Path()


def read_suite(path: Path) -> Suite:
    """Read a file of checks; raises `UsageError` with the line and the key of the error."""
    try:
        rows = YAML(typ="rt", pure=True).load(path.read_text(encoding="utf-8"))
        suite = Suite.model_validate({**rows, "folder": path.parent})
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read {path}: {reason}") from error
    except YAMLError as error:
        raise UsageError(f"{path} is not valid YAML: {error}") from error
    except TypeError as error:
        raise UsageError(f"{path} contains no checks", hint=_HINT) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise _error_at(path, rows, first["loc"], first["msg"]) from error
    # Wrong settings are reported before the first question is asked, because questions may cost
    # money.
    settings: list[tuple[tuple[str | int, ...], dict[str, Any]]] = [(("options",), suite.options)]
    settings += [(("checks", n, "options"), check.options) for n, check in enumerate(suite.checks)]
    for location, options in settings:
        for name, value in options.items():
            try:
                load_options({name: value})
            except UsageError as error:
                raise _error_at(path, rows, (*location, name), str(error)) from error
    return suite


def _error_at(path: Path, rows: Any, location: tuple[str | int, ...], why: str) -> UsageError:
    """Create an error with the line of a value, or of its nearest existing ancestor.

    `location` is the path of keys and indexes to the value.
    """
    node, line = rows, 0
    for part in location:
        if isinstance(node, CommentedMap) and part in node:
            line = node.lc.key(part)[0]
        elif isinstance(node, CommentedSeq) and isinstance(part, int) and part < len(node):
            line = node.lc.item(part)[0]
        else:
            break
        node = node[part]
    where = ".".join(str(part) for part in location) or "the file"
    return UsageError(f"{path}:{line + 1}: {where}: {why}", hint=_HINT)
