"""What the model can do: one family of tools a file, all called through the policy."""
