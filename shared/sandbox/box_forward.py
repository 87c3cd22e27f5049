"""Runs inside the engine's box: 127.0.0.1:PORT -> the meter's unix socket; then the command, whose code it returns.

The box has no network, but its own loopback is up: so an ordinary HTTP client reaches exactly one thing.
usage: box_forward.py PORT SOCKET COMMAND ...
"""

import socket
import subprocess
import sys
import threading
from contextlib import suppress

CHUNK = 1 << 16


def pump(source: socket.socket, target: socket.socket) -> None:
    """Pass on until `source` has ended, then say so; the other direction stays open."""
    with suppress(OSError):
        while data := source.recv(CHUNK):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def serve(client: socket.socket, path: str) -> None:
    with client, socket.socket(socket.AF_UNIX) as meter, suppress(OSError):
        meter.connect(path)
        back = threading.Thread(target=pump, args=(meter, client), daemon=True)
        back.start()
        pump(client, meter)
        back.join()


def accept_for_ever(listener: socket.socket, path: str) -> None:
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, path), daemon=True).start()


def main() -> int:
    port, path, *command = sys.argv[1:]
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=64)
    threading.Thread(target=accept_for_ever, args=(listener, path), daemon=True).start()
    code = subprocess.call(command, close_fds=False)  # the process door is outside; what we inherited is not ours
    return code if code >= 0 else 128 - code  # ended by a signal: as a shell says it


if __name__ == "__main__":
    sys.exit(main())
