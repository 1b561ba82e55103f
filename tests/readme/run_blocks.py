#!/usr/bin/env python3
"""run_blocks.py README BIN: does what the README says, from top to bottom, in one empty folder for each MySQL server.

Blocks labelled sh, python, sql, mysql and cpp are run (a cpp block as the program BIN/readme_example_N, sql on
orders.db, mysql by the plain client on a database of its own, whose URL is in SHOP); toml is written to waybill.toml.
Blocks with another label (bash: the set-up, which can't run within a test) are to be read only. The first block that
fails ends the test. WAYBILL_TEST_MYSQL names the servers.
"""

import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from blocks import read_blocks

SECONDS = 120


class Shop:
    """A database on a server, gone at the end."""

    def __init__(self, url):
        self.server = urlsplit(url)
        self.name = f"waybill_readme_{os.getpid()}"
        self.url = urlunsplit(self.server._replace(path=f"/{self.name}"))

    def client(self, sql, database=""):
        server = self.server
        return ["mariadb", f"--host={server.hostname}", f"--port={server.port or 3306}", f"--user={server.username}",
                f"--password={server.password}", "--default-character-set=utf8mb4", f"--execute={sql}",
                *([database] if database else [])]

    def __enter__(self):
        subprocess.run(self.client(f"CREATE DATABASE {self.name} CHARACTER SET utf8mb4"), check=True)
        return self

    def __exit__(self, *_):
        subprocess.run(self.client(f"DROP DATABASE {self.name}"), check=True)

    def environment(self):
        return {"SHOP": self.url, "SHOP_PORT": str(self.server.port or 3306), "SHOP_DATABASE": self.name}


def command_for(block, programs, shop):
    if block.language == "sh":
        return ["bash", "-euo", "pipefail", "-c", block.text]
    if block.language == "python":
        return [sys.executable, "-c", block.text]
    if block.language == "sql":
        return ["sqlite3", "-bail", "orders.db", block.text]
    if block.language == "mysql":
        return shop.client(block.text, shop.name)
    if block.language == "cpp":
        return [next(programs)]
    return None


def run(readme, programs_folder, shop):
    environment = dict(os.environ, PATH=f"{programs_folder}{os.pathsep}{os.environ['PATH']}", **shop.environment())
    programs = (str(programs_folder / f"readme_example_{number}") for number in itertools.count(1))
    ran = 0
    with tempfile.TemporaryDirectory(prefix="waybill-readme.") as folder:
        for block in read_blocks(readme):
            if block.language == "toml":
                (Path(folder) / "waybill.toml").write_text(block.text, encoding="utf-8")
            command = command_for(block, programs, shop)
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


def main():
    readme, programs_folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    urls = os.environ.get("WAYBILL_TEST_MYSQL", "").split()
    if not urls:
        sys.exit("WAYBILL_TEST_MYSQL names no server; `tools/test` starts two and sets it")
    for url in urls:
        with Shop(url) as shop:
            run(readme, programs_folder, shop)


if __name__ == "__main__":
    main()
