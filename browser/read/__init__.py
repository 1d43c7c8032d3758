"""Reads URLs into Pages: by HTTP if that is enough, else by the browser; and crawls sites."""
