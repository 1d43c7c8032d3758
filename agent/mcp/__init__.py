"""An MCP server that offers our tools to Claude, Cursor, VS Code and other clients."""
