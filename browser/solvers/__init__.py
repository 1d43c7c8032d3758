"""Solvers of captchas: a challenge in, a token out, or None where it could not be solved.

They are entry points of the group `urchin.solvers`, asked only where one was named. An entry point
names what makes a solver of `Settings`: usually its class, which raises SolverFailed without a key.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from browser.errors import BrowserError
from browser.plugins import extras_hint, load_plugin, plugins
from browser.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from browser.types import Challenge

KIND = "solvers"


class Solver(Protocol):
    """Returns the token that a site's widget would have given a user."""

    async def solve(self, challenge: Challenge) -> str | None:
        """Solve a challenge; None where nobody could. Raises SolverFailed."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """What a solver is made with: where keys are, another address, the guarded way out.

    `proxy` is an HTTP proxy that its requests must take; None for a direct connection.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    proxy: str | None = None


class SolverFailed(BrowserError):
    """The service did not take the challenge; `outcome` says why (key, balance, time, …)."""

    hint = "Continue without the content behind the captcha."

    def __init__(self, message: str, outcome: Outcome = Outcome.ERROR) -> None:
        super().__init__(message)
        self.outcome = outcome


class SolverMissing(BrowserError):
    """No installed package brings a solver of this name."""


def solver_names() -> tuple[str, ...]:
    """The names that `--solver` takes here."""
    return tuple(plugin.name for plugin in plugins(KIND))


def make_solver(name: str, settings: Settings) -> Solver:
    """Make the solver of this name; raises SolverMissing, PluginBroken, or SolverFailed."""
    factory: Callable[[Settings], Solver] | None = load_plugin(KIND, name)
    if factory is None:
        known = ", ".join(solver_names()) or "none"
        raise SolverMissing(
            f"no solver is called {name!r}", hint=f"Installed: {known}. {extras_hint(KIND)}"
        )
    return factory(settings)
