"""Solvers of captchas: found among the installed packages, asked only where one was named."""

from browser.solvers.base import Factory, Settings, Solver, SolverFailed
from browser.solvers.installed import SolverMissing, make_solver, solver_names

__all__ = [
    "Factory",
    "Settings",
    "Solver",
    "SolverFailed",
    "SolverMissing",
    "make_solver",
    "solver_names",
]
