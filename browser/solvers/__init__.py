"""Captcha solvers: they return a token for a challenge, or None if it could not be solved.

They are entry points in the group `urchin.solvers`, and are used only if the user names one. An
entry point creates a solver from `Settings`; usually it is the solver's class, which raises
SolverFailed if there is no key.
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
    """Returns the token that a site's widget gives to a user who solves the captcha."""

    async def solve(self, challenge: Challenge) -> str | None:
        """Solve a challenge; None if it could not be solved. Raises SolverFailed."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """A solver's settings: the source of keys, the service's address and the guarded proxy.

    `proxy` is the HTTP proxy that its requests must use; None means a direct connection.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    proxy: str | None = None


class SolverFailed(BrowserError):
    """The service did not accept the challenge; `outcome` gives the reason (key, balance, …)."""

    hint = "Continue without the content behind the captcha."

    def __init__(self, message: str, outcome: Outcome = Outcome.ERROR) -> None:
        super().__init__(message)
        self.outcome = outcome


class SolverMissing(BrowserError):
    """No installed package provides a solver with this name."""


def solver_names() -> tuple[str, ...]:
    """The names that `--solver` accepts in this installation."""
    return tuple(plugin.name for plugin in plugins(KIND))


def make_solver(name: str, settings: Settings) -> Solver:
    """Create the solver with this name; raises SolverMissing, PluginBroken, or SolverFailed."""
    factory: Callable[[Settings], Solver] | None = load_plugin(KIND, name)
    if factory is None:
        known = ", ".join(solver_names()) or "none"
        raise SolverMissing(
            f"no solver named {name!r}", hint=f"Installed: {known}. {extras_hint(KIND)}"
        )
    return factory(settings)
