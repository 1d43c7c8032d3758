"""The journal: a run is a folder with append-only events, and pages stored by hash."""
