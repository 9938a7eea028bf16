"""Where packs are: in a program, in a file of packs, beside a program. FORMAT.md, "In a program", "Sidecars"."""

import struct

from index import Pack, require

NOTE = struct.pack("<III8s", 8, 40, 1, b"OFFLOAD\0")
NOTE_SIZE = 60
PT_LOAD, PT_NOTE = 1, 4
IN_SIDECARS = 1


def find(path):
    """The packs of a file, with those in its sidecars in place of what only names them."""
    data = path.read_bytes()
    packs = in_program(data) if data.startswith(b"\x7fELF") else in_file(data)
    for pack in packs:
        yield pack
        for value in pack.elsewhere:
            identity, name = value.split(" ", 1)
            beside = in_file((path.parent / name).read_bytes())
            yield next(one for one in beside if one.identity.hex() == identity)


def in_file(data):
    """From pack to pack: each at a multiple of 16, with zeros between them."""
    packs, at = [], 0
    while at < len(data):
        pack = Pack(data[at:])
        packs.append(pack)
        next_index = aligned(pack.tables.end)
        at += next_index if next_index < pack.payload_start else aligned(pack.size)
    return packs


def aligned(at):
    return (at + 15) // 16 * 16


def in_program(data):
    segments = list(program_headers(data))
    packs = {}
    for kind, offset, address, size in segments:
        if kind != PT_NOTE:
            continue
        for at in range(offset, offset + size - NOTE_SIZE + 1, 4):
            if data[at : at + 20] == NOTE:
                pack = of_note(data, segments, at, address + at - offset)
                packs[pack.identity] = pack
    return list(packs.values())


def program_headers(data):
    (start,) = struct.unpack_from("<Q", data, 32)
    step, count = struct.unpack_from("<HH", data, 54)
    for at in range(start, start + step * count, step):
        kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, at)
        yield kind, offset, address, size


def of_note(data, segments, at, address):
    version, _, distance, _, identity = struct.unpack_from("<IIqq16s", data, at + 20)
    require(version == 1, "the version of a note")
    descriptor_address = address + 28 + distance
    descriptor = offset_of(segments, descriptor_address)
    magic, _, version, flags, distance, size, named = struct.unpack_from("<8sIHHqQ16s", data, descriptor)
    require(magic == b"OFLDDESC" and version == 1 and named == identity, "a descriptor")
    start = offset_of(segments, descriptor_address + 16 + distance)
    pack = Pack(data[start : start + size])
    require(pack.identity == identity, "the identity of a pack")
    require((flags & IN_SIDECARS != 0) == bool(pack.elsewhere), "the flag of a descriptor")
    return pack


def offset_of(segments, address):
    return next(offset + address - start for kind, offset, start, size in segments if kind == PT_LOAD and start <= address < start + size)
