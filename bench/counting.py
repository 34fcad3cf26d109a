"""How fast reports are counted, what they cost, and how that grows.

`make bench`, or `python -m bench.counting`. `python -m bench.counting growth 10000000` measures the
growth up to that many reports instead of a million, which takes a quarter of an hour. Ratios
compare medians of runs taken in turn. Time is the processor's, including PostgreSQL's process,
unless a line says that it is the clock's.
"""

import sys

from bench.installation import call, databases, installation

MILLION = 10**6


def main(arguments: list[str]) -> None:
    most = int(arguments[1]) if arguments[:1] == ["growth"] else 0
    sizes = [most // 10, most] if most else [MILLION // 4, MILLION]
    print("Counting: ten yes/no questions in one block")
    for _, environment in databases():
        with installation(None, **environment) as candor:
            call(candor, "bench.counting_runs", "measure", *sizes)


if __name__ == "__main__":
    main(sys.argv[1:])
