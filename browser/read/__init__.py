"""Reads URLs into Pages, over HTTP if that is enough, otherwise in the browser; crawls sites."""
