"""A pytest plugin: who serves BLAS in this process, and what passed and failed.

TRUST_SYMBOLS names symbols that must come from TRUST_LIBRARY (none when it is empty, in
the run without the library). TRUST_REPORT is the file for the outcome; without it, or
when the session is refused, there is no report and the driver fails.
"""

import json
import os

import pytest
import trust

outcome = {"passed": 0, "skipped": 0, "failed": []}


def pytest_sessionstart(session):
    import numpy  # noqa: F401  as the tests will: the wheel loads its own BLAS here

    library = os.environ["TRUST_LIBRARY"]
    for symbol in os.environ["TRUST_SYMBOLS"].split():
        file = trust.provider(symbol)
        if file is None or not os.path.samefile(file, library):
            raise pytest.UsageError(f"{symbol} comes from {file}, not from {library}")


def pytest_runtest_logreport(report):
    if report.failed:  # in set-up, call or tear-down
        if report.nodeid not in outcome["failed"]:
            outcome["failed"].append(report.nodeid)
    elif report.when == "call" and report.passed:
        outcome["passed"] += 1
    elif report.skipped:
        outcome["skipped"] += 1


def pytest_collectreport(report):
    if report.failed:
        outcome["failed"].append(report.nodeid)


def pytest_sessionfinish(session):
    with open(os.environ["TRUST_REPORT"], "w") as file:
        json.dump(outcome, file)
