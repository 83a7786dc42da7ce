#!/bin/sh
# A browser that listens but does not end when asked.
trap '' TERM
echo 'DevTools listening on ws://127.0.0.1:9/devtools/browser/id' >&2
while :; do sleep 1; done
