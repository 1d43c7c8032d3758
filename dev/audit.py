"""Checks installed packages for known vulnerabilities and committed files for API keys.

Vulnerabilities are looked up with pip-audit; if its database cannot be reached, a message says that
the check was skipped. Keys are recognised by the formats that providers use.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

KEYS = re.compile(
    r"\b(?:ghp_[A-Za-z0-9]{36}|github_pat_\w{40,}|sk-(?:ant-|proj-)?[\w-]{40,}|AKIA[0-9A-Z]{16}\b"
    r"|xox[abpr]-\d{8,}-[\w-]{20,}|AIza[\w-]{35}|glpat-[\w-]{20})"
    r"|-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----\n[A-Za-z0-9+/=]{40}"
)
INVENTED = ("tests/",)
"""Folders that contain invented keys on purpose."""
SECONDS = 120


def secrets() -> list[str]:
    """Return a line for each apparent API key: the file and the key's first characters."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True)
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        path = Path(name)
        if not name.startswith(INVENTED) and path.is_file():
            text = path.read_text(encoding="utf-8", errors="ignore")
            found += [f"{name}: {match[0][:12]}…" for match in KEYS.finditer(text)]
    return found


def audit() -> int:
    """Look up known vulnerabilities; returns 0 if there are none or the database is unavailable."""
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off", "--skip-editable"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        print("audit: skipped, the vulnerability database did not respond")
        return 0
    if "found" in done.stderr.lower() and done.returncode:
        print(done.stdout + done.stderr)
        return 1
    if done.returncode:
        print("audit: skipped, pip-audit or its database is unavailable")
    return 0


if __name__ == "__main__":
    found = secrets()
    print("\n".join([*found, f"secrets: {len(found)} in committed files"]))
    sys.exit(bool(found) or audit())
