"""Plug-ins from installed packages, found through the entry-point group `urchin.KIND`.

Entry points are read only when a name that is not built in is used; those of site parsers are read
when the first page is parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from browser.errors import BrowserError

PLUGIN_KINDS: Final = {
    "search": "a search provider: a subclass of `browser.search.provider.SearchProvider`",
    "platforms": "a site parser: a subclass of `browser.extract.platforms.Platform`",
    "documents": "a document reader for one kind: called with bytes, address and file name",
    "solvers": "a captcha solver: created with `browser.solvers.Settings`",
    "models": "a language model: created with the name after `NAME/`",
    "judges": "a judge of claims: called with a claim and passages, returns a Verdict or None",
    "embedders": "an embedder, which turns texts into vectors: `name` and `embed(texts)`",
    "tools": "a tool, `agent.tools.registry.Tool`, or several",
    "channels": "a messenger channel: a subclass of `agent.channels.channel.Channel`",
    "timestamps": "a timestamp authority: a module with `stamp` and `check`, see `agent.sealing`",
    "exports": "an export format: takes a run's folder, returns bytes",
}
"""The kinds of plug-ins; docs/plugins.md has an example of each."""

EXTRAS, EXTRAS_PACKAGE = "urchin-extras", "urchin_extras"
"""The optional package of our own plug-ins: its distribution and its Python package."""
IN_EXTRAS: Final = {
    "channels": ("discord", "email", "slack", "telegram", "whatsapp"),
    "documents": ("rtf", "odf"),
    "platforms": ("amazon", "openreview", "pubmed"),
    "search": ("github", "hackernews", "reddit", "stackexchange"),
    "exports": (".obsidian.md",),
    "timestamps": ("opentimestamps", "rfc3161"),
    "solvers": ("2captcha",),
}
"""The plug-ins in `EXTRAS`, by kind."""


def extras_hint(kind: str) -> str:
    """List the extras package's plug-ins of a kind, and explain how to install them."""
    package = f"'{EXTRAS}[timestamps]'" if kind == "timestamps" else EXTRAS
    return f"`pip install {package}` adds {', '.join(IN_EXTRAS[kind])}."


class PluginBroken(BrowserError):
    """A plug-in from an installed package cannot be loaded."""

    hint = "Run `research plugins` to see its package; update or uninstall the package."


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plug-in that has not been loaded yet: its kind, its name, and its package."""

    kind: str
    name: str
    package: str
    version: str
    entry: EntryPoint

    def load(self) -> Any:
        """Import the plug-in; any error in the package becomes PluginBroken."""
        try:
            return self.entry.load()
        # Importing a third-party package may raise any exception.
        except Exception as error:
            what = f"the {self.kind} plug-in {self.name!r} ({self.entry.value})"
            raise PluginBroken(f"{what} does not load: {error}") from error


def plugins(kind: str, name: str | None = None) -> list[Plugin]:
    """List the plug-ins of a kind, or only those with a given name, sorted by name."""
    found = []
    for entry in entry_points(group=f"urchin.{kind}"):
        if name in (None, entry.name):
            package = entry.dist.metadata["Name"] if entry.dist else ""
            version = entry.dist.version if entry.dist else ""
            found.append(Plugin(kind, entry.name, package, version, entry))
    return sorted(found, key=lambda plugin: plugin.name)


def load_plugin(kind: str, name: str) -> Any:
    """Load the plug-in with this name; None if there is none. Raises PluginBroken."""
    found = plugins(kind, name)
    return found[0].load() if found else None
