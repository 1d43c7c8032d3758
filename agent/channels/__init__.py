"""Channels: answers questions sent by messenger or e-mail, over any service with a plug-in."""
