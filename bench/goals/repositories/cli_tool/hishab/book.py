"""The file of entries."""
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Entry:
    day: str  # 2025-03-31
    amount: float  # taka; negative: income (do not ask)
    note: str = ""
    tags: list = field(default_factory=list)
    account: str = "cash"

    @property
    def month(self):
        return self.day[:7]


class Book:
    def __init__(self, path):
        self.path = Path(path).expanduser()

    def entries(self):
        if not self.path.exists():
            return []
        found = []
        for line in self.path.read_text("utf-8").splitlines():
            if line.strip():
                found.append(Entry(**json.loads(line)))
        return found

    def add(self, entry):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")

    def replace(self, entries):
        text = "".join(json.dumps(asdict(each), ensure_ascii=False) + "\n" for each in entries)
        self.path.write_text(text, "utf-8")
