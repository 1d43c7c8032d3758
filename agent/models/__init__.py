"""Models: the keyless extractive one, a scripted one, and those behind an API."""

from agent.models.base import Message, Model, ModelReply, Native, Task, Usage, takes

__all__ = ["Message", "Model", "ModelReply", "Native", "Task", "Usage", "takes"]
