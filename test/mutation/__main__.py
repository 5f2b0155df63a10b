"""`python -m mutation`: tries mutations until so many change results, and prints figures."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from mutation.campaign import FAULTS, Campaign, Outcome, summary
from mutation.operators import Mutation
from mutation.programs import programs


def main() -> None:
    parser = argparse.ArgumentParser(prog="mutation")
    parser.add_argument("--faults", type=int, default=200, help="how many that change a result")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--origin", nargs="*", help="run, stored, laid-out, random: all of them")
    parser.add_argument("--again", type=Path, help="only those that this file says were missed")
    parser.add_argument("-o", type=Path, required=True, help="a file: a line of JSON for each")
    args = parser.parse_args()
    found = [each for each in programs() if args.origin is None or each.origin in args.origin]
    only: set[tuple[str, int]] = set()
    if args.again is not None:
        lines = map(json.loads, args.again.read_text(encoding="utf-8").splitlines())
        missed = [line for line in lines if line["status"] == "missed"]
        only = {(line["module"], line["number"]) for line in missed}
        names = {line["program"] for line in missed}
        found = [program for program in found if program.name in names]
    campaign = Campaign()
    outcomes: list[tuple[Mutation, Outcome]] = []
    with args.o.open("w", encoding="utf-8") as file:
        for mutation, outcome in campaign.tried(found, args.seed, only):
            outcomes.append((mutation, outcome))
            print(json.dumps({**asdict(mutation), **outcome}), file=file, flush=True)
            if sum(each["status"] in FAULTS for _, each in outcomes) == args.faults:
                break
    campaign.end()
    for name, alarm in campaign.alarms.items():
        print(f"without a mutation: {name}: {alarm}", file=sys.stderr)
    print(summary(outcomes))


if __name__ == "__main__":
    main()
