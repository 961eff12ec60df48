"""NumPy's and SciPy's own tests under LD_PRELOAD: Debian's packages and PyPI's wheels.

served.py, a pytest plugin, runs inside: it refuses to start unless the BLAS symbols of
the process come from the library under test, and writes which tests passed and failed.
A test that fails is run again without the library: only one that fails there too, and
so says nothing about us, is forgiven, and its name is printed.

A wheel brings its own OpenBLAS with renamed symbols. Its matrix product, and all of
scipy.linalg.blas, reach us through the `scipy_` names. The LAPACK inside the wheel does
not: there the BLAS names have protected visibility, so its inner calls stay inside.
"""

import functools
import json

import trust

CALLS = trust.HERE / "calls.py"
# The parts of numpy.core that multiply matrices and vectors, and their neighbours.
CORE = ("multiarray", "numeric", "einsum", "ufunc", "umath", "regression", "shape_base", "indexing")
FORCED = {"CORTEN_NUM_THREADS": "4", "CORTEN_THREAD_MIN_WORK": "1"}
DEBIAN_SYMBOLS = "cblas_dgemm cblas_sgemv cblas_zherk dgemm_ ztrsm_ zdotc_ snrm2_ idamax_"
WHEEL_SYMBOLS = "scipy_cblas_dgemm64_ scipy_cblas_sgemv64_ scipy_cblas_zdotc_sub64_ scipy_zgemm_ scipy_dtrsm_64_"


def pytest(context, python, title, targets, env, symbols, timeout):
    """Runs pytest and returns what served.py wrote."""
    cwd = context.scratch("python", title)
    report = cwd / "report.json"
    env = {**env, "PYTHONPATH": str(trust.HERE), "PYTHONDONTWRITEBYTECODE": "1",
           "TRUST_REPORT": str(report), "TRUST_LIBRARY": str(context.so), "TRUST_SYMBOLS": symbols}
    command = [python, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "served",
               "--rootdir=/", *targets]
    result = trust.run(command, env=env, cwd=cwd, timeout=timeout)
    if not report.exists() or result.rc not in (0, 1):
        raise trust.Failure(f"pytest: exit code {result.rc}\n{trust.tail(result.out + result.err, 40)}")
    return json.loads(report.read_text()), result.out


def suite(context, python, title, targets, *, symbols, timeout=400, least=20, **settings):
    """The job body: a test suite under the library, its failures again without it."""
    report, out = pytest(context, python, title, targets, context.preload(**settings), symbols, timeout)
    if report["passed"] < least:
        raise trust.Failure(f"only {report['passed']} tests passed\n{trust.tail(out, 40)}")
    text = f"{report['passed']} passed, {report['skipped']} skipped"
    if not report["failed"]:
        return text
    again = ["/" + test for test in report["failed"]]
    plain, _ = pytest(context, python, f"{title} plain", again, trust.environment(), "", timeout)
    ours = sorted(set(report["failed"]) - set(plain["failed"]))
    if ours:
        raise trust.Failure(f"{len(ours)} tests fail only with the library; {text}\n"
                            + "\n".join(ours) + "\n" + trust.tail(out.partition("= FAILURES =")[2], 40))
    return f"{text}; fail without the library too: " + ", ".join(report["failed"])


def located(python, module, env, cwd):
    """The folder of an installed module."""
    code = f"import importlib.util as u; print(u.find_spec({module!r}).submodule_search_locations[0])"
    return trust.check_run([python, "-c", code], env=env, cwd=cwd).out.strip()


def calls_reach_us(context, python, what, lines):
    """calls.py does each product between two marks; CORTEN_VERBOSE says what served it."""
    env = context.preload(CORTEN_VERBOSE="1", CORTEN_NUM_THREADS="2")
    cwd = context.scratch("python", f"calls {what}")
    result = trust.check_run([python, CALLS, what], env=env, cwd=cwd)
    sections = result.err.split("== ")[1:]
    seen = {}
    for section in sections:
        mark, _, text = section.partition("\n")
        routine, _, name = mark.partition(" ")
        counts = trust.verbose_calls(text)
        if not counts.get(routine):
            raise trust.Failure(f"{name} made no call of our {routine}; calls seen: {counts}")
        seen[routine] = seen.get(routine, 0) + counts[routine]
    if len(sections) < lines:
        raise trust.Failure(f"{len(sections)} products were made, {lines} expected\n{trust.tail(result.err)}")
    return "results right; calls served: " + ", ".join(f"{k} {v}" for k, v in seen.items())


