"""Evidence: what was read, cut into citable passages, and claims checked against it."""

from agent.evidence.answer import CheckedAnswer, check_answer
from agent.evidence.passages import passage_id, split_passages
from agent.evidence.store import Evidence, Source
from agent.evidence.verify import Judge, verify_claim, verify_claim_async
from agent.evidence.weighing import Weighed, weigh

__all__ = [
    "CheckedAnswer",
    "Evidence",
    "Judge",
    "Source",
    "Weighed",
    "check_answer",
    "passage_id",
    "split_passages",
    "verify_claim",
    "verify_claim_async",
    "weigh",
]
