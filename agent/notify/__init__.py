"""A notice to people: by e-mail, webhook, on the desktop, in a feed."""
