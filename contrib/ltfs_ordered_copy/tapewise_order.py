# SPDX-License-Identifier: MIT OR Apache-2.0
"""The order in which a copy from an LTFS volume reads its files soonest, instead of sorted by block.

ltfs_ordered_copy keeps, for each partition, a dictionary from first block to the files that begin there, and goes through
it with `sorted(partition.keys())`. Replace that call with `in_order(partition.keys(), profile)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import tapewise


def in_order(
    start_blocks: Iterable[int],
    profile: str,
    *,
    partition: int = 1,
    block_size: int = 524_288,
    typical_blocks: int = 1,
    head: str = "bot",
) -> list[int]:
    """The blocks in the order to read from them; if they cannot be ordered, sorted, as before.

    `typical_blocks` is how many blocks a file has, if the copy tool knows no better.
    """
    blocks = sorted(set(start_blocks))
    try:
        cartridge = tapewise.Cartridge(profile, layout="ltfs")
        counts = [max(1, min(typical_blocks, after - before)) for before, after in pairwise(blocks)]
        batch = tapewise.Batch(
            blocks, [*counts, typical_blocks][: len(blocks)], partition=partition, block_size=block_size
        )
        return [blocks[at] for at in tapewise.order(batch, cartridge, head=head).order]
    except tapewise.TapewiseError as error:
        import logging

        logging.getLogger("ltfs_ordered_copy").warning("tapewise: %s; copying sorted by block", error)
        return blocks
