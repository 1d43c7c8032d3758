"""A reported port is already being listened on."""

from __future__ import annotations

import socket

import pytest

from agent.errors import UsageError
from agent.http_server import listening_socket


def test_clients_can_connect_before_server_starts_serving():
    with (
        listening_socket(0) as listening,
        socket.create_connection(listening.getsockname()) as client,
    ):
        accepted, peer = listening.accept()
        accepted.close()
        assert peer == client.getsockname()


def test_occupied_port_raises_usage_error():
    with listening_socket(0) as listening:
        port = listening.getsockname()[1]
        with (
            pytest.raises(UsageError, match=f"cannot listen on port {port}"),
            listening_socket(port),
        ):
            pass
