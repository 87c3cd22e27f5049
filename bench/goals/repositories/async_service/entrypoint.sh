#!/bin/sh
set -e
# the queue, and the audit that the accountant fetches
mkdir -p /var/lib/dakghor /var/log/dakghor
touch /var/log/dakghor/audit.log
exec python -m dakghor --config "${DAKGHOR_CONFIG:-config.json}"
