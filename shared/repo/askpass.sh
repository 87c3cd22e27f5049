#!/bin/sh
# Answers git's question for a user and a token, for our forge alone: the whole question is compared, since a name
# like https://github.com.evil.example would pass a looser test. The token comes by a descriptor: no argument, no
# file and no variable holds it.
host="${FORGE_ORIGIN#*://}"
if [ "$1" = "Username for '$FORGE_ORIGIN': " ]; then
    echo x-access-token
elif [ "$1" = "Password for '${FORGE_ORIGIN%%://*}://x-access-token@$host': " ]; then
    exec cat "/dev/fd/$FORGE_TOKEN_FD"
else
    exit 1
fi
