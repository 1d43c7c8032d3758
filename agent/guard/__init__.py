"""Guard rails: what a run may spend, and how large its context may grow."""

from agent.guard.budget import Budget, LimitReached
from agent.guard.secrets import Secrets
from agent.guard.window import fit

__all__ = ["Budget", "LimitReached", "Secrets", "fit"]
