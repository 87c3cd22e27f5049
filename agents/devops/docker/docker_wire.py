"""The docker SDK's way to a unix socket, but for one at which nobody listens: that is closed at once.

The SDK leaves it open when it cannot connect. Python closes it some time later, with a ResourceWarning.
"""

from __future__ import annotations

import socket
from typing import Any

from docker.transport.unixconn import UnixHTTPAdapter, UnixHTTPConnection, UnixHTTPConnectionPool


class _Connection(UnixHTTPConnection):
    """Keeps its socket before it connects: whoever gives up a connection closes what it keeps."""

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.unix_socket)


class _Pool(UnixHTTPConnectionPool):
    def _new_conn(self) -> Any:
        return _Connection(self.base_url, self.socket_path)  # whoever asks sets how long it may take


class ClosingAdapter(UnixHTTPAdapter):
    """For `mount`, at a session of the SDK."""

    def get_connection(self, url: Any, proxies: Any = None) -> UnixHTTPConnectionPool:  # noqa: ARG002
        with self.pools.lock:
            pool = self.pools.get(url)
            if pool is None:
                pool = self.pools[url] = _Pool(url, self.socket_path, self.timeout, maxsize=self.max_pool_size)
        return pool
