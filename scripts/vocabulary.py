"""Packs the vocabulary of tokens: `python scripts/vocabulary.py o200k_base.tiktoken.gz`.

The file holds a token a line, in base64, most frequent first, as `tiktoken` and the crate `bpe-openai` have it (both of
the MIT licence). src/tokens/o200k_base.bin has the tokens in the order of their bytes, each as what it adds to the one
before, with its rank and the two tokens it is merged of. src/tokens/vocabulary.rs reads it.
"""

import base64
import gzip
import os
import struct
import sys
import zlib
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "src/tokens/o200k_base.bin"
# Of a token that is no merge: one byte.
SINGLE = 255


def merges(tokens):
    """The rank of the first half of each token, by rank: as the tokens before it are merged, nothing else is."""
    ranks = {token: rank for rank, token in enumerate(tokens)}
    halves, pairs = [], {}

    def is_cut(one, two):
        """Whether a text of two tokens stays these two tokens."""
        limit = len(tokens)
        while True:
            if pairs.get((one, two), limit) < limit:
                return False
            if one > two:
                limit, later = one, halves[one][1]
                if later != one:
                    one = later
                    continue
                limit, earlier = two + 1, halves[two][0]
                if earlier == two:
                    return True
                two = earlier
            else:
                limit, earlier = two + 1, halves[two][0]
                if earlier != two:
                    two = earlier
                    continue
                limit, later = one, halves[one][1]
                if later == one:
                    return True
                one = later

    for rank, token in enumerate(tokens):
        half = (rank, rank)
        for end in range(len(token) - 1, 0, -1):
            one, two = ranks.get(token[:end], rank), ranks.get(token[end:], rank)
            if one < rank and two < rank and is_cut(one, two):
                half = (one, two)
                pairs[half] = rank
                break
        halves.append(half)
    return [one for one, _ in halves]


def packed(tokens):
    """The planes of the file, before they are compressed."""
    halves, ranks = merges(tokens), {token: rank for rank, token in enumerate(tokens)}
    shared, added, first, by_rank, rest = bytearray(), bytearray(), bytearray(), [], bytearray()
    before = b""
    for token in sorted(tokens):
        common = len(os.path.commonprefix([before, token]))
        shared.append(common)
        added.append(len(token) - common)
        rest += token[common:]
        rank = ranks[token]
        by_rank.append(rank)
        first.append(SINGLE if halves[rank] == rank else len(tokens[halves[rank]]))
        before = token
    planes = b"".join(bytes(rank >> shift & 255 for rank in by_rank) for shift in (0, 8, 16))
    return struct.pack("<I", len(tokens)) + shared + added + first + planes + rest


def main(path):
    lines = gzip.decompress(Path(path).read_bytes()).split(b"\n")
    tokens = [base64.b64decode(line.split()[0]) for line in lines if line]
    OUT.write_bytes(zlib.compress(packed(tokens), 9))
    print(f"{len(tokens)} tokens in {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
