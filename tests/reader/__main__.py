"""Decodes all images of a program, a library or a file of packs, with nothing but FORMAT.md to go by.

usage: python3 tests/reader FORMAT.md FILE FOLDER

Each image goes into a file of FOLDER, named by its number, and a line of JSON tells what it is and how it was stored.
"""

import json
import sys
from pathlib import Path

from filters import Filters
from frames import Preset
from images import Decoder
from places import find


def main(document, path, folder):
    text = Path(document).read_text(encoding="utf-8")
    filters = Filters(text)
    Preset.read(text)
    number = 0
    for pack in find(Path(path)):
        decoder = Decoder(pack, filters)
        for image in pack.images:
            raw, stored = decoder.decode(image)
            (Path(folder) / str(number)).write_bytes(raw)
            number += 1
            print(json.dumps(described(pack, image) | {"stored": stored}))


def described(pack, image):
    kernels = [{"name": kernel.name, "arguments": kernel.arguments} for kernel in pack.kernels_of(image)]
    return {
        "package": pack.about.get("package"),
        "module": image.module,
        "variant": image.variant,
        "target": image.target,
        "part": image.part,
        "hash": image.hash.hex(),
        "kernels": kernels,
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
