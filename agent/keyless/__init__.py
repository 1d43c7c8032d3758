"""The keyless model: rules that search, read, follow a hop, rank and quote."""

from agent.keyless.model import ExtractiveModel
from agent.keyless.researcher import Researcher

__all__ = ["ExtractiveModel", "Researcher"]
