"""Where in a YAML file a value stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

if TYPE_CHECKING:
    from collections.abc import Sequence


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Tell the line (from 1) of the value at a path of keys and indexes, or of what holds it."""
    node: Any = YAML(typ="rt", pure=True).load(text)
    line = 0
    for part in path:
        if isinstance(node, CommentedMap) and part in node:
            line = node.lc.key(part)[0]
        elif isinstance(node, CommentedSeq) and isinstance(part, int) and part < len(node):
            line = node.lc.item(part)[0]
        else:
            break
        node = node[part]
    return line + 1