def can_fail(context, python, env, targets):
    """The same suite over a wrong dgemm must fail, and must pass over the same library honest."""
    wrong = trust.wrong_blas(context)

    def check(lie):
        settings = {**env, "LD_PRELOAD": f"{wrong}:{context.so}", "CORTEN_LIE": lie}
        # The lie sits in front of our library, so its symbols cannot be asked for here.
        report, out = pytest(context, python, f"lie {lie}", targets, settings, "dtrsm_", 120)
        if report["failed"] or not report["passed"]:
            raise trust.Failure(trust.tail(out))

    check("")
    trust.must_fail("cblas_dgemm value", lambda: check("cblas_dgemm value"))
    return "a wrong cblas_dgemm was noticed"


def numpy_jobs(context):
    python = trust.DEBIAN_PYTHON
    # Debian's tests lie beside the modules.
    root = located(python, "numpy", trust.environment(), context.work)
    job = functools.partial(suite, context, python, symbols=DEBIAN_SYMBOLS)
    yield trust.Job("numpy (Debian) calls", lambda: calls_reach_us(context, python, "numpy", 6), 2)
    core = [f"{root}/core/tests/test_{name}.py" for name in CORE]
    yield trust.Job("numpy (Debian) core", lambda: job("numpy core", core, timeout=600), 200)
    linalg = [f"{root}/linalg"]
    yield trust.Job("numpy (Debian) linalg", lambda: job("numpy linalg", linalg), 60)
    yield trust.Job("numpy (Debian) linalg threads=4 forced",
                    lambda: job("numpy linalg forced", linalg, **FORCED), 70)
    dot = [f"{root}/core/tests/test_multiarray.py::TestMatmul"]
    yield trust.Job("numpy (Debian) can fail",
                    lambda: can_fail(context, python, context.preload(), dot), 5)


def scipy_jobs(context):
    python = trust.DEBIAN_PYTHON
    root = located(python, "scipy", trust.environment(), context.work)
    linalg = [f"{root}/linalg"]
    job = functools.partial(suite, context, python, symbols=DEBIAN_SYMBOLS)
    yield trust.Job("scipy (Debian) calls", lambda: calls_reach_us(context, python, "scipy", 6), 2)
    yield trust.Job("scipy (Debian) linalg", lambda: job("scipy linalg", linalg), 60)
    yield trust.Job("scipy (Debian) linalg threads=4 forced",
                    lambda: job("scipy linalg forced", linalg, **FORCED), 70)


def wheel_jobs(context):
    python = context.work / "venv" / "bin" / "python"
    root = located(python, "numpy", trust.environment(), context.work)
    scipy = located(python, "scipy", trust.environment(), context.work)
    job = functools.partial(suite, context, python, symbols=WHEEL_SYMBOLS)
    yield trust.Job("numpy (wheel) calls", lambda: calls_reach_us(context, python, "numpy", 6), 2)
    yield trust.Job("scipy (wheel) calls", lambda: calls_reach_us(context, python, "scipy", 6), 2)
    yield trust.Job("wheel binding", lambda: wheel_binding(context, python), 2)
    yield trust.Job("numpy (wheel) linalg", lambda: job("wheel linalg", [f"{root}/linalg"]), 60)
    blas = [f"{scipy}/linalg/tests/test_{name}.py" for name in ("blas", "fblas", "cython_blas")]
    yield trust.Job("scipy (wheel) blas", lambda: job("wheel blas", blas), 20)


def wheel_binding(context, python):
    """The loader's own word, whatever the library prints: the wheel's modules call us."""
    cwd = context.scratch("python", "binding")
    command = [python, "-c", "import numpy.linalg, scipy.linalg.blas"]
    found = trust.bindings(command, env=context.preload(), cwd=cwd)
    served = {}
    for user, file, symbol in found:
        # What the bundled libraries bind among themselves is not ours to serve.
        if "gemm" in symbol and symbol.startswith("scipy_") and ".libs/" not in user:
            if not context.is_ours(file):
                raise trust.Failure(f"{user} takes {symbol} from {file}")
            served.setdefault(user.rsplit("/", 1)[-1].split(".")[0], set()).add(symbol)
    need = {"_multiarray_umath", "_fblas"}
    if not need <= served.keys():
        raise trust.Failure(f"expected gemm bindings of {need}, found {served.keys()}")
    return "gemm of " + ", ".join(sorted(served)) + " comes from the library under test"
