"""Notices to users: by e-mail, webhook, desktop notification or feed."""
