"""Asking from a messenger or by mail: a way in beside the command line."""
