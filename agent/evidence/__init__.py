"""Evidence: what was read, cut into citable passages, and claims checked against it."""

from agent.evidence.agreement import Weighed, weigh
from agent.evidence.answer import CheckedAnswer, check_answer
from agent.evidence.facts import facts_of
from agent.evidence.passages import nearest_quote, passage_id, split_passages
from agent.evidence.store import Evidence, Source, placed
from agent.evidence.verify import Judge, verify_claim

__all__ = [
    "CheckedAnswer",
    "Evidence",
    "Judge",
    "Source",
    "Weighed",
    "check_answer",
    "facts_of",
    "nearest_quote",
    "passage_id",
    "placed",
    "split_passages",
    "verify_claim",
    "weigh",
]
