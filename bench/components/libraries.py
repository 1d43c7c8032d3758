"""Component libraries from npm, pinned, in a cache outside the project; their pages on loopback.

`package.json` beside this file pins the versions, about 1.6 GB in all. The cache folder is named
after the digest of that file, so new versions or pages never use files built for older ones.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
PINNED = HERE / "package.json"
PAGES = sorted((HERE / "pages").iterdir())
INSTALL_SECONDS, BUNDLE_SECONDS = 900, 300
_HTML = """<!doctype html><meta charset="utf-8"><title>{name}</title>
<link rel="stylesheet" href="{name}.css"><div id="app"></div><script src="{name}.js"></script>"""
_ESBUILD = (
    "--bundle",
    "--minify",
    "--jsx=automatic",
    "--log-level=error",
    "--alias:vue=vue/dist/vue.esm-bundler.js",
    '--banner:js=var process = {env: {NODE_ENV: "production"}}, global = globalThis;',
    "--define:__VUE_OPTIONS_API__=true",
    "--define:__VUE_PROD_DEVTOOLS__=false",
    "--define:__VUE_PROD_HYDRATION_MISMATCH_DETAILS__=false",
    *(f"--loader:.{kind}=dataurl" for kind in ("eot", "gif", "png", "svg", "ttf", "woff", "woff2")),
)


class NotInstalled(Exception):
    """The libraries are not available: npm is missing, or its registry cannot be reached."""


def built() -> Path:
    """The folder of pages, made on first use. Raises `NotInstalled`."""
    cache = user_cache_path("urchin-bench") / "components"
    modules = cache / _digest(PINNED)
    site = modules / f"site-{_digest(*PAGES)}"
    if not (modules / "installed").exists():
        modules.mkdir(parents=True, exist_ok=True)
        shutil.copy(PINNED, modules)
        _run("npm install --ignore-scripts --no-audit --no-fund".split(), modules, INSTALL_SECONDS)
        (modules / "installed").touch()
    if not (site / "made").exists():
        esbuild = str(modules / "node_modules/.bin/esbuild")
        _run([esbuild, *map(str, PAGES), *_ESBUILD, f"--outdir={site}"], modules, BUNDLE_SECONDS)
        for page in PAGES:
            (site / page.stem).with_suffix(".css").touch()
            html = _HTML.format(name=page.stem)
            (site / page.stem).with_suffix(".html").write_text(html, encoding="utf-8")
        (site / "made").touch()
    return site


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _run(command: list[str], folder: Path, seconds: float) -> None:
    try:
        subprocess.run(
            command,
            check=True,
            cwd=folder,
            timeout=seconds,
            capture_output=True,
            text=True,
            env={**os.environ, "NODE_PATH": str(folder / "node_modules")},
        )
    except FileNotFoundError as error:
        raise NotInstalled(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"{command[0]} gave no answer within {seconds:g} s") from error
    except subprocess.CalledProcessError as error:
        last = [*error.stderr.strip().splitlines(), "no message"][0]
        raise NotInstalled(f"{Path(command[0]).name} failed: {last}") from error


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        return


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback; yields `127.0.0.1:port`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
