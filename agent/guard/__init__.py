"""Guard rails: what a run may spend and send, how its context may grow, when it goes in circles."""

from agent.guard.budget import Budget, LimitReached
from agent.guard.outgoing import Outgoing
from agent.guard.provenance import Kind, Provenance
from agent.guard.redact import Redactor, secrets_of
from agent.guard.repetition import Repetition
from agent.guard.window import Window, fit_opening

__all__ = [
    "Budget",
    "Kind",
    "LimitReached",
    "Outgoing",
    "Provenance",
    "Redactor",
    "Repetition",
    "Window",
    "fit_opening",
    "secrets_of",
]
