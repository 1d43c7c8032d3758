"""The extractive model: rules that search, read, follow a hop, rank and quote."""
