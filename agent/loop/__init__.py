"""The loop: what it begins with, its turns, and the guided way for models that cannot drive it."""

from agent.loop.loop import Caller, Loop, LoopResult

__all__ = ["Caller", "Loop", "LoopResult"]
