"""The settings' types -> docs/configuration.md (python -m bench.reference > docs/configuration.md)."""

from __future__ import annotations

from sisimpur.shared.config.reference import FILES, setting_rows
from sisimpur.shared.config.settings import SECRETS

INTRODUCTION = (
    "Generated from the program's own types. An error in one of these files names file, line and key; unknown and "
    "duplicate keys, anchors and aliases are refused. Amounts are dollars; times are those of `time_zone`."
)


def reference() -> str:
    """Return every field with its meaning and default, as Markdown."""
    parts = ["# Configuration", INTRODUCTION]
    for name, model in FILES.items():
        rows = "\n".join(f"| `{row.key}` | {row.meaning} | {row.default} |" for row in setting_rows(model))
        parts.append(f"## `{name}`\n\n| field | meaning | default |\n|---|---|---|\n{rows}")
    parts.append("## `config/.env`\n\n" + "\n".join(f"- `{name}`" for name in SECRETS))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(reference(), end="")
