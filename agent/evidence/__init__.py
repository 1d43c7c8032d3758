"""Evidence: what was read, cut into citable passages, and claims checked against it."""

from agent.evidence.answer import CheckedAnswer, check_answer
from agent.evidence.confidence import Weighed, weigh
from agent.evidence.facts import facts_of
from agent.evidence.passages import split_passages
from agent.evidence.store import Evidence, Source
from agent.evidence.verify import Judge, verify_claim

__all__ = [
    "CheckedAnswer",
    "Evidence",
    "Judge",
    "Source",
    "Weighed",
    "check_answer",
    "facts_of",
    "split_passages",
    "verify_claim",
    "weigh",
]
