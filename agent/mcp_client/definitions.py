"""What servers say of their tools: kept as it was when it was allowed, shown as what it is.

A definition is a stranger's text. What a model is shown of it is short, without markup of ours, and
says whose words it is. One that has changed since it was allowed is not gone by.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent.config import private_folder
from agent.files import write_whole
from agent.protocol.replies import inert
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from agent.mcp_client.server_settings import NamedServer

LONGEST_NAME: Final = 64
"""Characters: what providers of models take as the name of a function."""
LONGEST_DESCRIPTION: Final = 300
LONGEST_FIELD: Final = 100
"""Characters of what is said of one parameter."""
MOST_FIELDS: Final = 30
MOST_CHOICES: Final = 20
DEEPEST: Final = 4
LARGEST: Final = 65_536
"""Characters of a definition as JSON; what is larger describes no tool."""
_FIELD = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_DEFINES = ("name", "title", "description", "inputSchema", "annotations")


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool as its server defines it: the fields that say what it is and does."""

    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Definition:
        """Take what defines a tool out of what a server sends."""
        return cls({key: raw[key] for key in _DEFINES if raw.get(key) is not None})

    @property
    def name(self) -> str:
        """What the server calls it."""
        return str(self.raw["name"])

    @property
    def digest(self) -> str:
        """A hash of all of it: another one is another tool."""
        return hashlib.sha256(json.dumps(self.raw, sort_keys=True).encode()).hexdigest()

    @property
    def reads_only(self) -> bool:
        """Whether it says that it changes nothing."""
        return (self.raw.get("annotations") or {}).get("readOnlyHint") is True

    @property
    def described(self) -> str:
        """What it says of itself, as one short line that calls nothing."""
        return shown(self.raw.get("description") or self.raw.get("title") or "")

    @property
    def schema(self) -> dict[str, Any]:
        """Its parameters as a JSON Schema that holds no more than a call needs."""
        given = self.raw.get("inputSchema")
        given = given if isinstance(given, dict) else {}
        return {"type": "object", "properties": {}, **_slim(given, given.get("$defs", {}))}


def shown(text: object, longest: int = LONGEST_DESCRIPTION) -> str:
    """Write a stranger's words as one line, cut, from which no tag or turn can be read."""
    line = " ".join(inert(clean(str(text))).replace("<", "‹").replace("`", "'").split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _slim(schema: Mapping[str, Any], defined: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Keep of a schema what a model needs to write a call, strangers' words cut and inert."""
    reference = str(schema.get("$ref", ""))
    if reference and isinstance(defined, dict):
        schema = {**(defined.get(reference.rpartition("/")[2]) or {}), **schema}
    kept: dict[str, Any] = {}
    if isinstance(schema.get("type"), str | list):
        kept["type"] = schema["type"]
    if depth and schema.get("description"):
        kept["description"] = shown(schema["description"], LONGEST_FIELD)
    if isinstance(schema.get("enum"), list):
        kept["enum"] = [_choice(one) for one in schema["enum"][:MOST_CHOICES]]
    if depth >= DEEPEST:
        return kept
    properties = schema.get("properties")
    if isinstance(properties, dict):
        named = [name for name in properties if _FIELD.fullmatch(name)][:MOST_FIELDS]
        kept["properties"] = {
            name: _slim(properties[name], defined, depth + 1)
            for name in named
            if isinstance(properties[name], dict)
        }
        required = schema.get("required")
        kept["required"] = [n for n in named if isinstance(required, list) and n in required]
    if isinstance(schema.get("items"), dict):
        kept["items"] = _slim(schema["items"], defined, depth + 1)
    for either in ("anyOf", "oneOf"):
        if isinstance(schema.get(either), list):
            rows = schema[either][:MOST_CHOICES]
            kept["anyOf"] = [
                _slim(row, defined, depth + 1) for row in rows if isinstance(row, dict)
            ]
    return kept


def _choice(value: object) -> object:
    return shown(value, LONGEST_FIELD) if isinstance(value, str) else value


def tool_names(server: NamedServer, names: Iterable[str]) -> dict[str, str]:
    """Name a server's tools for models: `mcp__server__tool`, 64 characters at most.

    Those that come out alike all get a piece of a hash, so that no name depends on their order.
    """
    alike = defaultdict(list)
    for name in dict.fromkeys(names):
        plain = re.sub(r"[^A-Za-z0-9]", "_", name)
        alike[f"mcp__{server.slug}__{plain}"[:LONGEST_NAME]].append(name)
    return {
        name: full if len(group) == 1 else f"{full[: LONGEST_NAME - 9]}_{_short_hash(name)}"
        for full, group in alike.items()
        for name in group
    }


def _short_hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:8]


class AllowedTools:
    """The definitions of a server's tools as the person allowed them, in the data folder.

    Naming a server allows the tools that it has then; it is another server where its command or
    address is another one.
    """

    def __init__(self, folder: Path, server: NamedServer) -> None:
        self._path = folder / "mcp" / f"{server.slug}.json"
        settings = server.settings
        self._reached = [server.name, settings.command, *settings.args, settings.url]

    def read(self) -> dict[str, Definition] | None:
        """Give them by name; None where the server was never reached, or not as it is set now."""
        try:
            held = json.loads(self._path.read_text(encoding="utf-8"))
            found = [Definition(row) for row in held["tools"]]
            return {row.name: row for row in found} if held["server"] == self._reached else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, definitions: Iterable[Definition]) -> None:
        """Keep what is allowed from now on."""
        private_folder(self._path.parent)
        rows = {"server": self._reached, "tools": [dict(one.raw) for one in definitions]}
        write_whole(self._path, json.dumps(rows).encode())


def changes(allowed: Mapping[str, Definition], live: Sequence[Definition]) -> dict[str, list[str]]:
    """Tell how a server's tools differ from those allowed: names by `new`, `changed`, `gone`."""
    now = {one.name: one for one in live}
    told = {
        "new": [name for name in now if name not in allowed],
        "changed": [n for n, d in now.items() if n in allowed and allowed[n].digest != d.digest],
        "gone": [name for name in allowed if name not in now],
    }
    return {how: names for how, names in told.items() if names}
