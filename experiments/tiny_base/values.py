"""Random values of each column kind: `Values(rng, fragments)` in, JSON scalars out.

Names are made of random syllables and of random pieces of the vocabulary, so that a model trained on them learns
to copy any token sequence. No pool of the task generator is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ONSETS = words(
    """
    b br c ch d dr f fl g gr h j k kl l m n p pr qu r s sh st t tr v w x y z
    """
)
_VOWELS = words(
    """
    a e i o u ai ea ee ia io oo ou
    """
)
_CODAS = ["", "", "", "l", "m", "n", "nd", "r", "rk", "s", "sk", "st", "t", "x", "ck", "ng"]
WORDS = words(
    """
    anchor apple arrow aspen autumn bamboo basket beach berry bishop blossom border bottle branch brick bridge
    bronze bucket button cabin candle canyon carbon castle cherry circle cliff clover cobalt copper coral
    corner cotton cradle crane creek crown curtain daisy desert diamond dragon eagle earth engine falcon
    feather fern field flame forest fountain fox garden ginger glacier glass globe grain grove hammer hazel
    heron hill holly honey horizon island ivory jasmine jewel journey juniper kettle knight ladder lagoon lake
    lantern laurel leaf lemon lilac linen lion magnet mango marble meadow melon mercury mirror mist moon
    mountain nest oak oasis ocean olive opal orchid otter owl oyster palm panther pearl pebble pepper pilot
    pine planet plum pond poplar prairie prism rabbit rain ranch reef ridge robin rocket rose ruby saddle sage
    sail sand satin scarlet sea shadow shell shore sky smoke snow sparrow spring spruce star station steam
    stream summer summit sun swan tiger timber torch tower trail tulip turtle valley vapor village vine violet
    walnut water wave whale wheat wind window winter wolf wood yarrow zebra
    """
)


class Values:
    """One stream of values. `fragments`: alphabetic pieces of the vocabulary, empty before it exists."""

    def __init__(self, rng: Random, fragments: Sequence[str] = ()) -> None:
        self.rng = rng
        self._fragments = fragments

    def of(self, kind: str) -> str | int:
        if "|" in kind:
            return self.rng.choice(kind.split("|"))
        return getattr(self, f"_{kind}")()  # type: ignore[no-any-return]

    def word(self) -> str:
        """A lower-case word: real, made of syllables, or made of vocabulary pieces."""
        rng = self.rng
        draw = rng.random()
        if draw < 0.3:
            return rng.choice(WORDS)
        if draw < 0.6 and self._fragments:
            return "".join(rng.choice(self._fragments) for _ in range(rng.choice((1, 1, 2, 2, 3)))).lower()
        return "".join(
            rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(rng.choice((1, 2, 2, 3)))
        )

    def capital(self) -> str:
        if self._fragments and self.rng.random() < 0.25:  # as the vocabulary spells it, capitals included
            word = "".join(self.rng.choice(self._fragments) for _ in range(self.rng.choice((1, 1, 2))))
            return word[:1].upper() + word[1:]
        return self.word().capitalize()

    def _word(self) -> str:
        return self.capital()

    def _title(self) -> str:
        words = [self.capital() for _ in range(self.rng.choice((1, 2, 2, 2, 3)))]
        if self.rng.random() < 0.2:
            words.append(str(self.rng.randint(1, 99)))
        return " ".join(words)

    def _person(self) -> str:
        return f"{self.capital()} {self.capital()}"

    def _phrase(self) -> str:
        return " ".join(self.word() for _ in range(self.rng.choice((1, 2, 2, 3))))

    def _domain(self) -> str:
        return "-".join(self.word() for _ in range(self.rng.choice((1, 2, 2)))) + self.rng.choice(
            (".example", ".example", ".com", ".net", ".org")
        )

    def _email(self) -> str:
        name = self.rng.choice(".-_").join(self.word() for _ in range(self.rng.choice((1, 2, 2))))
        return f"{name}@{self._domain()}"

    def _serial(self) -> str:
        letters = "".join(self.rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=self.rng.choice((1, 2, 2, 3))))
        return f"{letters}-{self.rng.randint(100, 99999)}"

    def _number(self) -> str:
        letters = "".join(self.rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=2))
        return f"{letters}-{self.rng.randint(0, 9_999_999):07d}"

    def _code(self) -> str:
        prefix = "".join(self.rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=self.rng.choice((2, 3))))
        return f"{prefix}_{self.rng.randint(0, 9999):04d}"

    def _id(self) -> int:
        return self.rng.randint(1, 10 ** self.rng.choice((2, 3, 4, 4, 4, 4, 5)) - 1)

    def _small(self) -> int:
        return self.rng.randint(0, 30)

    def _price(self) -> int:
        return self.rng.randint(1, 999) * self.rng.choice((1, 10, 10, 100))

    def _flag(self) -> int:
        return int(self.rng.random() < 0.7)

    def _date(self) -> str:
        return f"20{self.rng.randint(18, 39)}-{self.rng.randint(1, 12):02d}-{self.rng.randint(1, 28):02d}"
