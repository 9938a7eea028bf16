"""From records to the bytes of an image. FORMAT.md, "How images are stored"."""

from frames import PATCH, RAW, inflate
from index import NONE, digest, require

MOST_ANCESTORS = 2
LARGEST_RELATED = LARGEST_BLOCK = 64 << 20


class Decoder:
    def __init__(self, pack, filters):
        self.pack, self.filters, self.contents = pack, filters, {}

    def decode(self, image):
        """The bytes of an image, and in words how they were stored."""
        if image.block == NONE:
            content, stored = self.of_frame(image)
        else:
            content, stored = self.of_block(image)
        raw = self.filters.undo(image.filter, content)
        require(len(raw) == image.raw and digest(raw) == image.hash, f"the hash of {image.module} {image.target}")
        return raw, stored | {"filter": image.filter, "record": image.of}

    def of_frame(self, image):
        chain = [image]
        while self.needs_parent(chain[-1]):
            chain.append(self.pack.all[chain[-1].parent])
        frames = [one for one in chain if one.codec != PATCH]
        most = MOST_ANCESTORS + 1
        require(len(frames) <= most and all(one.codec != PATCH and one.block == NONE for one in chain[1:]), "ancestors of an image")
        require(len(chain) == 1 or all(one.raw <= LARGEST_RELATED for one in chain), "the size of relatives")
        content = None
        for one in reversed(chain):
            content = self.content(("image", one.offset, one.codec), one, content)
        parents = [one.of for one in chain[1:]]
        return content, {"codec": image.codec, "parents": parents}

    def of_block(self, image):
        require(image.codec == RAW, "the codec of an image in a block")
        chain = [self.pack.blocks[image.block]]
        while chain[-1].parent != NONE:
            chain.append(self.pack.blocks[chain[-1].parent])
        require(len(chain) <= MOST_ANCESTORS + 1, "ancestors of a block")
        content = None
        for block in reversed(chain):
            require(block.filter == 0 and block.codec != PATCH and block.raw <= LARGEST_BLOCK, "a record of a block")
            content = self.content(("block", block.offset, block.codec), block, content)
            require(digest(content) == block.hash, "the hash of a block")
        part = content[image.offset : image.offset + image.raw]
        return part, {"block": chain[0].codec, "parents": ["block"] * (len(chain) - 1)}

    @staticmethod
    def needs_parent(image):
        return image.codec in (2, 3, 5)

    def content(self, key, record, parent):
        if key not in self.contents:
            frame = self.pack.payload[record.offset : record.offset + record.stored]
            self.contents[key] = inflate(record.codec, frame, record.raw, parent)
        return self.contents[key]
