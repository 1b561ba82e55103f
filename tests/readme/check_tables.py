#!/usr/bin/env python3
"""check_tables.py README WAYBILL: what the program says about itself stands in the README too.

Every store, transport and URL option of `waybill urls` with its default, and every verb of `waybill help`.
"""

import json
import re
import subprocess
import sys
from pathlib import Path


def say(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=True).stdout


def missing_urls(program, text):
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for line in say(program, "urls", "--json").splitlines():
        entry = json.loads(line)
        scheme = entry["scheme"]
        if f"`{scheme}:" not in text:
            yield f"the {entry['kind']} {scheme}:"
        if entry["kind"] == "transport" or scheme == "memory":  # these are told in prose
            for option in entry["options"]:
                if f"`{option['name']}" not in text and f"?{option['name']}=" not in text:
                    yield f"{scheme}: option {option['name']}"
            continue
        for option in entry["options"]:
            row = re.compile(rf"\| `{option['name']}(=[^`]*)?` \| (`?{re.escape(option['default'])}`? )?\|")
            if not any(row.match(line) for line in rows):
                yield f"{scheme}: option {option['name']} with default {option['default']}"


def missing_verbs(program, text):
    verbs = re.findall(r"^  ([a-z]+)  +\S", say(program, "help"), re.M)
    if not verbs:
        yield "verbs: `waybill help` lists none"
    for verb in verbs:
        if not re.search(rf"^\|[^|]*`{verb}[` ]", text, re.M):
            yield f"the verb {verb}"


def main():
    readme, program = Path(sys.argv[1]), sys.argv[2]
    text = readme.read_text(encoding="utf-8")
    missing = [*missing_urls(program, text), *missing_verbs(program, text)]
    for what in missing:
        print(f"{readme}: missing: {what}")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
