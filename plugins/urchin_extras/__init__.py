"""Plug-ins of Urchin in a package of their own: what few people miss. See docs/plugins.md."""
