"""Models: a scripted one, a judge in a folder, and those behind an API."""

from agent.models.base import (
    Image,
    Message,
    Model,
    ModelReply,
    Native,
    Streaming,
    Task,
    Usage,
    natively,
    sees,
    takes,
)

__all__ = [
    "Image",
    "Message",
    "Model",
    "ModelReply",
    "Native",
    "Streaming",
    "Task",
    "Usage",
    "natively",
    "sees",
    "takes",
]
