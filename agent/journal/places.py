"""Where in a run an event stands: the first part of its place (`subtask/step/call`).

The main loop is `0` and subtasks count from 1; what is asked beside the loops has a name.
A replay and a resumed run find recorded effects again by these names alone.
"""

from __future__ import annotations

from typing import Final

MAIN: Final = "0"
"""The main loop."""
PLAN: Final = "plan"
SYNTHESIS: Final = "synthesis"
"""Putting the results of subtasks together."""
MISSING: Final = "missing"
"""What a draft leaves open; `missing/1` the first time."""
OUTLINE: Final = "outline"
CLOSING: Final = "closing"
"""What stands above and below the sections of a report."""
VALUES: Final = "values"
"""The data of a schema; `values/1` the first time."""
REVIEW: Final = "review"
"""What the gate says of an answer."""
JUDGE: Final = "judge"
MEND: Final = "mend"
"""Writing down a call again; followed by the place of the call."""
REPHRASE: Final = "rephrase"
"""Other words for a search; followed by the place of the call."""
CONDENSE: Final = "condense"
"""Summing up old steps where the window is full; followed by the place of the step."""
AFTER: Final = "after"
"""The background jobs."""
