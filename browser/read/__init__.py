"""Reads URLs into Pages: by HTTP if that is enough, otherwise by the browser; and crawls sites."""
