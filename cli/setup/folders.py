"""Where the program, its environments and the default home lie. Every command loads this: it has to cost nothing."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # the checkout, or the folder that an installer made of it
IS_INSTALLED = ROOT.parent.name in ("site-packages", "dist-packages")
DATA = Path.home() / ".local" / "share" / "sisimpur"
BUILT = DATA if IS_INSTALLED else ROOT  # where environments are built, and the home that nobody names
VENV = Path(sys.prefix) if IS_INSTALLED else ROOT / ".venv"
AIDER_VENV = BUILT / ".venv-aider"
PACKAGES = BUILT / ".demo" / "packages"
UV = VENV / "bin" / "uv"
