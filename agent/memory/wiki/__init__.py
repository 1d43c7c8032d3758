"""What is known as plain Markdown with `[[links]]`, which people can read and edit."""

from agent.memory.wiki.engine import Wiki
from agent.memory.wiki.files import Folder, WikiFiles
from agent.memory.wiki.lint import Finding
from agent.memory.wiki.relations import Relation
from agent.memory.wiki.search import Found, Window, get, search

__all__ = ["Finding", "Folder", "Found", "Relation", "Wiki", "WikiFiles", "Window", "get", "search"]
