"""Evidence: the pages and files that were read, split into citable passages, and claim checking."""

from agent.evidence.answer import CheckedAnswer, check_answer
from agent.evidence.confidence import Assessment, assess_answer
from agent.evidence.facts import extract_facts
from agent.evidence.passages import split_passages
from agent.evidence.store import Evidence, Source
from agent.evidence.verify import Judge, verify_claim

__all__ = [
    "Assessment",
    "CheckedAnswer",
    "Evidence",
    "Judge",
    "Source",
    "assess_answer",
    "check_answer",
    "extract_facts",
    "split_passages",
    "verify_claim",
]
