"""What a person expects of a run, and how a report measures up to it."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from agent.run.outcome import verified
from agent.types import Status  # noqa: TC001 - pydantic reads the annotation
from browser.net.url import host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.types import Report


def _several(value: Any) -> tuple[str, ...]:
    """Take one value or a list; what YAML reads as a number is meant as it is written."""
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
        return [*self._outcome(report), *self._answer(report), *self._limits(report)]

    def _outcome(self, report: Report) -> Iterator[str]:
        if report.status != self.status:
            why = f": {report.error.message}" if report.error else ""
            yield f"status is {report.status}, not {self.status}{why}"
        if self.verified is not None and verified(report) is not self.verified:
            others = [s.text for s in report.sentences if s.verdict != "supported"]
            yield (
                "the answer is verified"
                if not self.verified
                else (f"not every sentence is supported: {'; '.join(others) or 'there is none'}")
            )
        if self.from_pages and (weak := [s.text for s in report.sentences if s.weak]):
            yield f"search results alone say: {'; '.join(weak)}"
        wanted, found = self.min_confidence, report.confidence
        if wanted is not None and (found is None or found < wanted):
            said = "not rated" if found is None else f"{found:.2f}"
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

    def _limits(self, report: Report) -> Iterator[str]:
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
