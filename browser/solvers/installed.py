"""Which solvers are installed: entry points of the group `urchin.solvers`."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, cast

from browser.errors import BrowserError

if TYPE_CHECKING:
    from browser.solvers.base import Factory, Settings, Solver

GROUP = "urchin.solvers"


class SolverMissing(BrowserError):
    """No installed package brings a solver of this name."""


def solver_names() -> tuple[str, ...]:
    """The names that `--solver` takes here."""
    return tuple(sorted(point.name for point in entry_points(group=GROUP)))


def make_solver(name: str, settings: Settings) -> Solver:
    """Make the solver of this name; raises SolverMissing, or SolverFailed without its key."""
    found = next(iter(entry_points(group=GROUP, name=name)), None)
    if found is None:
        known = ", ".join(solver_names()) or "none"
        raise SolverMissing(f"no solver is called {name!r}", hint=f"Installed: {known}.")
    try:
        factory = cast("Factory", found.load())
    except (ImportError, AttributeError) as error:
        raise SolverMissing(
            f"the solver {name!r} cannot be loaded: {error}",
            hint="Install what it needs, or name another one.",
        ) from error
    return factory(settings)
