"""The model's tools: one group per file, all called through the policy."""
