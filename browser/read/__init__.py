"""Reads URLs into Pages, over HTTP if that is enough, or else in the browser; crawls sites."""
