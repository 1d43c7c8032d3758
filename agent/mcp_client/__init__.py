"""Tools of other programs: MCP servers that a person named, connected when they are needed."""
