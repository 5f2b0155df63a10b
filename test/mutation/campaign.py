"""Has mutations tried, and counts which of them `--validate-each` names."""

import os
import pickle
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from random import Random
from typing import Any

from mutation.operators import ROOT, Mutation, in_turns
from mutation.programs import Program
from mutation.results import difference

MUTATIONS_OF_A_PROGRAM = 80

Job = dict[str, Any]
Outcome = dict[str, Any]
FAULTS = ("named", "missed")
"""What mutations that change a result end as."""


class Worker:
    """A process of `mutation.trials`."""

    def __init__(self, *options: str) -> None:
        paths = [str(ROOT / "test"), str(ROOT / "test" / "support")]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mutation.trials", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": ":".join(paths), "OMP_NUM_THREADS": "1"},
        )

    def run(self, job: Job) -> Any:
        """The outcome of a job."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        pickle.dump(job, process.stdin)
        process.stdin.flush()
        return pickle.load(process.stdout)

    def end(self) -> None:
        """To be called last."""
        self._process.communicate()


def in_order(programs: Sequence[Program], random: Random) -> Iterator[Program]:
    """The programs, those of every origin alike often, and short ones more often in front."""
    by_origin: dict[str, list[Program]] = defaultdict(list)
    for program in sorted(programs, key=lambda each: len(each.text) * random.random()):
        by_origin[program.origin].append(program)
    return in_turns(by_origin.values())


class Campaign:
    """Tries mutations, program after program; each mutation on one that runs its place."""

    def __init__(self, count: int = MUTATIONS_OF_A_PROGRAM) -> None:
        self._count = count
        self._loaded = Worker("--loaded")
        self._fresh = Worker()
        self._tried: set[tuple[str, int]] = set()
        self.alarms: dict[str, str] = {}
        """What is said of programs without any mutation."""

    def tried(
        self, programs: Sequence[Program], seed: int, only: Collection[tuple[str, int]] = ()
    ) -> Iterator[tuple[Mutation, Outcome]]:
        """Mutations with their outcomes: drawn ones, or `only` some, by module and number."""
        for program in in_order(programs, Random(seed)):
            job = {"job": "trials", "program": asdict(program), "tried": self._tried, "only": only}
            found = self._loaded.run({**job, "count": self._count, "seed": seed})
            if "outcomes" not in found:
                self.alarms[program.name] = str(found)
                continue
            for mutation, passes, outcome in found["outcomes"]:
                self._tried.add((mutation.module, mutation.number))
                if mutation.is_global:
                    outcome = self._of_table(mutation, program, found)
                if outcome["status"] == "named":
                    outcome["right"] = outcome["pass"] in {*passes, outcome["first"]}
                yield mutation, {**outcome, "program": program.name}

    def _of_table(self, mutation: Mutation, program: Program, found: Outcome) -> Outcome:
        change = (mutation.module, mutation.number)
        job = {"job": "at_ends", "program": asdict(program), "digests": found["digests"]}
        outcome = self._fresh.run({**job, "change_when_loaded": change})
        if outcome["status"] != "survived":
            return outcome
        results = difference(outcome["results"], found["results"], found["expected"])
        return {**results, "first": outcome["first"]}

    def end(self) -> None:
        """To be called last."""
        self._loaded.end()
        self._fresh.end()


def summary(outcomes: Sequence[tuple[Mutation, Outcome]]) -> str:
    """The figures."""
    states = Counter(outcome["status"] for _, outcome in outcomes)
    right = sum(o["status"] == "named" and o["right"] for _, o in outcomes)
    faults = states["named"] + states["missed"]
    lines = [
        f"{len(outcomes)} mutations: {states['stopped']} stopped by an error of a pass or the "
        f"verifier, {states['same']} change no module, {states['equivalent']} no result, "
        f"{states['rounding']} results by less than the passes may",
        f"{faults} change results: {states['named']} named, {right} of them by the right pass"
        + (f" ({100 * right / faults:.1f} %)" if faults else ""),
    ]
    kinds = sorted({mutation.kind for mutation, _ in outcomes})
    for kind in kinds:
        own = [o for m, o in outcomes if m.kind == kind and o["status"] in ("named", "missed")]
        named = sum(o["status"] == "named" and o["right"] for o in own)
        lines.append(f"  {kind}: {named} of {len(own)}")
    return "\n".join(lines)
