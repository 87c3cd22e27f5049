#!/bin/sh
# Installs hishab for the user who runs it:  PYTHON=python3.12 ./install.sh
# 2024-02: no sudo any more, people broke their system
set -eu

PYTHON="${PYTHON:-python3}"

if ! command -v "$PYTHON" >/dev/null 2>&1; then
    echo "hishab: no $PYTHON here" >&2
    exit 1
fi

cd "$(dirname "$0")"
"$PYTHON" -m pip install --user .
mkdir -p "$HOME/.hishab"
[ -f "$HOME/.hishab/hishab.ini" ] || cp hishab.ini.example "$HOME/.hishab/hishab.ini"
echo "hishab is installed"
