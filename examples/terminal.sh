#!/bin/sh
# The command line from documents to answers: sh examples/terminal.sh
set -eu
cd "$(dirname "$0")"

# A folder of its own, so that your own documents and the examples do not mix.
CONDENSERY_DATA_DIR="${CONDENSERY_DATA_DIR:-${TMPDIR:-/tmp}/condensery-examples}"
export CONDENSERY_DATA_DIR

# Bring the documents in. A second run finds them unchanged.
condensery ingest docs

# A question and its follow-up, with how its results were ranked and what took how long. A conversation may have any
# name that is not taken.
conversation="example-$$"
condensery ask --conversation "$conversation" "When does the last car come down?"
condensery ask --conversation "$conversation" "And on Fridays?" --explain

# For programs: the whole turn as JSON, with the question on stdin.
echo "How much is a ticket for a dog?" | condensery ask - --json |
    python3 -c 'import json, sys; turn = json.load(sys.stdin); print(turn["outcome"], turn["citations"][0]["source"])'

# Exit code 3 says that there is no answer in the documents, without reading any text.
if condensery ask "Who won the chess championship of 1972?"; then
    echo "answered"
else
    echo "exit code $?"
fi
