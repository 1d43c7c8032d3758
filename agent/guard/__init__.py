"""Guard rails: what a run may spend, how large its context may grow, when it goes in circles."""

from agent.guard.budget import Budget, LimitReached
from agent.guard.redact import Redactor, secrets_of
from agent.guard.repetition import Repetition
from agent.guard.secrets import Secrets
from agent.guard.window import Window, fit_opening

__all__ = [
    "Budget",
    "LimitReached",
    "Redactor",
    "Repetition",
    "Secrets",
    "Window",
    "fit_opening",
    "secrets_of",
]
