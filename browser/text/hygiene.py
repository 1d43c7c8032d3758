"""Characters that steer a terminal or hide text are removed before anyone reads them."""

from __future__ import annotations

import re

# C0 but tab and newline, DEL and C1; zero-width and invisible operators; bidi controls;
# interlinear marks; Unicode tags; variation selectors supplement; BOM and soft hyphen.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_ESCAPE_SEQUENCE = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\-_])"
)


def clean(text: str) -> str:
    r"""Remove control, bidi, zero-width and tag characters; newlines become `\\n`.

    Zero-width joiners stay: emoji and several scripts are spelt with them.
    """
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return _HARMFUL.sub("", _ESCAPE_SEQUENCE.sub("", unified))
