"""Models: a scripted one, a judge in a folder, and those behind an API."""

from agent.models.base import (
    Guidable,
    Model,
    ModelReply,
    Native,
    Streaming,
    Structured,
    Task,
    Usage,
    natively,
    sees,
    takes,
)
from agent.types import Image, Message

__all__ = [
    "Guidable",
    "Image",
    "Message",
    "Model",
    "ModelReply",
    "Native",
    "Streaming",
    "Structured",
    "Task",
    "Usage",
    "natively",
    "sees",
    "takes",
]
