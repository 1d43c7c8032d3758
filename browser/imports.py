"""Imports slow modules in the background, while a run waits for the network or the browser."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from importlib import import_module


def import_in_background(module: str) -> None:
    """Import a module in a thread; errors are raised when the module is imported for use."""

    def load() -> None:
        with suppress(Exception):
            import_module(module)

    if module not in sys.modules:
        threading.Thread(target=load, daemon=True).start()
