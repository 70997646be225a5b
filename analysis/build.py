"""Aligned runs in, the whole report out: which sections, in which order, and the summary on top."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from analysis.align import Alignment
from analysis.document import Document, Section
from analysis.paired import DEFAULT_MARGIN
from analysis.passk import SEED
from analysis.result import percent, points, points_interval
from analysis.sections.breakdown import breakdown_section, domain_of, held_out_section, macro_section, subtype_of
from analysis.sections.costs import costs_section
from analysis.sections.damage import damage_section
from analysis.sections.discordant import discordant_section
from analysis.sections.faults import clean_against_fault, has_pairs, hits_of, hits_section, robustness_section
from analysis.sections.gains import Gain, gains_section, stage_gains, transitions_section
from analysis.sections.headline import headline, rate
from analysis.sections.provenance import endings_section, num_broken, provenance_section
from analysis.sections.recovery import recovery_section
from analysis.sections.repeats import num_attempts, pass_sentences, repeats_section
from analysis.sections.training import Curve, training_section

CASES = {"clean": ("clean case", "clean cases"), "fault": ("case with a fault", "cases with a fault")}  # one, more


def build(
    alignment: Alignment, *, title: str, curves: Mapping[str, list[Curve]], viewer: str | None = None
) -> Document:
    """Every tool mode has its own tables: runs of one task in two modes are no independent cases."""
    rng = np.random.default_rng(SEED)
    seen = alignment.without_held_out()
    shown = {slot for slots in seen.slots.values() for slot in slots}
    unseen = alignment.where(lambda slot: slot not in shown)
    modes = seen.tool_modes
    summary: list[str] = []
    sections: list[Section] = []
    for mode in modes:
        part = seen.where(lambda slot, mode=mode: slot.tool_mode == mode)  # type: ignore[misc]
        label = mode if len(modes) > 1 else ""
        prefix = f"Tool mode {mode}: " if label else ""
        summary += [prefix + sentence for sentence in summarise(part.first_attempts())]
        if num_attempts(part) > 1:
            summary += [prefix + sentence for sentence in pass_sentences(part)]
        sections += [_suffixed(section, label) for section in _sections(part, rng, viewer)]
        apart = unseen.where(lambda slot, mode=mode: slot.tool_mode == mode).first_attempts()  # type: ignore[misc]
        if apart.conditions:
            summary += [prefix + sentence for sentence in _apart(apart)]
            sections.append(_suffixed(held_out_section(apart), label))
    if num_attempts(alignment) > 1:
        summary.append(
            "Tasks ran several times; paired tests use the first run of each, all runs are in 'Repeated runs'"
        )
    if (training := training_section(curves)) is not None:
        sections.append(training)
    sections += [endings_section(alignment), provenance_section(alignment)]
    return Document(title=title, summary=tuple(f"{sentence}." for sentence in summary), sections=tuple(sections))


def _suffixed(section: Section, mode: str) -> Section:
    """The section under a title and with figure names of its own tool mode; as it is where `mode` is empty."""
    if not mode:
        return section
    figures = tuple(replace(figure, name=f"{figure.name}-{mode}") for figure in section.figures)
    return replace(section, title=f"{section.title} ({mode})", figures=figures)


def _sections(alignment: Alignment, rng: np.random.Generator, viewer: str | None) -> list[Section]:
    first = alignment.first_attempts()
    has_steps = len(first.runs) > 1
    templates = first.templates
    sections = [
        headline(first),
        gains_section(first) if has_steps else None,
        transitions_section(first) if has_steps else None,
        robustness_section(first) if has_pairs(first) else None,
        hits_section(first) if "fault" in first.conditions else None,
        recovery_section(first) if "fault" in first.conditions else None,
        damage_section(first),
        costs_section(first, rng=rng),
        repeats_section(alignment, rng=rng) if num_attempts(alignment) > 1 else None,
        breakdown_section(first, "By domain", domain_of(first), first.conditions),
        macro_section(first, rng=rng),
        breakdown_section(first, "By template", lambda slot: templates.get(slot.task_id, "unnamed"), first.conditions)
        if templates
        else None,
        breakdown_section(first, "By kind of fault", subtype_of(first), ("fault",)),
        discordant_section(first, viewer=viewer),
    ]
    return [section for section in sections if section is not None]


def summarise(alignment: Alignment) -> list[str]:
    """The findings as sentences without their full stop, the most important first."""
    gains = {(gain.later, gain.condition): gain for gain in stage_gains(alignment)}
    sentences = []
    for run in alignment.runs:
        for condition in alignment.conditions:
            result = rate(alignment, run, condition)
            sentence = f"{run.name} solves {percent(result.estimate)} of {_cases(result.n, condition)}"
            if (gain := gains.get((run.name, condition))) is not None:
                sentence += f", {_gain(gain)}"
            sentences.append(sentence)
    if has_pairs(alignment):
        costs = ", ".join(
            f"{run.name} {points(clean_against_fault(alignment, run).discordant.difference)}" for run in alignment.runs
        )
        sentences.append(f"What a fault changes, in points on the same cases played clean: {costs}")
    if "fault" in alignment.conditions and (hits := hits_of(alignment)) is not None:
        sentences.append(hits.reading().removesuffix("."))
    broken = {
        run.name: sum(num_broken(alignment.rows(run, condition)) for condition in alignment.conditions)
        for run in alignment.runs
    }
    if any(broken.values()):
        counts = ", ".join(f"{name} {count}" for name, count in broken.items() if count)
        sentences.append(f"Episodes that failed for infrastructure count as not solved: {counts}")
    return sentences


def _apart(held_out: Alignment) -> list[str]:
    """One sentence a condition on the templates that training never saw."""
    return [
        f"On {_cases(len(held_out.slots[condition]), condition)} of held-out templates, counted apart: "
        + ", ".join(f"{run.name} {percent(rate(held_out, run, condition).estimate)}" for run in held_out.runs)
        for condition in held_out.conditions
    ]


def _cases(number: int, condition: str) -> str:
    one, more = CASES[condition]
    return f"{number} {one if number == 1 else more}"


def _gain(gain: Gain) -> str:
    test = gain.comparison.mcnemar
    direction = "more" if test.estimate >= 0 else "fewer"
    size = points(abs(test.estimate)).removeprefix("+")
    verdict = gain.comparison.verdict.replace("the margin", f"{100 * DEFAULT_MARGIN:g} points")
    verdict = f"equivalent within {100 * DEFAULT_MARGIN:g} points" if verdict == "equivalent" else verdict
    return f"{size} points {direction} than {gain.earlier} (95% {points_interval(test.interval)}; {verdict})"
