"""What stamping gives, and how it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.errors import ResearchError

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who says that a digest existed, and when (UTC).

    `when` is None where nobody can be held to a time yet; `note` says then what is missing.
    """

    when: datetime | None
    authority: str
    note: str = ""

    def __str__(self) -> str:
        """Tell it after "there since" or "existed at": a time, or that there is none yet."""
        return (
            f"{self.when:%Y-%m-%d %H:%M:%S} UTC, says {self.authority}" if self.when else self.note
        )


class TimestampFailed(ResearchError):
    """Who was asked for a timestamp cannot be reached, refuses, or answers something else."""

    exit_code = 6
    hint = "Nothing else is lost: try again later, or name another one."


class TimestampInvalid(ResearchError):
    """A token does not show that this digest existed at its time."""

    exit_code = 8
    hint = "If you trust the authority, name the file of its root certificate (--roots)."
