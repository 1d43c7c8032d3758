"""What is known as plain Markdown with `[[links]]`, which people can read and edit."""
