"""`research doctor --fix` without a browser: system ones are hidden, downloads use loopback."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import zipfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from browser.session.chrome import EXECUTABLE_VARIABLES, candidates
from tests.conftest import COMMAND
from tests.loopback import Handler, serving

if TYPE_CHECKING:
    from pathlib import Path

HIDE_SCRIPT = 'for f in $HIDDEN; do mount --bind /dev/null "$f" || exit 99; done; exec "$@"'
HIDDEN_BROWSERS_COMMAND = ["unshare", "--map-root-user", "--mount", "sh", "-c", HIDE_SCRIPT, "sh"]


def mounts() -> bool:
    """Whether this machine lets us create our own mounts."""
    if not shutil.which("unshare"):
        return False
    probe = ["unshare", "--map-root-user", "--mount", "mount", "--bind", "/dev/null", os.devnull]
    return not subprocess.run(probe, check=False, capture_output=True).returncode


class Downloads(Handler):
    """Any archive that Playwright requests, with an executable in it."""

    def get(self) -> None:
        folder = PurePosixPath(self.path).stem
        body = io.BytesIO()
        with zipfile.ZipFile(body, "w") as archive:
            for name in ("chrome", "chrome-headless-shell", "headless_shell"):
                made = zipfile.ZipInfo(f"{folder}/{name}")
                made.external_attr = 0o100755 << 16
                archive.writestr(made, "#!/bin/sh\n")
        self.send(200, "application/zip", body.getvalue())


@pytest.mark.skipif(not mounts(), reason="needs mounts of its own")
def test_doctor_fix_downloads_missing_browser(tmp_path: Path, site):
    hidden = {str(path.resolve()) for path in candidates("linux") if path.is_file()}
    here = {"PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "browsers"), "HIDDEN": " ".join(hidden)}
    doctor = [*HIDDEN_BROWSERS_COMMAND, str(COMMAND), "doctor", "--json",
              "--data-dir", str(tmp_path / "data"),
              "--search", "searxng", "--searxng-url", site.url]  # fmt: skip
    with serving(Downloads, str) as downloads:
        environment = {**os.environ, **here, "PLAYWRIGHT_DOWNLOAD_HOST": downloads}
        for name in EXECUTABLE_VARIABLES:
            environment.pop(name, None)
        before, after = (
            subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False, timeout=240
            )
            for command in (doctor, [*doctor, "--fix"])
        )
    assert before.returncode == 1
    assert not browser_check(before.stdout)["well"], before.stdout
    assert after.returncode == 0, after.stderr
    assert browser_check(after.stdout)["seen"].startswith(str(tmp_path / "browsers"))


def browser_check(report: str) -> dict[str, object]:
    [found] = [one for one in json.loads(report) if one["name"] == "browser"]
    return found
