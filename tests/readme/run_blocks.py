#!/usr/bin/env python3
"""run_blocks.py README BIN: does what the README says, from top to bottom, in one empty folder.

Blocks labelled sh, python, sql and cpp are run (a cpp block as the program BIN/readme_example_N, sql on orders.db);
toml is written to waybill.toml. Blocks with another label (bash: the set-up, which can't run within a test) are to be
read only. The first block that fails ends the test.
"""

import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from blocks import read_blocks

SECONDS = 120


def command_for(block, programs):
    if block.language == "sh":
        return ["bash", "-euo", "pipefail", "-c", block.text]
    if block.language == "python":
        return [sys.executable, "-c", block.text]
    if block.language == "sql":
        return ["sqlite3", "-bail", "orders.db", block.text]
    if block.language == "cpp":
        return [next(programs)]
    return None


def main():
    readme, programs_folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    environment = dict(os.environ, PATH=f"{programs_folder}{os.pathsep}{os.environ['PATH']}")
    programs = (str(programs_folder / f"readme_example_{number}") for number in itertools.count(1))
    ran = 0
    with tempfile.TemporaryDirectory(prefix="waybill-readme.") as folder:
        for block in read_blocks(readme):
            if block.language == "toml":
                (Path(folder) / "waybill.toml").write_text(block.text, encoding="utf-8")
            command = command_for(block, programs)
            if command is None:
                continue
            print(f"--- {readme.name}:{block.line} ({block.language})\n{block.text}", flush=True)
            status = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=SECONDS,
                                    check=False).returncode
            if status != 0:
                sys.exit(f"{readme}:{block.line}: exit status {status}")
            ran += 1
    if ran == 0:
        sys.exit(f"{readme}: no block to run")
    print(f"--- {ran} blocks ran")


if __name__ == "__main__":
    main()
