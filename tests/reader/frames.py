"""What is in a frame, by its codec. FORMAT.md, the table of codecs."""

import base64

import zstandard

from lzma_stream import decode as decode_lzma

RAW, ZSTD, ZSTD_PREFIX, PATCH, LZMA, LZMA_PREFIX, STEPS, ZSTD_PRESET, LZMA_PRESET, ZSTD_CHUNKS = range(10)
NEEDS_PARENT = (ZSTD_PREFIX, PATCH, LZMA_PREFIX)
LARGEST_WINDOW = 1 << 27
HEAD_OF_PRESET = "```base64\n"


class Preset:
    """The preset dictionary, once the document has been read."""

    content = b""

    @classmethod
    def read(cls, document):
        frame = base64.b64decode(document.split(HEAD_OF_PRESET)[1].split("```")[0])
        cls.content = zstandard.ZstdDecompressor().decompress(frame)


def inflate(codec, frame, size, parent):
    """The content of `frame`, which is `size` bytes; `parent` is the content of the parent, if there is one."""
    if (parent is not None) != (codec in NEEDS_PARENT):
        raise ValueError(f"codec {codec} and a parent do not go together")
    if codec == RAW:
        content = frame
    elif codec in (ZSTD, ZSTD_PREFIX):
        content = inflate_zstd(frame, size, parent)
    elif codec == PATCH:
        content = patched(frame, parent)
    elif codec == ZSTD_CHUNKS:
        content = inflate_chunks(frame)
    elif codec == ZSTD_PRESET:
        content = inflate_zstd(frame, size, Preset.content)
    elif codec == LZMA_PRESET:
        content = inflate_lzma(frame, size, Preset.content)
    elif codec in (LZMA, LZMA_PREFIX):
        content = inflate_lzma(frame, size, parent or b"")
    elif codec == STEPS:
        content = steps(frame, size)
    else:
        raise ValueError(f"codec {codec} is of a later release")
    if len(content) != size:
        raise ValueError(f"{len(content)} bytes come out of a frame for {size}")
    return content


def inflate_zstd(frame, size, prefix):
    head = zstandard.get_frame_parameters(frame)
    if head.content_size != size or not head.has_checksum or head.window_size > LARGEST_WINDOW:
        raise ValueError(f"a zstd frame says {head}")
    known = zstandard.ZstdCompressionDict(prefix, dict_type=zstandard.DICT_TYPE_RAWCONTENT) if prefix else None
    return zstandard.ZstdDecompressor(dict_data=known, max_window_size=LARGEST_WINDOW).decompress(frame, size)


def inflate_chunks(frame):
    count = int.from_bytes(frame[:4], "little")
    numbers = [int.from_bytes(frame[at:at + 4], "little") for at in range(4, 4 + 8 * count, 4)]
    content, at = b"", 4 + 8 * count
    for stored, raw in zip(numbers[::2], numbers[1::2]):
        first = content[:numbers[1]] or None
        content += inflate_zstd(frame[at:at + stored], raw, first)
        at += stored
    if at != len(frame):
        raise ValueError(f"{len(frame) - at} bytes behind the last chunk")
    return content


def inflate_lzma(frame, size, prefix):
    properties, reach = frame[0], int.from_bytes(frame[1:5], "little")
    if reach > max(size + len(prefix), 4096):
        raise ValueError(f"a dictionary of {reach} bytes")
    return decode_lzma(frame[5:], size, properties, prefix[-reach:] if prefix else b"")


def patched(patch, parent):
    content, at, read = bytearray(parent), 0, 0
    while read < len(patch):
        stays, read = leb128(patch, read)
        replaced, read = leb128(patch, read)
        at += stays
        if replaced == 0 or at + replaced > len(content):
            raise ValueError("a run of a patch lies within its parent")
        content[at : at + replaced] = patch[read : read + replaced]
        at, read = at + replaced, read + replaced
    return bytes(content)


def steps(code, size):
    content, at = bytearray(), 0
    while len(content) < size:
        token, at = code[at], at + 1
        literals, at = number(token >> 4, code, at)
        content += code[at : at + literals]
        at += literals
        if len(content) >= size:
            break
        distance, at = leb128(code, at)
        length, at = number(token & 15, code, at)
        if not 0 < distance <= len(content):
            raise ValueError("a match lies within what is known")
        for _ in range(length + 3):
            content.append(content[-distance])
    if at != len(code):
        raise ValueError("a code ends with its content")
    return bytes(content)


def number(bits, code, at):
    if bits < 15:
        return bits, at
    more, at = leb128(code, at)
    return 15 + more, at


def leb128(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
