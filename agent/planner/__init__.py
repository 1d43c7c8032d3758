"""Answering a question: in one loop, or in parts whose results are put together."""

from agent.planner.parallel import NO_RESPONSE, SIDE_BY_SIDE
from agent.planner.plan import Subtask, read_plan, wants_plan
from agent.planner.work import Work

__all__ = [
    "NO_RESPONSE",
    "SIDE_BY_SIDE",
    "Subtask",
    "Work",
    "read_plan",
    "wants_plan",
]
