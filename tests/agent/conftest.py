"""The installed command, run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.server import Site

COMMAND = Path(sys.executable).with_name("research")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `research` with arguments, in a home of the test's own."""

    def running(*args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "RESEARCH_DATA_DIR": str(tmp_path / "data"),
            "RESEARCH_CONFIG": str(tmp_path / "config.toml"),
            **env,
        }
        return subprocess.run(
            [str(COMMAND), *args],
            env=own,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return running


@pytest.fixture
def web(site: Site) -> tuple[str, ...]:
    """The flags that point a run at the bundled web."""
    return ("--search", "searxng", "--searxng-url", site.url, "--no-memory")


@pytest.fixture
def answering(script: Callable[..., str], site: Site) -> str:
    """A scripted model that reads one page and answers from it."""
    return script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "Hesk Light was first lit on 1 November 1829. [S1]",
    )
