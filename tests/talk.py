"""What was said, out of its packs."""

from __future__ import annotations

import zlib
from pathlib import Path

from sisimpur.shared.record.conversations import HEAD


def everything_said(folder: Path) -> bytes:
    """All that stands in all records, also in those that no table knows."""
    found = []
    for path in sorted(folder.glob("*.talk")):
        data = path.read_bytes()
        while data:
            size = HEAD.size + HEAD.unpack_from(data)[-1]
            found.append(zlib.decompress(data[HEAD.size : size]))
            data = data[size:]
    return b"\0".join(found)
