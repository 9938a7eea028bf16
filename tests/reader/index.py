"""The index of a pack: header, directory, tables and pages. FORMAT.md, "The pack"."""

import struct
from dataclasses import dataclass

from blake3 import blake3

from frames import inflate

HEADER = struct.Struct("<8sHHIQQIIQ16s")
ENTRY = struct.Struct("<HHII")
IMAGE = struct.Struct("<IIIIIIHHHHIIQQQ16sIIIIII24xI")
BLOCK = struct.Struct("<QQQHHI16s")
KERNEL = struct.Struct("<II3II")
DETAILS_OF_KERNEL = struct.Struct("<IIIIQQQIIIII")
ARGUMENT = struct.Struct("<IIIIHHIQ")
PAGE = struct.Struct("<QQIIIIIIIIHHII16s16s")

TEXTS, ABOUT, IMAGES, KERNELS, ARGUMENTS, BLOCKS, MISSING, PAGES, PARENTS, DETAILS = range(1, 11)
NONE = 0xFFFFFFFF


class Damaged(Exception):
    """The bytes are not what FORMAT.md says."""


def require(condition, what):
    if not condition:
        raise Damaged(what)


def digest(*parts):
    hasher = blake3()
    for part in parts:
        hasher.update(part)
    return hasher.digest()[:16]


def rows(columns, size):
    """Records from a transposed table."""
    count = len(columns) // size
    out = bytearray(len(columns))
    for place in range(size):
        out[place::size] = columns[place * count :][:count]
    return bytes(out)


def summed(records, size):
    """Records from differences of their words to the record before."""
    out = bytearray(records)
    for at in range(size, len(out), size):
        for word in range(at, at + size // 4 * 4, 4):
            before, own = (int.from_bytes(out[place : place + 4], "little") for place in (word - size, word))
            out[word : word + 4] = ((before + own) % 2**32).to_bytes(4, "little")
    return bytes(out)


class Tables:
    """The tables that a directory lists, in an index or in a page."""

    def __init__(self, data, head, by_columns):
        at, count, step = struct.unpack_from("<QII", data, head)
        self.found, self.end = {}, at + count * step
        for entry in range(at, at + count * step, step):
            kind, size, offset, number = ENTRY.unpack_from(data, entry)
            table = data[offset : offset + size * number]
            require(len(table) == size * number, "a table lies within its index")
            self.end = max(self.end, offset + size * number)
            if by_columns and kind != TEXTS:
                table = summed(rows(table, size), size)
            self.found[kind] = (table, size)

    def records(self, kind, form):
        table, size = self.found.get(kind, (b"", form.size))
        return [form.unpack_from(table, at) for at in range(0, len(table), size)]

    def text(self, offset, size):
        text = self.found.get(TEXTS, (b"", 1))[0][offset : offset + size]
        require(len(text) == size, "a text lies within its table")
        return text.decode("utf-8")


@dataclass
class Image:
    """A record of an image, or of a parent in another pack, and the tables that it refers to."""

    module: str
    variant: str
    target: str
    codec: int
    filter: int
    parent: int
    block: int
    offset: int
    stored: int
    raw: int
    hash: bytes
    kernels: range
    first_details: int
    part: str
    tables: Tables
    details: Tables
    of: str


@dataclass
class Block:
    offset: int
    stored: int
    raw: int
    codec: int
    filter: int
    parent: int
    hash: bytes


@dataclass
class Kernel:
    name: str
    arguments: list


class Pack:
    """A pack that starts at the first byte of `data`, which may go on behind it."""

    def __init__(self, data):
        magic, major, _, header, size, _, _, _, payload, self.identity = HEADER.unpack_from(data)
        require(magic == b"OFLDPACK" and major == 1 and header == HEADER.size, "a header of a pack")
        require(size <= len(data), "the whole pack is there")
        require(digest(data[:48], data[64:payload]) == self.identity, "the hash of the index")
        self.size, self.payload_start = size, payload
        self.payload = data[payload:size]
        self.tables = Tables(data[:payload], 24, by_columns=False)
        pairs = [tuple(map(self.pair, (record[:2], record[2:]))) for record in self.tables.records(ABOUT, struct.Struct("<4I"))]
        self.about = dict(pairs)
        self.elsewhere = [value for key, value in pairs if key == "elsewhere"]
        self.blocks = [Block(*record) for record in self.tables.records(BLOCKS, BLOCK)]
        self.images = image_records((self.tables, self.tables), IMAGES, 0, "index")
        for page in self.tables.records(PAGES, PAGE):
            self.images += self.page(page)
        # A parent in another pack has a number behind those of the images.
        self.all = self.images + image_records((self.tables, self.tables), PARENTS, 0, "another pack")

    def pair(self, text):
        return self.tables.text(*text)

    def page(self, record):
        offset, base, stored, raw, first, count, *modules = record[:10]
        codec, details_codec, details_stored, details_raw, expected, details_expected = record[10:]
        require(first == len(self.images), "pages number their images through")
        of_images = self.part_of_page(offset, (codec, stored, raw, expected))
        of_details = self.part_of_page(offset + stored, (details_codec, details_stored, details_raw, details_expected))
        images = image_records((of_images, of_details), IMAGES, base, "page")
        require(len(images) == count, "the number of images of a page")
        require(images[0].module == self.pair(modules[:2]), "the module of the first image of a page")
        require(images[-1].module == self.pair(modules[2:]), "the module of the last image of a page")
        return images

    def part_of_page(self, offset, part):
        codec, stored, raw, expected = part
        frame = self.payload[offset : offset + stored]
        require(digest(frame) == expected, "the hash of a frame of a page")
        return Tables(inflate(codec, frame, raw, None), 0, by_columns=True)

    def kernels_of(self, image):
        records = image.tables.records(KERNELS, KERNEL)
        details = image.details.records(DETAILS, DETAILS_OF_KERNEL)[image.first_details :][: len(image.kernels)]
        return [kernel(image, records[number], of) for number, of in zip(image.kernels, details, strict=True)]


def image_records(of_page, kind, base, of):
    tables, details = of_page
    images = []
    for record in tables.records(kind, IMAGE):
        texts, (_, _, codec, use, parent, block), rest = record[:6], record[6:12], record[12:]
        module, variant, target = (tables.text(*texts[at : at + 2]) for at in (0, 2, 4))
        offset, stored, raw, expected, first, count, _, _, *part, first_details = rest
        offset += base if block == NONE else 0
        kernels, part = range(first, first + count), tables.text(*part)
        stored_as = (codec, use, parent, block, offset, stored, raw, expected)
        images.append(Image(module, variant, target, *stored_as, kernels, first_details, part, tables, details, of))
    return images


def kernel(image, record, details):
    first, count = details[:2]
    arguments = image.details.records(ARGUMENTS, ARGUMENT)[first : first + count]
    text = image.details.text
    named = [{"name": text(*of[:2]), "type": text(*of[2:4]), "kind": of[4], "size": of[6]} for of in arguments]
    return Kernel(image.tables.text(*record[:2]), named)
