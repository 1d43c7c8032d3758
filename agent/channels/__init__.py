"""Channels: questions by messenger and e-mail, over any service that has a plug-in."""
