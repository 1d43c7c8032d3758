"""Sessions: a browser of our own, or one that a person has open."""

from browser.session.session import Browser

__all__ = ["Browser"]
