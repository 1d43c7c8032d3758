"""Channels: answers questions sent by messenger or e-mail, through a plug-in for each service."""
