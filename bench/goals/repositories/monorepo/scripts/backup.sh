#!/bin/sh
# cron, every night
set -eu
sqlite3 /data/haat.db ".backup /backup/haat-$(date +%F).db"
find /backup -name 'haat-*.db' -mtime +30 -delete
