#!/bin/sh
# A host in the shell: a server in the background, and its clients. `sh host.sh http://127.0.0.1:9222`, or with `--launch`
# instead of a URL. Exit codes tell what became of a call: 0 done, 1 refused or failed, 2 the command line, 3 no server.
set -eu

say() { printf '%s\n' "$*"; }

# A server of its own, beside any other.
folder=$(mktemp -d)
export CDP_SUPERVISOR_SERVE_SOCKET="$folder/socket"
cdp-supervisor serve --detach --log-file "$folder/log" "$@" >"$folder/serve"
pid=$(sed 's/.*process \([0-9]*\).*/\1/' "$folder/serve")
stop() {
  kill "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  rm -r "$folder"
}
trap stop EXIT

cdp-supervisor status

# A call that a dialog holds fails at once, and says which call it was.
if cdp-supervisor eval 'prompt("Name of the new folder?", "Untitled")' 2>"$folder/why"; then
  say "no dialog opened"
  exit 1
fi
call=$(sed -n 's/.*cdp-supervisor result \(c-[0-9]*\).*/\1/p' "$folder/why" | head -n 1)
say "held: $call"

# What is open, then an answer: the text comes from standard input.
cdp-supervisor snapshot
say "Invoices" | cdp-supervisor dialog accept --text -
say "the page got $(cdp-supervisor result "$call")"

# Other ways to give a long script, and how a failure looks.
say "[6, 7].reduce((a, b) => a * b)" | cdp-supervisor eval -
cdp-supervisor eval 'null.x' || say "exit code $?"
