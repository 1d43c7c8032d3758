"""A full disk at any write raises a typed error, and all earlier data stays readable."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from agent.journal.integrity import check_chain
from agent.journal.runs import RunFolder
from tests.conftest import COMMAND
from tests.crash.full_disk import HOWS, Asked, failing_commands, replies

POINTS = 3
SMALL = 64 << 10
"""Upper limit in bytes on a search's caches: only the record grows beyond it."""


@pytest.fixture
def thoughtful(script, site):
    """A run that thinks a lot before each action, so that its record is long."""
    thought = f"<<THINK>>{'Where may it stand? ' * 2_000}<</THINK>>"
    return script(
        f"{thought}<<TOOL:WEB_SEARCH:Hesk Light>>",
        f"{thought}<<TOOL:READ:{site.url}/hesk-light>><<TOOL:READ:{site.url}/museum>>",
        f"{thought}It was first lit on 1 November 1829. [S1]",
    )


@pytest.fixture
def start(site, thoughtful, tmp_path, commands):
    """Run or resume in its own data folder, with no file longer than a limit."""

    def starting(name, *args, limit=None):
        new = ("When?", "--model", thoughtful, "--search", "searxng", "--searxng-url", site.url,
               "--no-memory")  # fmt: skip
        data = tmp_path / name
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "RESEARCH_DATA_DIR": str(data)}
        done = commands.run(str(COMMAND), *(args or new), "--json", env=env, largest_file=limit)
        [folder] = (data / "runs").iterdir()
        return done, RunFolder(folder)

    return starting


@pytest.mark.row(n=18)
def test_full_disk_is_reported_and_run_resumes_when_space_is_freed(start):
    done, whole = start("whole")
    answer = json.loads(done.stdout)["answer"]
    lines = whole.journal.read_bytes().splitlines(keepends=True)
    ends = [sum(map(len, lines[: n + 1])) for n in range(len(lines))]
    torn = [end - len(lines[n]) // 2 for n, end in enumerate(ends) if end - len(lines[n]) > SMALL]
    assert len(torn) > POINTS
    for n, limit in enumerate(torn[:: len(torn) // POINTS + 1]):
        done, folder = start(str(n), limit=limit)
        assert done.returncode == 1
        assert "Free some disk space; everything recorded so far is intact." in done.stderr
        assert "internal error" not in done.stderr
        assert check_chain(folder.journal).flaws == ()
        done, _ = start(str(n), "resume")
        assert json.loads(done.stdout)["answer"] == answer, done.stderr


@pytest.mark.skipif(shutil.which("cc") is None, reason="wants a C compiler")
@pytest.mark.row(n=18)
@pytest.mark.soak
def test_failed_write_is_reported_and_keeps_previous_state(script, site, tmp_path):
    """A sample; `python -m bench.disk` fails every write of a run."""
    flags = ("--search", "searxng", "--searxng-url", site.url)
    with failing_commands(tmp_path) as commands:
        asked = Asked(commands, tmp_path, script(*replies(site.url)), flags)
        writes = asked.writes()
        for n, share in enumerate((0.01, 0.6)):
            assert asked.flaws(1 + int(share * writes), HOWS[n % len(HOWS)]) == []
