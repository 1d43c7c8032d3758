"""Starts the browser that the project would use, headless, and prints its path.

Exits with code 3 if no browser starts. Any other code except 0 means that the installation is
broken.
"""

import asyncio
import sys

from browser.errors import SessionError
from browser.session.chrome import find_chrome
from browser.session.session import Browser

NO_BROWSER = 3


async def start() -> str:
    """Launch the browser and close it; returns its path."""
    async with Browser.launch(headless=True):
        return str(find_chrome())


if __name__ == "__main__":
    try:
        print(asyncio.run(start()))
    except SessionError as error:
        print(f"{error} {error.hint}", file=sys.stderr)
        sys.exit(NO_BROWSER)
