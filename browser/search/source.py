"""What a search chain asks: an engine on the web, or a folder of one's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from browser.net.http import HttpClient
    from browser.types import SearchPage, SearchQuery


class SearchSource(ABC):
    """What a chain asks: an engine on the web, or the local corpus.

    `lifetime` is how many seconds its answers may be kept, `interval` the seconds between two
    requests that its operator asks for; of a `local` one the answer needs no second opinion.
    """

    name: str
    lifetime: float = 0.0
    interval: float = 0.0
    local: ClassVar[bool] = False

    @property
    @abstractmethod
    def identity(self) -> str:
        """Names it together with its address and key, without revealing the key."""

    def unavailable(self) -> str:
        """Why it cannot be asked at all; empty if it can."""
        return ""

    @abstractmethod
    async def search(self, query: SearchQuery, http: HttpClient, *, deadline: float) -> SearchPage:
        """Ask it; `deadline` in seconds. Failures become outcomes, none are raised."""
