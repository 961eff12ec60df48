"""What all suites share: processes with a time limit, jobs, proof of who was called.

A job is a name and a function; the function returns a short text for its line, or
raises Failure. Jobs are independent, so `run_jobs` keeps one running for each core.
Nothing here knows a suite.
"""

import concurrent.futures
import ctypes
import dataclasses
import filecmp
import os
import pathlib
import re
import signal
import subprocess
import sys
import sysconfig
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
DEBIAN_PYTHON = "/usr/bin/python3"
# Debian's python knows the name of the folder of its architecture.
SYSTEM_LIBS = pathlib.Path("/usr/lib") / (sysconfig.get_config_var("MULTIARCH") or "")
ISA_LEVELS = ("generic", "avx2", "avx512")


class Failure(Exception):
    """A test failed; the text says what was seen and what was expected."""


@dataclasses.dataclass
class Result:
    rc: int
    out: str
    err: str


@dataclasses.dataclass
class Job:
    name: str
    run: object
    # Started first: the long ones, so that the last core does not wait for one of them.
    weight: float = 1.0


@dataclasses.dataclass(frozen=True)
class Context:
    so: pathlib.Path
    compat: pathlib.Path
    work: pathlib.Path

    def scratch(self, *parts):
        """A new empty folder of this name; testers write files where they stand."""
        path = self.work.joinpath("scratch", *(re.sub(r"[^\w.=-]+", "_", p) for p in parts))
        if path.exists():
            for old in sorted(path.rglob("*"), reverse=True):
                old.rmdir() if old.is_dir() and not old.is_symlink() else old.unlink()
        path.mkdir(parents=True, exist_ok=True)
        return path

    def is_ours(self, path):
        """Is this file the library under test? A link, a hard link and a copy all are."""
        try:
            return os.path.samefile(path, self.so) or filecmp.cmp(path, self.so, shallow=False)
        except OSError:
            return False

    def preload(self, **extra):
        return environment(LD_PRELOAD=str(self.so), **extra)

    def path(self, *more, **extra):
        """The environment in which `libblas.so.3` is ours."""
        return environment(LD_LIBRARY_PATH=":".join(map(str, (self.compat, *more))), **extra)


