"""Names of people, companies, products, places, teams and serial numbers; every name belongs to one part.

A combination's part follows from its own hash, so that the pools of train, val and test are disjoint whatever is
drawn. The words that make up a name are shared: what differs is the combination, as in real company and person names.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from random import Random

from robustops.core.task import Part


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_FIRST = _words(
    """
    Ada Ben Cleo Dan Ema Finn Gina Hugo Ines Jack Kira Leo Mia Nils Olga Paul Quin Rosa Sven Tara Uma Vera
    Walt Xena Yuri Zoe Alma Boris Carla Dora Emil Flora
    """
)
_LAST = _words(
    """
    Adler Berg Costa Doyle Engel Frost Garcia Hale Ito Jansen Kovac Lind Moss Novak Olsen Patel Quist Rossi
    Silva Tran Ueda Vogel Weber Xu Young Zhou Archer Brandt Cohen Drake Ellis Fuchs Gomez Hansen Iqbal Joshi
    Kramer Larsen Meyer Nash
    """
)
_COMPANY_1 = _words(
    """
    Amber Bright Cedar Delta Ember Fjord Granite Harbor Indigo Jade Kestrel Lunar Maple Nova Onyx Polar
    Quartz River Solar Timber Umber Velvet Willow Zenith
    """
)
_COMPANY_2 = _words(
    """
    Analytics Bank Chemicals Dairy Energy Foods Games Health Insurance Journal Kitchens Logistics Media
    Networks Optics Power Records Systems Trading Works
    """
)
_PRODUCT_1 = _words(
    """
    Atlas Beacon Comet Drift Echo Falcon Glide Helix Ion Jolt Karma Lotus Mesa Nimbus Orbit Pulse Quill Raven
    Spark Titan Ultra Vista Wave Yonder Zephyr Argo Bolt Crest Dune Edge
    """
)
_PRODUCT_2 = _words(
    """
    Router Scanner Tablet Sensor Printer Camera Switch Gateway Monitor Phone Drive Server Laptop Modem Copier
    Radio
    """
)
_PLACE_1 = _words(
    """
    North South East West Upper Lower Old New Grand Little Green White Black Silver Golden Red Blue Iron
    Stone Crystal
    """
)
_PLACE_2 = _words(
    """
    Depot Yard Plant Office Campus Tower Mill Dock Garage Annex
    """
)
_TEAM_1 = _words(
    """
    Access Billing Cloud Device Escalation Field Grid Hardware Intake Junction Kernel License Mobile Network
    Output Portal Quality Repair Storage Triage
    """
)
_TEAM_2 = _words(
    """
    Team Desk Crew Squad Unit Group Pod Circle
    """
)
_SUBJECT_1 = _words(
    """
    Audio Budget Code Data Event File Graph House Image Journal Label Market News Order Page Query Risk Sales Text Video
    """
)
_SUBJECT_2 = _words("Analysis Design Editing Planning Review Safety Testing Training Control Research")
_OCCASION = _words("Briefing Clinic Debate Forum Huddle Recap Roundup Sync Talk Workshop")
_SERIAL_LETTERS = "ABCDEFGHJKLMNPRSTUVWXY"

_SHARE_OF_TEN: dict[Part, range] = {"train": range(6), "val": range(6, 8), "test": range(8, 10)}


def part_of_name(name: str) -> Part:
    """The part that a generated name belongs to: a fixed function of its letters."""
    bucket = zlib.crc32(name.encode()) % 10
    return next(part for part, share in _SHARE_OF_TEN.items() if bucket in share)


class Names:
    """Draws names of one part; within one `Names` none comes twice."""

    def __init__(self, part: Part, rng: Random) -> None:
        self._part = part
        self._rng = rng
        self.used: set[str] = set()

    def person(self) -> tuple[str, str]:
        first, last = self._draw(lambda: f"{self._rng.choice(_FIRST)} {self._rng.choice(_LAST)}").split()
        return first, last

    def company(self) -> str:
        return self._draw(lambda: f"{self._rng.choice(_COMPANY_1)} {self._rng.choice(_COMPANY_2)}")

    def product_line(self) -> str:
        return self._draw(lambda: f"{self._rng.choice(_PRODUCT_1)} {self._rng.choice(_PRODUCT_2)}")

    def place(self) -> str:
        return self._draw(lambda: f"{self._rng.choice(_PLACE_1)} {self._rng.choice(_PLACE_2)}")

    def team(self) -> str:
        return self._draw(lambda: f"{self._rng.choice(_TEAM_1)} {self._rng.choice(_TEAM_2)}")

    def subject(self) -> str:
        return self._draw(lambda: f"{self._rng.choice(_SUBJECT_1)} {self._rng.choice(_SUBJECT_2)}")

    def occasion(self) -> str:
        """What a meeting or a mail is about."""
        draw = self._rng.choice
        return self._draw(lambda: f"{draw(_PRODUCT_1)} {draw(_SUBJECT_2)} {draw(_OCCASION)}")

    def number(self, prefix: str) -> str:
        return self._draw(lambda: f"{prefix}{self._rng.randint(1_000_000, 9_999_999)}")

    def serial(self) -> str:
        return self._draw(self._serial)

    def web_domain(self) -> str:
        return self._draw(lambda: f"{self._rng.choice(_COMPANY_1)}-{self._rng.choice(_COMPANY_2)}.example".lower())

    def _serial(self) -> str:
        letters = "".join(self._rng.choices(_SERIAL_LETTERS, k=2))
        return f"{letters}-{self._rng.randint(1000, 9999)}"

    def _draw(self, candidate: Callable[[], str]) -> str:
        for _ in range(10_000):
            name = candidate()
            if name not in self.used and part_of_name(name) == self._part:
                self.used.add(name)
                return name
        raise ValueError(f"no unused name left in part {self._part!r}; ask for fewer rows")
