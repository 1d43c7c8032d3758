"""Plug-ins for Urchin in a separate package: features that few people need. See docs/plugins.md."""
