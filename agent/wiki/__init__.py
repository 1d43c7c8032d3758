"""What is known as plain Markdown with `[[links]]`, which people can read and edit."""

from agent.wiki.pages import Folder, Relation, WikiFiles, get, search
from agent.wiki.wiki import Finding, Wiki

__all__ = ["Finding", "Folder", "Relation", "Wiki", "WikiFiles", "get", "search"]
