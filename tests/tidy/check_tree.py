#!/usr/bin/env python3
"""check_tree.py [ROOT]: the house rules over the source tree. Exit status 1 when one is broken."""

import shutil
import subprocess
import sys
from pathlib import Path

import rules

# The whole tree but what is built, downloaded or hidden.
SKIPPED = ("build", "__pycache__")


def read_tree(root):
    sources = []
    for folder in sorted(path for path in root.iterdir() if path.is_dir() and path.name in rules.FOLDERS):
        for path in sorted(folder.rglob("*")):
            relative = path.relative_to(root)
            if path.is_file() and path.suffix in rules.CODE and not set(relative.parts) & set(SKIPPED):
                sources.append(rules.Source(relative.as_posix(), path.read_text(encoding="utf-8")))
    return sources


def root_folders(root):
    return {path.name for path in root.iterdir()
            if path.is_dir() and not path.name.startswith(".") and path.name not in SKIPPED}


def check_format(root, sources):
    program = shutil.which("clang-format")
    if program is None:
        yield rules.Finding(".", 1, "clang-format is missing: run tools/setup test")
        return
    files = [source.path for source in sources if source.is_cpp]
    result = subprocess.run([program, "--dry-run", "-Werror", *files], cwd=root, capture_output=True, text=True,
                            check=False)
    if result.returncode == 0:
        return
    lines = [line for line in result.stderr.splitlines() if ": error:" in line]
    for path in sorted({line.split(":", 1)[0] for line in lines}):
        yield rules.Finding(path, 1, f"not formatted: clang-format -i {path}")
    if not lines:
        yield rules.Finding(".", 1, f"clang-format failed: {result.stderr.strip()}")


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    sources = read_tree(root)
    if not any(source.is_cpp for source in sources):
        sys.exit(f"no sources under {root}")
    findings = [finding for check in rules.CHECKS for finding in check(sources)]
    readmes = {path.parent.name for path in root.glob("*/README.md")}
    findings += rules.check_folders(root_folders(root), readmes)
    findings += check_format(root, sources)
    for finding in sorted(findings):
        print(finding)
    print(f"{len(sources)} files, {len(findings)} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
