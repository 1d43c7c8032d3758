"""The journal: a run is a folder of append-only events, and pages stored by their hashes."""
