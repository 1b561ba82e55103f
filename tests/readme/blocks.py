"""The fenced blocks of a Markdown file, in order."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int


def read_blocks(path):
    text = path.read_text(encoding="utf-8")
    return [Block(match.group(1), match.group(2), text.count("\n", 0, match.start()) + 1)
            for match in _FENCE.finditer(text)]
