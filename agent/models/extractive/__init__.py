"""The keyless model: rules that search, read, follow a hop, rank and quote."""

from agent.models.extractive.model import ExtractiveModel

__all__ = ["ExtractiveModel"]
