"""Optional plug-ins for Urchin: features that only some users need. See docs/plugins.md."""
