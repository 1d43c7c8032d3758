"""Tools of other programs: MCP servers that a user named, connected when they are needed."""
