"""The steps of a run as folded blocks: thoughts, calls, results, screenshots."""

from __future__ import annotations

import base64
import json
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.export.record import Record
    from agent.journal import Event

_RESULT_CHARS = 4_000
_PICTURES = (".png", ".jpg")


def steps(record: Record) -> str:
    """Write a folded block for each thought and each tool call."""
    blocks = [_block(record, event) for event in record.events]
    shown = "\n".join(block for block in blocks if block)
    return f"<h2>Steps</h2>\n{shown}" if shown else ""


def _block(record: Record, event: Event) -> str:
    if event.type == "thought":
        return _folded(event.place, "thinks", f"<pre>{escape(event.data['text'])}</pre>")
    if event.type != "tool.result":
        return ""
    data = event.data
    failed = data["data"].get("error") if isinstance(data["data"], dict) else None
    head = f"{data['name']} {data['param']}" + (f" — failed: {failed}" if failed else "")
    result = json.dumps(data["data"], ensure_ascii=False, indent=1)
    shown = f"{result}\n{data['web']}".strip()[:_RESULT_CHARS]
    pictures = "".join(_picture(record, name, digest) for name, digest in data["blobs"].items())
    return _folded(
        f"{event.place} · {data['ms']} ms", head, f"<pre>{escape(shown)}</pre>{pictures}"
    )


def _folded(when: str, head: str, body: str) -> str:
    return (
        f'<details><summary><span class="meta">{escape(when)}</span> {escape(head[:200])}</summary>'
        f"{body}</details>"
    )


def _picture(record: Record, name: str, digest: str) -> str:
    if not name.endswith(_PICTURES):
        return ""
    body = base64.b64encode(record.folder.blob(digest)).decode()
    kind = "png" if name.endswith(".png") else "jpeg"
    return f'<img alt="Screenshot of the page at this step" src="data:image/{kind};base64,{body}">'
