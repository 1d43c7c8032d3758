"""An MCP server controlled by a file: its tools, their answers, and what goes wrong.

`python mcp_server.py FILE` speaks over the standard streams; `answer` serves HTTP in tests. FILE is
JSON: `tools` as `tools/list` gives them, `results` by name: a text, a result, or `die` or `huge`.
Each start adds a line to FILE.starts.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

HUGE = 1_000_000_000
CHUNK = b"x" * 1_000_000


def answer(message: dict[str, Any], told: dict[str, Any]) -> dict[str, Any] | str | None:
    """Answer a request (`die` or `huge` if the file says so); None for a notification."""
    method, params = message.get("method"), message.get("params", {})
    if "id" not in message:
        return None
    result: Any
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
        result["serverInfo"] = {"name": "test", "version": "1"}
    elif method == "tools/list":
        result = {"tools": told["tools"]}
    elif method == "tools/call":
        result = told["results"].get(params["name"], json.dumps(params.get("arguments")))
        if result in ("die", "huge"):
            return result
        if isinstance(result, str):
            result = {"content": [{"type": "text", "text": result}]}
    else:
        error = {"code": -32601, "message": "Method not found"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def tool(name: str, told: str = "", *, reads: bool = True, **fields: str) -> dict[str, Any]:
    """Define a tool; `fields` maps its parameters to their types."""
    properties = {key: {"type": kind} for key, kind in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(fields)}
    annotations = {"readOnlyHint": reads}
    return {"name": name, "description": told, "inputSchema": schema, "annotations": annotations}


class Shop:
    """A server over standard streams whose tools and answers can be changed while it runs."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._file = folder / f"{name}.json"
        self.tools: list[dict[str, Any]] = []
        self.results: dict[str, Any] = {}
        self.row: dict[str, Any] = {"command": sys.executable, "trustReadOnly": True}
        self.row["args"] = ["-S", __file__, str(self._file)]

    def write(self) -> dict[str, Any]:
        self._file.write_text(json.dumps({"tools": self.tools, "results": self.results}))
        return {self.name: self.row}

    @property
    def starts(self) -> int:
        log = self._file.with_suffix(".starts")
        return len(log.read_text().splitlines()) if log.exists() else 0


def main(path: Path) -> None:
    with path.with_suffix(".starts").open("a") as starts:
        starts.write("started\n")
    print("a line of its log", flush=True)
    for line in sys.stdin:
        made = answer(json.loads(line), json.loads(path.read_text()))
        if made == "die":
            print("out of paper", file=sys.stderr, flush=True)
            os._exit(1)
        if made == "huge":
            for _ in range(HUGE // len(CHUNK)):
                sys.stdout.buffer.write(CHUNK)
        elif made is not None:
            print(json.dumps(made), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
