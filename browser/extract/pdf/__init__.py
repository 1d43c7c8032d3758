"""PDF documents: text with pages, headings from the outline, tables and links."""

from browser.extract.pdf.document import extract_pdf

__all__ = ["extract_pdf"]
