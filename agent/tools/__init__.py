"""The tools of the model: one family per file, all called through the policy."""
