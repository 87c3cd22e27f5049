"""A property of a file: nothing builds an image here."""
import re

from common import holds

WRITTEN = ("/var/lib/dakghor", "/var/log/dakghor")


def check(tree):
    text = re.sub(r"\\\n", " ", (tree / "Dockerfile").read_text())
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    users = [n for n, line in enumerate(lines) if line.upper().startswith("USER ")]
    if not users or lines[users[-1]].split()[1].split(":")[0] in ("root", "0"):
        return "the image runs as root"
    user = lines[users[-1]].split()[1].split(":")[0]
    for n, line in enumerate(lines):
        if n > users[0] and re.match(r"RUN .*(apt-get|useradd|adduser|chown)", line):
            return f"only root may: {line}"
    owned = " ".join(line for line in lines[: users[-1]] if "chown" in line or "install -d" in line)
    for folder in WRITTEN:
        if not re.search(rf"(?<!\S){re.escape(folder)}(/|\s|$)", owned):
            return f"{user} cannot write {folder}, which entrypoint.sh does"
    if user not in owned:
        return f"the folders belong to somebody else than {user}"
    volume = next((n for n, line in enumerate(lines) if line.startswith("VOLUME")), len(lines))
    if any("chown" in line for line in lines[volume:]):
        return "chown after VOLUME is forgotten by the builder"
    return None


holds(check)
