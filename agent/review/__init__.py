"""What happens to an answer before it leaves: the judge, the gate, the values of a schema."""

from agent.review.gate import Gate, SectionGate
from agent.review.schema import Schema

__all__ = ["Gate", "Schema", "SectionGate"]
