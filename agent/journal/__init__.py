"""The journal: a run is a folder with append-only events, and its pages by their hashes."""
