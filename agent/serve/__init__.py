"""The server: runs asked for, watched and read over HTTP; a way in over `research`."""
