"""Ctrl-C ends a run cleanly: findings are printed, the record is complete, the code is 130."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from tests.conftest import COMMAND

# A shell starts background jobs deaf to Ctrl-C, and children inherit that.
WITH_DEFAULT_SIGINT = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


def test_ctrl_c_prints_partial_answer_and_exits_130(run, script, site, tmp_path):
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        f'<<TOOL:READ:{{"url":"{site.url}/slow?seconds=30"}}>>',
    )
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "RESEARCH_DATA_DIR": str(tmp_path / "data"),
    }
    asked = ["When was Hesk Light first lit?", "--model", model, "--searxng-url", site.url]
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            WITH_DEFAULT_SIGINT,
            COMMAND,
            *asked,
            "--search",
            "searxng",
            "--no-memory",
            "--events",
        ],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        event = json.loads(line)
        if event["type"] == "tool.call" and event["place"] == "0/2/1":
            process.send_signal(signal.SIGINT)
            break
    rest, errors = process.communicate()
    last = json.loads(rest.splitlines()[-1])
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert last["data"]["report"]["status"] == "partial"
    assert "1 November 1829" in last["data"]["report"]["answer"]
    assert "1 November 1829" in run("show").stdout
