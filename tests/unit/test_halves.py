from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.runs import GOLDEN, SEED, balanced, names

from evalaction.method.counting.halves import half_of


def test_the_published_digits_decide() -> None:
    meta = GOLDEN["seed2_fixture_meta"]
    assert "".join(str(half_of(name, SEED)) for name in names(20)) == meta["halves_t0000_to_t0019"]
    assert half_of("t0000", SEED) == int(meta["digest_of_seed:t0000"][-1], 16) % 2
    assert half_of("t0002", SEED) == int(meta["digest_of_seed:t0002"][-1], 16) % 2
    assert [half_of(item, SEED) for item in ("1", "café")] == [1, 0]
    assert "t0078" not in balanced(40) and balanced(40)[39] == "t0080" and balanced(40)[-1] == "t0077"


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_neither_hash_seed_nor_order_moves_an_item(hash_seed: str) -> None:
    code = (
        "from evalaction.method.counting.halves import half_of\n"
        "ids = sorted({f't{n:04d}' for n in range(200)} | {'café', '1'}, key=hash)\n"
        f"print(sorted((item, half_of(item, {SEED!r})) for item in ids))"
    )
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "utf-8"}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, encoding="utf-8")
    assert printed.stdout.strip() == str(sorted((item, half_of(item, SEED)) for item in [*names(200), "café", "1"]))


def test_the_seed_moves_items() -> None:
    assert [half_of(name, "a") for name in names(64)] != [half_of(name, "b") for name in names(64)]
