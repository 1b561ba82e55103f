#!/usr/bin/env python3
"""extract_cpp.py README FOLDER: writes each C++ block to FOLDER/example_N.cpp and prints the paths, one a line."""

import sys
from pathlib import Path

from blocks import read_blocks


def main():
    readme, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    examples = [block for block in read_blocks(readme) if block.language == "cpp"]
    for number, block in enumerate(examples, 1):
        path = folder / f"example_{number}.cpp"
        text = f'#line {block.line + 1} "{readme}"\n{block.text}'
        if not path.is_file() or path.read_text(encoding="utf-8") != text:  # an untouched file is not built again
            path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
