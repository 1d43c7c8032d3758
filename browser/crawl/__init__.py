"""A site, or a section of one, read a few pages deep and within limits."""

from browser.crawl.crawler import Crawl, Crawler

__all__ = ["Crawl", "Crawler"]
