"""Live pages: snapshots with refs, actions on elements, and the resulting changes."""
