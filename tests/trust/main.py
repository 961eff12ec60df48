"""Chooses the suites, runs their jobs and counts. Called by run.sh."""

import os
import pathlib
import sys

import apps
import lapack
import netlib
import python_suites
import threadpool
import trust

STEPS = {
    "netlib": netlib.jobs,
    "lapack": lapack.jobs,
    "numpy": python_suites.numpy_jobs,
    "scipy": python_suites.scipy_jobs,
    "wheel": python_suites.wheel_jobs,
    "apps": apps.jobs,
    "threadpoolctl": threadpool.jobs,
}


def main(arguments):
    so, compat = (pathlib.Path(a).absolute() for a in arguments[:2])
    steps = arguments[2:] or list(STEPS)
    if unknown := [step for step in steps if step not in STEPS]:
        sys.exit(f"trust: no step {', '.join(unknown)}; there are {', '.join(STEPS)}")
    work = pathlib.Path(os.environ["CORTEN_TRUST_DIR"]).absolute()
    work.mkdir(parents=True, exist_ok=True)
    context = trust.Context(so, compat, work)
    if not so.is_file():
        sys.exit(f"trust: {so} is not there: build the library first")
    if not context.is_ours(compat / "libblas.so.3"):
        sys.exit(f"trust: {compat}/libblas.so.3 is not {so}: install the library first")

    try:
        jobs = [job for step in steps for job in STEPS[step](context)]
    except trust.Failure as failure:
        sys.exit(f"trust: set-up failed: {failure}")
    passed, failed = trust.run_jobs(jobs, max(1, len(os.sched_getaffinity(0))))
    if not passed:
        sys.exit("trust: nothing passed")
    sys.exit(1 if failed else 0)


main(sys.argv[1:])
