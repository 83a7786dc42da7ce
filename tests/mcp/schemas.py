"""Holds what recordings replay to against the schemas: `python schemas.py COMMAND SCHEMAS RECORDINGS`."""

import json
import pathlib
import subprocess
import sys

from jsonschema import Draft202012Validator

COMMAND, SCHEMAS, RECORDINGS = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def validator(name):
    schema = json.loads((SCHEMAS / name).read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def replayed(path):
    output = subprocess.run([COMMAND, "replay", path, "--json"], check=True, capture_output=True)
    return json.loads(output.stdout)


def main():
    snapshots, events = validator("snapshot.json"), validator("events.json")
    kinds, files = set(), sorted(RECORDINGS.glob("*.cdp.jsonl"))
    for path in files:
        replay = replayed(path)
        snapshots.validate(replay["snapshot"])
        for event in replay["events"]:
            events.validate(event)
            kinds.add(event["event"])
    assert not events.is_valid({"seq": 1, "at": 0, "event": "dialog_opened"}), "fields that must be there are missed"
    assert not events.is_valid({"seq": 1, "at": 0, "event": "unheard_of"}), "the schema tells events apart"
    print(json.dumps({"recordings": len(files), "kinds_of_events": len(kinds)}))


main()
