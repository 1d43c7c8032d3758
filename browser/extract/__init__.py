"""Pages and documents into typed data: `extract` for HTML, `extract_body` for whatever came."""

from browser.extract.body import extract_body
from browser.extract.html import extract

__all__ = ["extract", "extract_body"]
