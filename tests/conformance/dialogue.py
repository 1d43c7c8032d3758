"""A dialogue as a test of traps holds it: a script of replies, and what was sent in return."""

from __future__ import annotations

from tests.conformance.run_case import run_case

NOW = 1_700_000_000_000
"""Where the clock of `run_case` stands (ms)."""


async def run(*script, **case):
    """Run a question against replies, given in order."""
    return await run_case({"input": "q", "script": list(script), "tools": {}, **case})


def sent(result, call=-1):
    """The messages of one call, by default the last."""
    return [message["content"] for message in result["llm_calls"][call]["messages"]]


def kinds(result):
    """What each call was for."""
    return [call["kind"] for call in result["llm_calls"]]


def observed(result, call=-1):
    """The last message of one call: the question, or what the tools gave."""
    return sent(result, call)[-1]
