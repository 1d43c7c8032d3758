"""Which models can be shown pictures, told by their names.

No provider's list of models says so in a common form, so the families are named here. A model that
is not known gets text only: a picture sent to one that cannot see fails the whole call. The setting
`model-sees` has the last word.
"""

from __future__ import annotations

import re

_SEES = re.compile(
    r"""
    ^(?:chatgpt-)?gpt-(?:4o|4\.1|4\.5|4-turbo|[5-9])
    | ^o(?:1|3|4|5)\b
    | ^claude-(?!2|instant)
    | ^gemini-
    | ^gemma-?3 | ^gemma-?[4-9]
    | pixtral | ^mistral-(?:small|medium|large)-latest
    | llama-?3\.2.*(?:vision|11b|90b) | llama-?4
    | ^grok-(?:[4-9]|2-vision)
    | llava | bakllava | moondream | internvl | minicpm-v
    | vision | [\W_]vl\b | (?<=\d)vl\b
    """,
    re.VERBOSE,
)
_DOES_NOT = re.compile(r"audio|realtime|transcribe|tts|embed|^o1-mini|^o1-preview|^o3-mini|3n?-1b")


def sees_by_name(model: str) -> bool:
    """Tell whether the model of this name takes pictures; the maker before a `/` is left aside."""
    name = model.lower().rpartition("/")[2]
    return bool(_SEES.search(name)) and not _DOES_NOT.search(name)
