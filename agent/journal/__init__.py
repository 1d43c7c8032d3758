"""The journal: each run is a folder with append-only events, and with pages stored by hash."""
