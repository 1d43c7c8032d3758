"""A notification on the desktop of this machine, where there is one."""

from __future__ import annotations

import asyncio
import shutil
import sys
from typing import TYPE_CHECKING

from agent.errors import NotSent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.notify.notice import Notice

_LONGEST = 400
"""Characters: what desktops show before they cut."""
_SECONDS = 10.0
_MAC = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"


async def show(notice: Notice, environ: Mapping[str, str]) -> None:
    """Show a notice. Raises `NotSent` where there is no desktop, or it takes none."""
    text = notice.text if len(notice.text) <= _LONGEST else f"{notice.text[: _LONGEST - 1]}…"
    command = _command(notice.subject, text, environ)
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=dict(environ),
    )
    try:
        async with asyncio.timeout(_SECONDS):
            _, said = await process.communicate()
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise NotSent(f"{command[0]} did not come to an end") from error
    if process.returncode:
        raise NotSent(f"{command[0]}: {said.decode('utf-8', 'replace').strip()[:200]}")


def _command(title: str, text: str, environ: Mapping[str, str]) -> list[str]:
    if sys.platform == "darwin":
        return ["osascript", "-e", _MAC, "--", title, text]
    found = shutil.which("notify-send", path=environ.get("PATH"))
    if found is None:
        raise NotSent("there is no desktop here", hint="notify-send shows notices on Linux.")
    # Servers of notifications read the text as markup.
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return [found, "--app-name=Urchin", "--", title, plain]