def environment(**extra):
    """The caller's environment without what steers a BLAS or the loader, plus `extra`."""
    drop = ("CORTEN_", "OPENBLAS_", "GOTO_", "OMP_", "MKL_", "LD_", "PYTHON", "PYTEST_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
    env["LC_ALL"] = "C.UTF-8"
    env.update(extra)
    return env


def run(command, *, env, cwd, stdin="", timeout=120):
    """Runs a command to its end; past the limit its whole process group is killed."""
    process = subprocess.Popen(
        [str(word) for word in command],
        env=env,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise Failure(f"{command[0]}: no end after {timeout} s\n{tail(out + err)}") from None
    return Result(process.returncode, out, err)


def check_run(command, **options):
    result = run(command, **options)
    if result.rc != 0:
        raise Failure(f"{command[0]}: exit code {result.rc}\n{tail(result.out + result.err)}")
    return result


def tail(text, lines=25):
    return "\n".join(text.rstrip().splitlines()[-lines:])


class Once:
    """Computes a value for a key once, whichever job asks first; the others wait for it."""

    def __init__(self, compute):
        self._compute = compute
        self._guard = threading.Lock()
        self._futures = {}

    def __call__(self, *key):
        with self._guard:
            mine = key not in self._futures
            future = self._futures.setdefault(key, concurrent.futures.Future())
        if mine:
            try:
                future.set_result(self._compute(*key))
            except BaseException as error:
                future.set_exception(error)
        return future.result()


def isa_levels(context):
    """The levels that this machine can run, lowest first, as the library itself says.

    Each is also asked for by name: a variable that is ignored would make every
    per-level run test the same code.
    """

    def probe(**env):
        code = (
            "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).corten_get_isa;"
            "f.restype = ctypes.c_char_p; print(f().decode())"
        )
        command = [DEBIAN_PYTHON, "-c", code, context.so]
        return check_run(command, env=environment(**env), cwd=context.work).out.strip()

    detected = probe()
    if detected not in ISA_LEVELS:
        raise Failure(f"corten_get_isa() says {detected!r}, which is none of {ISA_LEVELS}")
    levels = ISA_LEVELS[: ISA_LEVELS.index(detected) + 1]
    for level in levels:
        if (got := probe(CORTEN_ISA=level)) != level:
            raise Failure(f"CORTEN_ISA={level}: corten_get_isa() says {got!r}")
    return levels


BINDING = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `([^']+)'")


def bindings(command, *, env, cwd, stdin="", timeout=120):
    """Which file the loader took each symbol from: a list of (user, provider, symbol)."""
    log = pathlib.Path(cwd) / "bindings"
    debug = {"LD_DEBUG": "bindings", "LD_BIND_NOW": "1", "LD_DEBUG_OUTPUT": str(log)}
    run(command, env={**env, **debug}, cwd=cwd, stdin=stdin, timeout=timeout)
    found = []
    for file in pathlib.Path(cwd).glob("bindings.*"):
        found += BINDING.findall(file.read_text(errors="replace"))
        file.unlink()
    if not found:
        raise Failure(f"{command[0]}: the loader reported no binding")
    return found


def verbose_calls(text):
    """How often each level-3 routine wrote its CORTEN_VERBOSE line, by its plain name."""
    counts = {}
    for name in re.findall(r"^corten: (\w+) \w+=", text, re.M):
        counts[name] = counts.get(name, 0) + 1
    return counts


def provider(symbol, module=None):
    """The file that serves a symbol to this process, or None.

    The scope is the global one, or that of a loaded extension module and what it needs.
    """

    class Info(ctypes.Structure):
        _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p),
                    ("name", ctypes.c_char_p), ("address", ctypes.c_void_p)]

    scope = ctypes.CDLL(module)
    try:
        address = ctypes.cast(getattr(scope, symbol), ctypes.c_void_p)
    except AttributeError:
        return None
    info = Info()
    if not ctypes.CDLL(None).dladdr(address, ctypes.byref(info)):
        return None
    return info.file.decode()


def _wrong_blas(context):
    """Builds the library of lies (wrong_blas.c) with which a suite shows that it can fail."""
    target = context.scratch("wrong") / "wrong_blas.so"
    command = ["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
               HERE / "wrong_blas.c", "-o", target, "-ldl"]
    check_run(command, env=environment(), cwd=context.work)
    return target


wrong_blas = Once(_wrong_blas)


def must_fail(what, check):
    """Runs a check on a wrong library: the check must raise Failure, else it proves nothing."""
    try:
        check()
    except Failure:
        return
    raise Failure(f"the suite did not notice a wrong BLAS: {what}")


def run_jobs(jobs, width):
    """Runs all, prints one line each as it ends, returns the numbers passed and failed."""
    passed = failed = 0
    began = time.monotonic()

    def one(job):
        start = time.monotonic()
        try:
            text, good = job.run(), True
        except Failure as failure:
            text, good = str(failure), False
        except Exception as error:  # a defect of the suite itself must not pass as success
            text, good = f"{type(error).__name__}: {error}", False
        return job, good, text or "", time.monotonic() - start

    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        pending = [pool.submit(one, job) for job in sorted(jobs, key=lambda j: -j.weight)]
        for done in concurrent.futures.as_completed(pending):
            job, good, text, seconds = done.result()
            first, _, rest = text.partition("\n")
            print(f"{'ok  ' if good else 'FAIL'} {seconds:6.1f} s  {job.name}: {first}")
            if rest:
                print("\n".join("        " + line for line in rest.splitlines()))
            sys.stdout.flush()
            passed, failed = passed + good, failed + (not good)
    print(f"trust: {passed} passed, {failed} failed in {time.monotonic() - began:.0f} s")
    return passed, failed
