"""The keyless model: rules that search, read, rank and quote."""

from agent.models.extractive.model import ExtractiveModel

__all__ = ["ExtractiveModel"]
