"""The settings with which a client starts the server, as they are to be pasted."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME: Final = "urchin"
PLACES: Final = {
    "claude": "claude_desktop_config.json; Claude Code: .mcp.json in the project's folder",
    "cursor": "~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder",
    "vscode": ".vscode/mcp.json in the project's folder",
}
"""Where each client reads its settings."""


def settings_for(client: str, flags: Sequence[str]) -> str:
    """Write the settings of a client as JSON; `flags` are those of `research mcp serve`."""
    started = {"command": command(), "args": ["mcp", "serve", *flags]}
    if client == "vscode":
        return json.dumps({"servers": {NAME: {"type": "stdio", **started}}}, indent=2)
    return json.dumps({"mcpServers": {NAME: started}}, indent=2)


def command() -> str:
    """Name the command in full: a client that is no shell may have another path to look in."""
    beside = Path(sys.executable).with_name("research")
    return str(beside) if beside.is_file() else shutil.which("research") or "research"
