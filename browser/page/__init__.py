"""Live pages: snapshots with refs, actions on elements, and what changed."""
