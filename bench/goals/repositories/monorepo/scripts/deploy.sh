#!/bin/sh
set -eu
cd /srv/haat
git pull --ff-only
docker compose up -d --build
