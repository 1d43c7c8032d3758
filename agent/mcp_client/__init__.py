"""Tools from other programs: MCP servers configured by the user, connected on demand."""
