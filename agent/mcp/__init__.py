"""An MCP server: our tools for Claude, Cursor, VS Code and others."""
