"""Checks the JavaScript in browser/page/js and of the web interface with tsc and eslint.

    python dev/javascript/check.py            check
    python dev/javascript/check.py install    install both into the cache (requires node and npm)

The files form one closure, so they are checked as one text, and problems are reported with the
original file and line. Without node or the packages, nothing is checked, and a message says so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from browser.page.injected import CONSTANTS, LIBRARY_FILES

HERE = Path(__file__).parent
SCRIPTS = HERE.parent.parent / "browser" / "page" / "js"
SERVED = HERE.parent.parent / "agent" / "serve" / "static" / "app.js"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "urchin-javascript"
_LOCATION = re.compile(r"^(?:.*/)?(\w+)\.js\((\d+),(\d+)\)", re.MULTILINE)


def say(text: str) -> None:
    print(f"javascript: {text}", file=sys.stderr)


def install() -> None:
    """Install the packages pinned in package.json, once per version of that file."""
    if not (shutil.which("node") and shutil.which("npm")):
        say("node and npm are not installed; the JavaScript will not be checked")
        return
    pinned = (HERE / "package.json").read_text("utf-8")
    CACHE.mkdir(parents=True, exist_ok=True)
    done = CACHE / "installed.json"
    if done.is_file() and done.read_text("utf-8") == pinned:
        return
    (CACHE / "package.json").write_text(pinned, "utf-8")
    command = [shutil.which("npm"), "install", "--no-audit", "--no-fund", "--silent"]
    if subprocess.run(command, cwd=CACHE, capture_output=True, check=False).returncode:
        say("npm could not install typescript and eslint; the JavaScript will not be checked")
        return
    done.write_text(pinned, "utf-8")


def join_library() -> tuple[str, list[tuple[str, int]]]:
    """Return the library as one text, and the file and line number of each of its lines."""
    lines, origins = ["// @ts-check", "(() => { 'use strict';", CONSTANTS], [("library", 0)] * 3
    for name in (*LIBRARY_FILES, "library"):
        text = (SCRIPTS / f"{name}.js").read_text("utf-8").splitlines()
        lines += text
        origins += [(name, number) for number in range(1, len(text) + 1)]
    lines += ["Object.freeze(library);", "})();"]
    return "\n".join(lines) + "\n", [*origins, ("library", 0), ("library", 0)]


def check() -> int:
    tools = CACHE / "node_modules" / ".bin"
    node = shutil.which("node")
    if node is None or not (CACHE / "installed.json").is_file():
        say("not checked: node, typescript and eslint are required")
        return 0
    text, origins = join_library()
    (CACHE / "library.js").write_text(text, "utf-8")
    (CACHE / "app.js").write_text(SERVED.read_text("utf-8"), "utf-8")
    for name in ("tsconfig.json", "eslint.config.mjs"):
        shutil.copyfile(HERE / name, CACHE / name)

    def original_location(match: re.Match[str]) -> str:
        name, line = match[1], int(match[2])
        if name == "app":
            return f"{SERVED.relative_to(HERE.parent.parent)}:{line}:{match[3]}"
        name, line = origins[line - 1]
        return f"{SCRIPTS.relative_to(HERE.parent.parent)}/{name}.js:{line}:{match[3]}"

    format_as = "--format=" + str(HERE / "places.mjs")
    commands = (
        [tools / "tsc", "-p", ".", "--pretty", "false"],
        [tools / "eslint", format_as, "library.js", "app.js"],
    )
    failed = 0
    for command in commands:
        done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, check=False)
        print(_LOCATION.sub(original_location, done.stdout + done.stderr), end="")
        failed |= done.returncode
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["install"]:
        install()
    else:
        sys.exit(check())
