"""Raw LZMA streams with a preset dictionary, which Python's own library does not read. After lzma-specification.txt."""

LOW_STATES = 7


class RangeDecoder:
    def __init__(self, stream):
        if stream[0] != 0:
            raise ValueError("an LZMA stream starts with 0")
        self.stream, self.at = stream, 5
        self.range, self.code = 0xFFFFFFFF, int.from_bytes(stream[1:5], "big")

    def normalise(self):
        if self.range < 1 << 24:
            self.range <<= 8
            self.code = self.code << 8 | self.stream[self.at]
            self.at += 1

    def bit(self, models, place):
        model = models[place]
        bound = (self.range >> 11) * model
        if self.code < bound:
            self.range, bit = bound, 0
            models[place] = model + (2048 - model >> 5)
        else:
            self.range, self.code, bit = self.range - bound, self.code - bound, 1
            models[place] = model - (model >> 5)
        self.normalise()
        return bit

    def tree(self, models, bits, start=0):
        place = 1
        for _ in range(bits):
            place = place << 1 | self.bit(models, start + place)
        return place - (1 << bits)

    def reverse_tree(self, models, bits, start=0):
        place, value = 1, 0
        for shift in range(bits):
            bit = self.bit(models, start + place)
            place, value = place << 1 | bit, value | bit << shift
        return value

    def direct(self, bits):
        value = 0
        for _ in range(bits):
            self.range >>= 1
            bit = int(self.code >= self.range)
            self.code -= self.range if bit else 0
            value = value << 1 | bit
            self.normalise()
        return value


def models(count):
    return [1024] * count


class Lengths:
    def __init__(self):
        self.choice, self.low, self.middle, self.high = models(2), models(16 * 8), models(16 * 8), models(256)

    def decode(self, decoder, position):
        if decoder.bit(self.choice, 0) == 0:
            return 2 + decoder.tree(self.low, 3, position * 8)
        if decoder.bit(self.choice, 1) == 0:
            return 10 + decoder.tree(self.middle, 3, position * 8)
        return 18 + decoder.tree(self.high, 8)


class Distances:
    def __init__(self):
        self.slots, self.special, self.align = models(4 * 64), models(128), models(16)

    def decode(self, decoder, length):
        slot = decoder.tree(self.slots, 6, min(length - 2, 3) * 64)
        if slot < 4:
            return slot
        bits = (slot >> 1) - 1
        distance = (2 | slot & 1) << bits
        if slot < 14:
            return distance + decoder.reverse_tree(self.special, bits, distance - slot)
        return distance + (decoder.direct(bits - 4) << 4) + decoder.reverse_tree(self.align, 4)


class Literals:
    def __init__(self, lc, lp):
        self.lc, self.mask, self.models = lc, (1 << lp) - 1, models(0x300 << lc + lp)

    def decode(self, decoder, out, matched):
        """The next byte; `matched` is the one at the last distance, or None behind a literal."""
        before = out[-1] if out else 0
        start = 0x300 * (((len(out) & self.mask) << self.lc) + (before >> 8 - self.lc))
        symbol = 1
        while matched is not None and symbol < 0x100:
            expected = matched >> 7 & 1
            matched = matched << 1 & 0xFF
            bit = decoder.bit(self.models, start + (1 + expected << 8) + symbol)
            symbol = symbol << 1 | bit
            if bit != expected:
                break
        while symbol < 0x100:
            symbol = symbol << 1 | decoder.bit(self.models, start + symbol)
        return symbol & 0xFF


class Repeats:
    """The last four distances, and which of them is meant again."""

    def __init__(self):
        self.last = [0, 0, 0, 0]
        self.is_other, self.is_third, self.is_fourth = models(12), models(12), models(12)
        self.is_long = models(12 * 16)

    def add(self, distance):
        self.last = [distance] + self.last[:3]

    def is_one_byte(self, decoder, state, position):
        """Takes the distance that is meant; true if it stands for a single byte."""
        if decoder.bit(self.is_other, state) == 0:
            return decoder.bit(self.is_long, state * 16 + position) == 0
        number = 1
        if decoder.bit(self.is_third, state) == 1:
            number = 2 + decoder.bit(self.is_fourth, state)
        self.add(self.last.pop(number))
        return False


def decode(stream, size, properties, dictionary):
    """`size` bytes. The last byte of the dictionary is the one before the first literal."""
    lc, lp, pb = properties % 9, properties // 9 % 5, properties // 45
    decoder, literals, distances = RangeDecoder(stream), Literals(lc, lp), Distances()
    lengths, repeated_lengths, repeats = Lengths(), Lengths(), Repeats()
    is_match, is_repeated = models(12 * 16), models(12)
    out, state = bytearray(dictionary), 0
    end = len(out) + size
    while len(out) < end:
        position = len(out) & (1 << pb) - 1
        behind_literal = state < LOW_STATES
        if decoder.bit(is_match, state * 16 + position) == 0:
            matched = None if behind_literal else out[-1 - repeats.last[0]]
            out.append(literals.decode(decoder, out, matched))
            state = 0 if state < 4 else state - 3 if state < 10 else state - 6
            continue
        if decoder.bit(is_repeated, state) == 0:
            length = lengths.decode(decoder, position)
            repeats.add(distances.decode(decoder, length))
            state = 7 if behind_literal else 10
        elif repeats.is_one_byte(decoder, state, position):
            length, state = 1, 9 if behind_literal else 11
        else:
            length, state = repeated_lengths.decode(decoder, position), 8 if behind_literal else 11
        back = repeats.last[0] + 1
        if back > len(out) or len(out) + length > end:
            raise ValueError("a match of an LZMA stream lies within what is known")
        for _ in range(length):
            out.append(out[-back])
    return bytes(out[len(dictionary) :])
