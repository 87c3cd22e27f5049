"""The image, built and run as docs/running.md says: `python -m bench.packaged` (root, Docker, debootstrap; 10 minutes).

Needs no registry of images: where there is no python:3.12-slim, Debian 12 with its own Python stands in for it, for as
long as this runs. `doctor` attacks the sandbox in the container; then a whole day of the demo, without a network.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sisimpur.shared.system import strict_yaml

ROOT = Path(__file__).parents[1]
BASE, IMAGE, VOLUME = "python:3.12-slim", "sisimpur-agents-bench", "sisimpur-agents-bench"
PACKAGES = "python3,python3-venv,ca-certificates,tzdata"
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"  # also those of a proxy of this machine
BUILD_GOAL, DEMO_GOAL, SIZE_GOAL = 600.0, 240.0, 1500  # seconds, seconds, megabytes


def main() -> int:
    with base():
        try:
            took = timed("build", "-q", "-t", IMAGE, "-f", str(ROOT / "packaging" / "Dockerfile"), str(ROOT))
            size = int(docker("image", "inspect", "-f", "{{.Size}}", IMAGE)) // 1_000_000
            attacks = next(line for line in run_in_it("doctor") if "  sandbox " in line)
            demo = timed("run", "--rm", "--network", "none", *options(), IMAGE, "demo")
        finally:
            docker("volume", "rm", "-f", VOLUME)
            docker("rmi", "-f", IMAGE)
    met = attacks.startswith("ok") and took <= BUILD_GOAL and demo <= DEMO_GOAL and size <= SIZE_GOAL
    print(f"image built: {took:.0f} s   goal {BUILD_GOAL:.0f} s\nsize: {size} MB   goal {SIZE_GOAL} MB")
    print(f"{attacks}\ndemo in it, without a network: {demo:.0f} s   goal {DEMO_GOAL:.0f} s")
    print("met" if met else "MISSED")
    return int(not met)


@contextmanager
def base() -> Iterator[None]:
    """An image with the name of the true one, unless that is there."""
    if docker("images", "-q", BASE):
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        system = Path(folder) / "system"
        words = ("--variant=minbase", f"--include={PACKAGES}", "bookworm", str(system))
        subprocess.run(("debootstrap", *words), check=True, stdout=subprocess.DEVNULL)
        (system / "usr/local/bin/python").symlink_to("/usr/bin/python3")
        (system / CERTIFICATES).write_bytes(Path("/", CERTIFICATES).read_bytes())
        with subprocess.Popen(("tar", "-C", str(system), "-c", "."), stdout=subprocess.PIPE) as tar:
            words = ("--change", f"ENV PIP_CERT=/{CERTIFICATES}", "-", BASE)
            subprocess.run(("docker", "import", *words), stdin=tar.stdout, check=True, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        docker("rmi", "-f", BASE)


def options() -> list[str]:
    """What compose.yaml says, in the words of `docker run`."""
    text = (ROOT / "packaging" / "compose.yaml").read_text()
    team: dict[str, Any] = strict_yaml.parse(text, "compose.yaml").as_type(dict[str, Any])["services"]["team"]
    security = [word for option in team["security_opt"] for word in ("--security-opt", option)]
    dropped = [word for name in team["cap_drop"] for word in ("--cap-drop", name)]
    return ["--init", *dropped, *security, "-v", f"{VOLUME}:/data"]


def run_in_it(*words: str) -> list[str]:
    """What it prints; `doctor` ends with 1, as the volume is no home."""
    argv = ("docker", "run", "--rm", *options(), IMAGE, *words)
    return subprocess.run(argv, check=False, capture_output=True, text=True).stdout.splitlines()


def timed(*words: str) -> float:
    began = time.perf_counter()
    docker(*words)
    return time.perf_counter() - began


def docker(*words: str) -> str:
    return subprocess.run(("docker", *words), check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    raise SystemExit(main())
