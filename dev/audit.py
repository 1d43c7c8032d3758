"""Look for known holes in what is installed, and for secrets in what is committed.

The first asks the vulnerability database by pip-audit, and is left out with a word where it cannot
be reached; the second reads the files that git knows for the forms that providers give their keys.
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
MADE_UP = ("tests/",)
"""Where such forms stand on purpose."""
SECONDS = 120


def secrets() -> list[str]:
    """Name the files that hold what looks like a provider's key."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True)
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        path = Path(name)
        if not name.startswith(MADE_UP) and path.is_file():
            text = path.read_text(encoding="utf-8", errors="ignore")
            found += [f"{name}: {match[0][:12]}…" for match in KEYS.finditer(text)]
    return found


def audit() -> int:
    """Ask for known holes; 0 where there are none, or nobody can be asked."""
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off", "--skip-editable"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        print("audit: left out, the vulnerability database did not answer")
        return 0
    if "found" in done.stderr.lower() and done.returncode:
        print(done.stdout + done.stderr)
        return 1
    if done.returncode:
        print("audit: left out, pip-audit or its database is out of reach")
    return 0


if __name__ == "__main__":
    held = secrets()
    print("\n".join([*held, f"secrets: {len(held)} in what is committed"]))
    sys.exit(bool(held) or audit())
