"""Ports that nobody listens at."""

import socket


def free_port(address: str) -> int:
    with socket.create_server((address, 0)) as server:
        return server.getsockname()[1]
