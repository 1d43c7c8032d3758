"""Questions with expectations, run as a test suite: live, or replayed from a record."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from agent.config import options
from agent.errors import ResearchError, UsageError
from agent.export.run_archive import is_archive, opened
from agent.run import research
from agent.run.expectations import Expectation
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.run.yaml_lines import line_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.journal import Runs
    from agent.types import Report

_HINT = "It is a mapping with `checks:`, a list of `question` (or `run`) and `expect`."
_PATHS = ("corpus", "file", "storage_state")
_ALONE = {"memory": False}
"""What one check learns must not help the next one, unless the file says so."""


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


@dataclass(frozen=True, slots=True)
class Checked:
    """A check that was made: what does not hold, and the report, where there came one."""

    check: Check
    failures: tuple[str, ...]
    seconds: float
    report: Report | None = None


def read_suite(path: Path) -> Suite:
    """Read a file of checks; raises `UsageError` that names the line or the key that is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
        rows = YAML(typ="safe", pure=True).load(text)
        suite = Suite.model_validate({**rows, "folder": path.parent})
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    except YAMLError as error:
        raise UsageError(f"{path} is not valid YAML: {error}") from error
    except TypeError as error:
        raise UsageError(f"{path} holds no checks", hint=_HINT) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise _wrong(path, text, first["loc"], first["msg"]) from error
    _check_options(suite, path, text)
    return suite


def _check_options(suite: Suite, path: Path, text: str) -> None:
    """Find a wrong setting before the first question is asked."""
    places: list[tuple[tuple[str | int, ...], dict[str, Any]]] = [(("options",), suite.options)]
    places += [(("checks", n, "options"), check.options) for n, check in enumerate(suite.checks)]
    for place, settings in places:
        for name, value in settings.items():
            try:
                options({name: value})
            except UsageError as error:
                raise _wrong(path, text, (*place, name), str(error)) from error


def _wrong(path: Path, text: str, place: tuple[str | int, ...], why: str) -> UsageError:
    where = ".".join(str(part) for part in place) or "the file"
    return UsageError(f"{path}:{line_of(text, place)}: {where}: {why}", hint=_HINT)


async def run_suite(
    suite: Suite, runs: Runs, flags: dict[str, Any], told: Callable[[Checked], None]
) -> list[Checked]:
    """Make the checks one after the other, tell each as it is done; `flags` outweigh the file."""
    done = []
    for check in suite.checks:
        done.append(await _checked(check, suite, runs, flags))
        told(done[-1])
    return done


async def _checked(check: Check, suite: Suite, runs: Runs, flags: dict[str, Any]) -> Checked:
    started = time.monotonic()
    try:
        if check.run is not None:
            report = await _replayed(check.run, suite, runs)
        else:
            settings = {**_ALONE, **_settings(check, suite), **flags}
            report = await research(str(check.question), config=True, **settings)
    except ResearchError as error:
        failure = " ".join(part for part in (str(error), error.hint) if part)
        return Checked(check, (failure,), time.monotonic() - started)
    failures = tuple(check.expect.failures(report))
    return Checked(check, failures, time.monotonic() - started, report)


async def _replayed(name: str, suite: Suite, runs: Runs) -> Report:
    """Replay a run, or one from an archive."""
    where = str(suite.folder / name) if is_archive(name) else name
    with opened(where, runs) as folder:
        record = RunRecord.read(folder)
        return await replay(record)


def _settings(check: Check, suite: Suite) -> dict[str, Any]:
    settings = {**suite.options, **check.options}
    for name in _PATHS:
        if name in settings:
            values = settings[name] if isinstance(settings[name], list) else [settings[name]]
            paths = [suite.folder / str(value) for value in values]
            settings[name] = paths if isinstance(settings[name], list) else paths[0]
    return settings
