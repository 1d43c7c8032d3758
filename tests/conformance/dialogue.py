"""A dialogue for a test: a script of replies, and what was sent in return."""

from __future__ import annotations

from tests.conformance.run_case import run_case

NOW = 1_700_000_000_000
"""The time on the clock of `run_case`, in ms."""


async def run(*script, **case):
    """Run a question against replies given in order."""
    return await run_case({"input": "q", "script": list(script), "tools": {}, **case})


def sent(result, call=-1):
    """Return the messages of one call (default: the last)."""
    return [message["content"] for message in result["llm_calls"][call]["messages"]]


def kinds(result):
    """Return the purpose of each call."""
    return [call["kind"] for call in result["llm_calls"]]


def observed(result, call=-1):
    """Return the last message of one call: the question, or the tool results."""
    return sent(result, call)[-1]
