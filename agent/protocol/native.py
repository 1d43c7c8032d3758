"""Native function calls, written down as the tool tags that everything else reads.

Whatever the transport, a reply is one text: it is recorded, replayed and parsed the same way.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent.protocol.loose import loose_json

if TYPE_CHECKING:
    from collections.abc import Iterable


def with_calls(text: str, calls: Iterable[tuple[str, str]]) -> str:
    """Put calls (name, raw arguments) behind a reply's text, a tag each."""
    return "\n".join([*([text] if text else []), *(_tag(*call) for call in calls)])


def _tag(name: str, arguments: str) -> str:
    """Write a call; arguments that are slightly broken JSON are mended, others stay as they are."""
    value = loose_json(arguments) if arguments.strip() else None
    if value in (None, {}):
        param = "" if value == {} else arguments.strip()
    else:
        param = json.dumps(value, ensure_ascii=False)
    return f"<<TOOL:{name}:{param}>>" if param else f"<<TOOL:{name}>>"
