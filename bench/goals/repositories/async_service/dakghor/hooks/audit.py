"""One line per message that went out. Only config.json names this."""
import time

PLACE = "/var/log/dakghor/audit.log"


def write(job):
    with open(PLACE, "a", encoding="utf-8") as file:
        file.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {job['id']} {job['kind']} {job['payload'].get('to')}\n")
