"""A reported port is already being listened on."""

from __future__ import annotations

import socket

import pytest

from agent.errors import UsageError
from agent.http_server import listening_socket


def test_who_is_told_the_address_can_connect_before_anything_is_served():
    with (
        listening_socket(0) as listening,
        socket.create_connection(listening.getsockname()) as client,
    ):
        accepted, peer = listening.accept()
        accepted.close()
        assert peer == client.getsockname()


def test_a_port_that_is_taken_is_told():
    with listening_socket(0) as listening:
        port = listening.getsockname()[1]
        with (
            pytest.raises(UsageError, match=f"cannot listen on port {port}"),
            listening_socket(port),
        ):
            pass
