#!/bin/sh
# The committed files of the page are the build's own output: built anew from the lock file, they are the same bytes.
set -eu
cd "$(dirname "$0")"
npm ci --ignore-scripts --no-audit --no-fund
npm run build
git diff --exit-code --stat -- ../dist
[ -z "$(git status --porcelain -- ../dist)" ] || { echo "web/dist has files that nobody committed"; exit 1; }
