"""All benchmarks, one after the other: `make bench`. Exit code 1 if a goal is missed."""

from __future__ import annotations

from bench import (
    caching,
    committer,
    daemon,
    demo,
    gates,
    lessons,
    looks,
    meter,
    pipeline,
    recovery,
    research,
    status,
    warm,
)

ALL = {
    "meter": meter,
    "committer": committer,
    "status": status,
    "lessons": lessons,
    "research": research,
    "caching": caching,
    "pipeline": pipeline,
    "looks": looks,
    "warm": warm,
    "daemon": daemon,
    "recovery": recovery,
    "demo": demo,
    "gates": gates,
}


def main() -> int:
    missed = 0
    for name, bench in ALL.items():
        print(f"== {name}: {(bench.__doc__ or '').split(' `python')[0]}", flush=True)
        missed |= bench.main()
        print(flush=True)
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
