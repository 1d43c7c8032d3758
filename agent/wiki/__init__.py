"""What is known as plain Markdown with `[[links]]`, which people can read and edit."""

from agent.wiki.wiki_files import Folder, Relation, WikiFiles, get, search
from agent.wiki.wiki_index import Finding, Wiki

__all__ = ["Finding", "Folder", "Relation", "Wiki", "WikiFiles", "get", "search"]
