"""A forty-column terminal, and one whose user wants no colours."""

from __future__ import annotations

import os

import pexpect
import pytest

from tests.conftest import COMMAND

QUESTION = "When was Hesk Light first lit?"


@pytest.fixture
def shown(tmp_path):
    """Run the command in a forty-column terminal; returns what it printed to standard output."""

    def running(*args: str, **env: str) -> list[str]:
        own = {
            "PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm",
            "RESEARCH_DATA_DIR": str(tmp_path / "data"),
            "RESEARCH_CONFIG": str(tmp_path / "config.toml"), **env,
        }  # fmt: skip
        text, code = pexpect.run(
            str(COMMAND) + " " + " ".join(f"'{arg}'" for arg in args),
            env=own, withexitstatus=True, timeout=60, encoding="utf-8", dimensions=(24, 40),
        )  # fmt: skip
        assert code == 0, text
        return text.splitlines()

    return running


def test_output_fits_narrow_terminal_and_no_color_is_respected(shown, web, answering):
    shown(QUESTION, "-q", "--model", answering, *web)
    for args in (("show",), ("runs",), ("--help",), ("runs", "--help")):
        lines = shown(*args, NO_COLOR="1")
        assert not any("\x1b" in line for line in lines)
        over = [line for line in lines if len(line) > 40 and " " in line.strip()]
        assert [line for line in over if " research " not in line] == [], args
    assert any("\x1b[2m" in line for line in shown("show"))
