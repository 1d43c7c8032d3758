"""Channels: questions by messenger and e-mail, for any service with a plug-in."""
