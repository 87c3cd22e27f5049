"""Tables and JSON."""

import json


def as_table(rows, heads):
    """Columns as wide as their widest cell."""
    cells = [heads, *[tuple(map(str, row)) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
    return "\n".join(lines)


def as_json(rows, heads):
    return json.dumps([dict(zip(heads, row)) for row in rows], indent=2, sort_keys=True)


FORMATS = {"table": as_table, "json": as_json}
