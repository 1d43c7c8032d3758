"""What goes wrong in memory, typed.

ResearchError
 ├── UsageError
 │    ├── ReservedKey       the key belongs to the engine itself
 │    └── BadImport         the file is not in the form that an import takes
 ├── MemoryUnavailable  2   the store cannot be opened, read or written, or is of a newer version
 └── EmbeddingFailed        raised by an embedder; words decide alone then
"""

from __future__ import annotations

from agent.errors import ResearchError, UsageError


class ReservedKey(UsageError):
    """The key belongs to the engine itself, or is no key at all."""

    hint = "Choose a key that begins neither with `_` nor with `session_`."


class BadImport(UsageError):
    """The file is not in the form that an import takes."""

    hint = "Give a JSON object with keys such as `urchinMemory`, as `memory export` writes it."


class MemoryUnavailable(ResearchError):
    """The store cannot be opened, read or written, or was written by a newer version."""

    exit_code = 2
    hint = "Check --data-dir, or run with --no-memory."


class EmbeddingFailed(ResearchError):
    """An embedder could not embed: no key, no network, no model."""

    hint = "Searching goes on by words alone."
