"""Runs inside a box, beside its command, whose code it returns. The box has no network, but its own loopback is up.

out: 127.0.0.1:PORT -> the meter's unix socket: so an ordinary HTTP client reaches exactly one thing.
in: what comes through a channel -> 127.0.0.1:PORT: so one port of the box is reached, and reaches nobody. A channel
brings one end of a pair for each connection, never a socket of the machine's network: that could be led elsewhere.
usage: box_forward.py PORT SOCKET|DESCRIPTOR COMMAND ...
"""

import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress

CHUNK = 1 << 16
CONNECTED, END = b"c", b"e"  # what a channel brings: a connection, or the wish that the command ends


def pump(source: socket.socket, target: socket.socket) -> None:
    """Pass on until `source` has ended, then say so; the other direction stays open."""
    with suppress(OSError):
        while data := source.recv(CHUNK):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def join(client: socket.socket, server: socket.socket, address: str | tuple[str, int]) -> None:
    """Connect the server's end, and pass on both ways until both have ended."""
    with client, server, suppress(OSError):
        server.connect(address)
        back = threading.Thread(target=pump, args=(server, client), daemon=True)
        back.start()
        pump(client, server)
        back.join()


def accept_for_ever(listener: socket.socket, path: str) -> None:
    while True:
        client, _ = listener.accept()
        threading.Thread(target=join, args=(client, socket.socket(socket.AF_UNIX), path), daemon=True).start()


def receive_for_ever(channel: socket.socket, port: int, command: "subprocess.Popen[bytes]") -> None:
    while True:
        what, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
        for descriptor in descriptors:
            pair = (socket.socket(fileno=descriptor), socket.socket())
            threading.Thread(target=join, args=(*pair, ("127.0.0.1", port)), daemon=True).start()
        if what in (END, b""):
            command.terminate()
            return


def main() -> int:
    port, way, *words = sys.argv[1:]
    if way.isdecimal():
        channel = socket.socket(fileno=int(way))
        os.set_inheritable(int(way), False)
        command = subprocess.Popen(words, close_fds=False)
        threading.Thread(target=receive_for_ever, args=(channel, int(port), command), daemon=True).start()
    else:
        listener = socket.create_server(("127.0.0.1", int(port)), backlog=64)
        threading.Thread(target=accept_for_ever, args=(listener, way), daemon=True).start()
        command = subprocess.Popen(words, close_fds=False)  # the process door is outside; what we inherited is not ours
    code = command.wait()
    return code if code >= 0 else 128 - code  # ended by a signal: as a shell says it


if __name__ == "__main__":
    sys.exit(main())
