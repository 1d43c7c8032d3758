"""The browser package's errors: what happened (`str(error)`) and what to do (`hint`).

BrowserError
 ├── Refused            the guard or a host rule does not allow this address
 ├── DeadlineExceeded   a call ran past its deadline
 ├── FetchError         the page could not be fetched over HTTP
 │    ├── ConnectFailed     nothing was sent: any request may be repeated
 │    │    └── NameUnknown      there is no such host: repeating does not help
 │    ├── NoAnswer          sent, but no complete response arrived: only a GET may be repeated
 │    ├── TooLarge          more bytes than the limit, before or after decompression
 │    └── BadResponse       not HTTP, a chained or broken encoding, a redirect loop
 ├── SearchError        a provider cannot be queried at all (unreadable corpus, no such engine)
 ├── ExtractError       the bytes could not be read as the document they claim to be
 │    └── Encrypted         the document needs a password
 └── SessionError       errors of the real browser
      ├── BrowserMissing    no Chrome, Chromium or Edge found
      ├── LaunchFailed      found, but did not start
      ├── AttachFailed      no Chrome answers at the CDP address
      ├── BrowserGone       killed or frozen, or its connection was closed
      ├── PageCrashed       the page's renderer crashed
      ├── RefError          the ref's element no longer exists; `candidates` are likely matches
      └── ActionError       the element exists, but the action did not succeed
           ├── ElementDetached  the element was re-rendered before the action reached it
           └── OutcomeUnknown   the action was started, but its completion was not observed
"""

from __future__ import annotations


class BrowserError(Exception):
    """Base class for this package's errors. `hint` is a sentence for the user or the model."""

    hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint


class Refused(BrowserError):
    """The guard does not allow this address."""

    hint = "If the host is yours, allow it with --allow-private HOST[:PORT]."


class DeadlineExceeded(BrowserError):
    """A call ran past its deadline."""

    hint = "Try again, or use another source."


class FetchError(BrowserError):
    """The page could not be fetched over HTTP."""

    hint = "Try another source."


class ConnectFailed(FetchError):
    """The name is unknown, the connection was refused, or TLS failed: nothing was sent."""


class NameUnknown(ConnectFailed):
    """There is no such host: repeating the request will not help."""


class NoAnswer(FetchError):
    """The request was sent but no complete response arrived: it may still have taken effect."""


class TooLarge(FetchError):
    """The response has more bytes than the limit, before or after decompression."""


class BadResponse(FetchError):
    """The response is not HTTP, has a chained or broken encoding, or is a redirect loop."""


class SearchError(BrowserError):
    """A provider cannot be queried at all."""

    hint = "Run `research doctor` to see which providers can be reached."


class ExtractError(BrowserError):
    """The bytes could not be read as the document they claim to be."""


class Encrypted(ExtractError):
    """The document needs a password."""

    hint = "Save a copy without a password, and read the copy."


class SessionError(BrowserError):
    """Base class for errors of the real browser."""


class BrowserMissing(SessionError):
    """No Chrome, Chromium or Edge was found."""

    hint = "Run `research doctor --fix`, or install Chrome or Chromium."


class LaunchFailed(SessionError):
    """A browser was found but did not start."""

    hint = "Run `research doctor` to see what the browser printed."


class AttachFailed(SessionError):
    """No Chrome answers at the CDP address."""

    hint = "Run `research chrome`, or allow debugging at chrome://inspect/#remote-debugging."


class BrowserGone(SessionError):
    """The browser was killed or froze, or its connection was closed."""


class PageCrashed(SessionError):
    """The page's renderer crashed."""


class RefError(SessionError):
    """The ref's element no longer exists. `candidates` are lines with likely refs."""

    hint = "Take a new SNAPSHOT."

    def __init__(self, message: str, *, candidates: tuple[str, ...] = ()) -> None:
        other = "Take a new SNAPSHOT, or use one of the candidates." if candidates else None
        super().__init__(message, hint=other)
        self.candidates = candidates


class ActionError(SessionError):
    """The element exists, but the action did not succeed."""

    hint = "Look at the SNAPSHOT again."


class ElementDetached(ActionError):
    """The element was re-rendered before the action could reach it, so nothing was done."""

    hint = "Take a new SNAPSHOT: the page keeps re-rendering."


class OutcomeUnknown(ActionError):
    """The action was started, but its completion was not observed: it may have taken effect.

    `action` describes the action.
    """

    hint = (
        "It is not repeated. Check whether it took effect: SNAPSHOT, or OPEN a page that shows it."
    )

    def __init__(self, action: str, why: str) -> None:
        super().__init__(f"outcome unknown: {why}")
        self.action = action
