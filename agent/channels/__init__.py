"""Channels: questions by messenger and mail, for any service with a plug-in."""
