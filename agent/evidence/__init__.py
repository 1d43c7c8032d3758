"""Evidence: what was read, cut into citable passages, and claims checked against it."""

from agent.evidence.passages import passage_id, split_passages
from agent.evidence.store import Evidence, Source

__all__ = ["Evidence", "Source", "passage_id", "split_passages"]
