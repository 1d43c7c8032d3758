"""The journal: a run is a folder, its events append-only, its pages kept by content."""
