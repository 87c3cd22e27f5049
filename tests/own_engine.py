"""A Docker engine of a test's own, so that it can be stopped, and its disk filled, without harm to anybody else.

Root only: it has a bridge of its own, and no rule of the firewall; ports are published by its proxy.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

BRIDGE, ADDRESS = "sisimpurtest0", "10.213.77.1/24"
COMES_UP = 30.0  # seconds


@dataclass
class OwnEngine:
    """Everything of it lies below `folder`."""

    folder: Path
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def host(self) -> str:
        """DOCKER_HOST."""
        return f"unix://{self.folder}/docker.sock"

    def has(self, image: str) -> None:
        """Takes it from everybody's engine."""
        packed = self.folder / "image.tar"
        _run("docker", "save", "--output", str(packed), image)
        _run("docker", "--host", self.host, "load", "--input", str(packed))

    @property
    def disk(self) -> Path:
        return self.folder / "disk"

    def start(self) -> None:
        words = ["dockerd", "-H", self.host, "--data-root", str(self.disk), "--exec-root", str(self.folder / "exec")]
        words += ["--pidfile", str(self.folder / "pid"), "--bridge", BRIDGE, "--iptables=false", "--ip6tables=false"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + COMES_UP
        while not self._answers():
            if time.monotonic() > end or self.process.poll() is not None:
                pytest.skip(f"no second Docker engine starts here: {(self.folder / 'log').read_text()[-300:]}")
            time.sleep(0.1)

    def grow(self, megabytes: int) -> None:
        """Its disk, if it has one of its own."""
        _run("mount", "-o", f"remount,size={megabytes}m", str(self.disk))

    def stop(self) -> None:
        """It ends its containers, as it does when a machine is shut down."""
        if self.process:
            self.process.terminate()
            self.process.wait(30)
            self.process = None

    def leave(self) -> None:
        """Its disk: the engine mounts it once more upon itself."""
        while os.path.ismount(self.disk):
            _run("umount", "--lazy", str(self.disk))

    def _answers(self) -> bool:
        asked = ("docker", "--host", self.host, "version")
        return subprocess.run(asked, check=False, capture_output=True).returncode == 0


@contextlib.contextmanager
def own_engine(megabytes: int = 0) -> Iterator[OwnEngine]:
    """`megabytes`: how large its disk is; 0: as large as ours. A path of a socket has to be short."""
    if os.getuid() != 0 or not all(map(shutil.which, ("dockerd", "docker", "ip"))):
        pytest.skip("a second Docker engine needs root, dockerd, docker and ip")
    with contextlib.ExitStack() as after:
        engine = OwnEngine(Path(tempfile.mkdtemp(prefix="engine-", dir="/tmp")))
        after.callback(shutil.rmtree, engine.folder, ignore_errors=True)
        engine.disk.mkdir()
        if megabytes:
            _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(engine.disk))
        after.callback(engine.leave)
        _run("ip", "link", "add", BRIDGE, "type", "bridge")
        after.callback(_run, "ip", "link", "del", BRIDGE)
        _run("ip", "addr", "add", ADDRESS, "dev", BRIDGE)
        _run("ip", "link", "set", BRIDGE, "up")
        after.callback(engine.stop)
        engine.start()
        yield engine


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
