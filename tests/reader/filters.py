"""Undoing the filters. FORMAT.md, "Filter 1, SPIR-V ids" and "Filter 2, ELF symbols"."""

import struct
from dataclasses import dataclass

from index import rows

NONE, SPIRV_IDS, ELF_SYMBOLS = range(3)
HEAD_OF_TABLE = "| begins with | ids among the others | opcodes |\n"
SYMBOL = 24


@dataclass
class Shape:
    """What an instruction begins with, and which of its other words are ids."""

    begins: str
    listed: frozenset
    from_8: bool

    def is_id(self, other):
        return self.from_8 if other >= 8 else other in self.listed


class Filters:
    def __init__(self, document):
        self.shapes = shapes(document)

    def undo(self, number, content):
        if number == NONE:
            return content
        if number == SPIRV_IDS:
            return self.spirv(content)
        if number == ELF_SYMBOLS:
            return elf(content)
        raise ValueError(f"filter {number} is of a later release")

    def spirv(self, content):
        words = list(struct.unpack(f"<{len(content) // 4}I", content))
        at, state = 5, {"result": 0, "target": 0}
        while at < len(words):
            count, opcode = words[at] >> 16, words[at] & 0xFFFF
            if count == 0 or at + count > len(words):
                raise ValueError("an instruction lies within its module")
            if opcode in self.shapes:
                words[at + 1 : at + count] = undone(words[at + 1 : at + count], self.shapes[opcode], state)
            at += count
        return struct.pack(f"<{len(words)}I", *words)


def undone(words, shape, state):
    others = len(shape.begins.split(", ")) if shape.begins != "-" else 0
    kept = "target" if shape.begins == "target" else "result"
    at = others - 1
    if 0 <= at < len(words):
        state[kept] = words[at] = (state[kept] + words[at]) % 2**32
    if shape.begins == "target":
        return words
    if others == 2 and words:
        words[0] = (state["result"] - words[0]) % 2**32
    for other, place in enumerate(range(others, len(words))):
        if shape.is_id(other):
            words[place] = (state["result"] - words[place]) % 2**32
    return words


def shapes(document):
    """The table of the document, by opcode."""
    found = {}
    for line in document.split(HEAD_OF_TABLE)[1].splitlines()[1:]:
        if not line.startswith("| "):
            break
        begins, ids, opcodes = line.strip("| ").split(" | ")
        listed = [int(word) for word in ids.replace(",", " ").split() if word.isdigit()]
        listed = [one for one in listed if not ("from 8" in ids and one == 8)]
        shape = Shape(begins, frozenset(range(8) if ids == "all" else listed), ids == "all" or "from 8" in ids)
        for run in opcodes.split(", "):
            first, _, last = run.partition("-")
            found |= dict.fromkeys(range(int(first), int(last or first) + 1), shape)
    return found


def elf(content):
    (headers,) = struct.unpack_from("<Q", content, 40)
    _, count = struct.unpack_from("<HH", content, 58)
    out = bytearray(content)
    for header in range(headers, headers + 64 * count, 64):
        (kind,) = struct.unpack_from("<I", content, header + 4)
        offset, size = struct.unpack_from("<QQ", content, header + 24)
        (entry,) = struct.unpack_from("<Q", content, header + 56)
        if kind in (2, 11) and entry == SYMBOL and size >= SYMBOL:
            end = offset + size // SYMBOL * SYMBOL
            out[offset:end] = summed(rows(content[offset:end], SYMBOL))
    return bytes(out)


def summed(symbols):
    out, name, value = bytearray(symbols), 0, 0
    for at in range(0, len(out), SYMBOL):
        name = (name + int.from_bytes(out[at : at + 4], "little")) % 2**32
        value = (value + int.from_bytes(out[at + 8 : at + 16], "little")) % 2**64
        out[at : at + 4], out[at + 8 : at + 16] = name.to_bytes(4, "little"), value.to_bytes(8, "little")
    return out
