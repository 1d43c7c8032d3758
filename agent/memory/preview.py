"""A dry run: what the layers give a question, and why, in words for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.memory.layers import SHOWN_WITHOUT_FILTER, build_messages, relevant
from agent.memory.terms import index_terms
from browser.text import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from agent.memory.types import Hit, Layers

_TOKEN = 4  # characters, about


def preview(layers: Layers, question: str) -> str:
    """Lay out the last message as a run with this question would see it, then the reasons."""
    messages, skills = build_messages(
        question,
        condensed=layers.condensed,
        history=layers.history,
        profile=layers.profile,
        memories=layers.memories,
        sessions=layers.sessions,
        skills=layers.skills,
        recalled=layers.recalled,
    )
    text = messages[-1].content
    added = sum(len(message.content) for message in messages) - len(question)
    head = f"{added} characters (about {added // _TOKEN} tokens) come from memory."
    reasons = [*_reasons(layers, question, len(messages) - 1), *_skills(skills)]
    return "\n".join([head, "", text, "", "Why:", *(f"- {reason}" for reason in reasons)])


def _reasons(layers: Layers, question: str, earlier: int) -> Iterator[str]:
    yield f"{earlier} earlier messages: this conversation's, the condensed ones first"
    yield f"profile: {len(layers.profile)} entries, always shown"
    yield from _remembered({**layers.sessions, **layers.memories}, question)
    if not layers.recalled:
        yield "of what runs left, nothing bears on the question"
    for hit in layers.recalled:
        yield f"[{hit.kind}] {hit.id}: {_why(hit, question)}"


def _remembered(entries: Mapping[str, Any], question: str) -> Iterator[str]:
    count = len(entries)
    if count <= SHOWN_WITHOUT_FILTER:
        yield f"memories: all {count}, since so few are shown whole"
        return
    found = relevant(question, entries)
    yield f"memories: {len(found)} of {count} share words with the question"
    yield from (f"[memory] {entry.key}: relevance {entry.score:.2f}" for entry in found)


def _why(hit: Hit, question: str) -> str:
    """Name the question's words that a memory has; one that has none came by a link."""
    own = set(index_terms(f"{hit.key or ''} {hit.text}"))
    shared = [word for word in words(question) if set(index_terms(word)) & own]
    reason = f"has {', '.join(dict.fromkeys(shared))}" if shared else "is linked to what has"
    return f"relevance {hit.score:.2f}; {reason}"


def _skills(names: list[str]) -> Iterator[str]:
    if names:
        yield f"skills: {', '.join(names)}"
