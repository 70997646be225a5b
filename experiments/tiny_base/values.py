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
    abbey acorn actor album alley almond amber ample anchor angle ankle apple apron arena armor arrow artist
    aspen atlas attic autumn avenue award axis bacon badge ballet bamboo banner barley barrel basil basket beach
    beacon beaver bench berry bishop blanket blaze blossom bonnet border bottle bottom boulder bracket branch
    breeze brick bridge bronze brother bucket buffalo bundle butter button cabin cactus camel camera campus
    candle candy canyon captain carbon carpet carrot castle cedar cello ceramic chalk chapel cheese cherry chess
    chimney cinema circle citrus clay cliff clock clover coach coast cobalt coffee comet compass concert copper
    coral corner cottage cotton cousin cradle crane crater creek cricket crown crystal curtain cushion daisy
    dancer dawn delta desert diamond dolphin donkey dough dragon drama driver drum dune eagle earth echo elbow
    elder ember emerald engine engineer estate fabric factory falcon farmer feather fern ferry fiber fiddle
    field finger flame flute forest forge fossil fountain fox freight frost furnace galaxy gallery garden gate
    geyser giant ginger glacier glass globe glove gold goose grain granite grape gravel grove guitar gulf habit
    hammer harbor harvest hazard hazel helmet hermit heron hill holly honey horizon hotel hunter indigo insect
    iron island ivory jacket jaguar jasmine jelly jewel journey jungle juniper kennel kernel kettle kitchen kite
    knight ladder lagoon lake lamb lantern laurel lawyer leaf lemon lens letter library lilac lime linen lion
    lobster locket logic lotus lunar magnet mango maple marble market mason meadow medal melody melon mercury
    metal meteor mill mineral mirror mist monkey moon morning mosaic motor mountain museum music mustard needle
    nephew nest noodle north novel number nutmeg oak oasis oboe ocean office olive olympic onion opal optic
    orange orchid organ otter owl oxygen oyster paddle palace palm panel panther paper parade parrot pasta
    pastry patrol peach pearl pebble pencil pepper phoenix piano pigeon pillow pilot pine pirate planet plaza
    plum pocket polar pond pony poplar potato powder prairie pretzel prince prism pulse pumpkin puzzle quarry
    quartz quiver rabbit radar radio rain ranch raven receiver reef ribbon ridge river robin rocket rooster rose
    rover ruby saddle sage sail sailor salmon sand satin scarlet scholar science scooter sea season senator
    shadow shell shelter shore shuttle silver singer sky slate smoke snow soccer solar sparrow spider spiral
    spoon spring spruce square stable stadium star station steam stone storm stream studio sugar summer summit
    sun surgeon swan swift tablet tango teacher temple theater thunder ticket tiger timber tinder tomato topaz
    torch tower tractor trail travel tribe trumpet tulip tunnel turbo turtle twilight uncle unicorn union valley
    vapor vault velvet vessel victor village vine violet violin vista volcano wagon walker walnut warden water
    wave weaver whale wheat wicket willow wind window winter wizard wolf wonder wood yarrow yellow yeoman zebra
    zenith zephyr
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
        if draw < 0.4:
            return rng.choice(WORDS)
        if draw < 0.7 and self._fragments:
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
