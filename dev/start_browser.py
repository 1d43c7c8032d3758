"""Start the browser that the project takes, headless, and print its path.

Exit code 3 where there is none that starts; anything else but 0 is a fault of the installation.
"""

import asyncio
import sys

from browser.errors import SessionError
from browser.session.chrome import find_chrome
from browser.session.session import Browser

NO_BROWSER = 3


async def start() -> str:
    """Launch and close; the path of what was launched."""
    async with Browser.launch(headless=True):
        return str(find_chrome())


if __name__ == "__main__":
    try:
        print(asyncio.run(start()))
    except SessionError as error:
        print(f"{error} {error.hint}", file=sys.stderr)
        sys.exit(NO_BROWSER)
