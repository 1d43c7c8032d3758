"""Tools from other programs: MCP servers that the user configured, connected when needed."""
