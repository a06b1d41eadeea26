"""Files of e-invoices with bytes changed, removed and added at random: each is read or refused, and none is taken for whole."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from plugins.finance.e_invoice_reading import TooLarge, Unreadable, read
from tests.support.e_invoice_files import Signer, attached, digitalised, drawn, pack

NUMBER = "24312000000000000003"
SIGNER = Signer()
SEALED = [
    SIGNER.seal(attached(digitalised(NUMBER))),
    SIGNER.seal(attached(digitalised(NUMBER)), first_form=True),
    SIGNER.seal(drawn(NUMBER)),
]


def damage(content: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        at, kind = chance.randrange(len(damaged) + 1), chance.random()
        if kind < 0.5:
            damaged[at : at + 1] = bytes([chance.randrange(256)])
        elif kind < 0.7:
            del damaged[at : at + chance.randrange(1, 30)]
        else:
            damaged[at:at] = chance.randbytes(chance.randrange(1, 8))
    return bytes(damaged)


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_file_is_read_or_refused_and_is_valid_only_as_it_was_signed(seed: int) -> None:
    chance, counts = random.Random(seed), Counter[str]()
    for _ in range(1_500):
        files = dict(chance.choice(SEALED))
        if chance.random() < 0.7:
            name = chance.choice(list(files))
            content = pack({**files, name: damage(files[name], chance)})
        else:
            content = damage(chance.choice([pack(files), digitalised(NUMBER)]), chance)
        try:
            said = json.loads(read(iter([content]), [SIGNER.pem]))
        except (Unreadable, TooLarge) as error:
            counts[type(error).__name__] += 1
            continue
        counts[said["signature"]["result"]] += 1
        if said["signature"]["result"] == "valid":
            assert (said["values"]["number"], said["values"]["total"]) in [(NUMBER, "113.00"), (NUMBER, "1300.00")]
    assert min(counts[one] for one in ("Unreadable", "invalid", "unknown")) > 50, counts
