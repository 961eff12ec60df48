"""threadpoolctl finds the library and changes its number of threads.

It follows links to the real name of a file and compares the beginning of that name with
a list. On Linux it passes over `libblas` on purpose and knows `libopenblas` (we have the
functions that it then calls). So the drop-in libblas.so.3 must be a symbolic link to a
file whose own name begins with libopenblas. The library under its own name needs the
class in corten_threadpoolctl.py, which versions before 3.2, as Debian's, cannot take.
"""

import trust

INSIDE = trust.HERE / "threads.py"


def jobs(context):
    wheel = context.work / "venv" / "bin" / "python"
    # Netlib's LAPACK, lest Debian's choice bring the whole of OpenBLAS along: its setter calls
    # another function of its own through a name that we have too, and so would set our threads.
    debian = context.path(trust.SYSTEM_LIBS / "lapack")
    drop_in = str(context.compat / "libblas.so.3")
    ways = {
        "Debian's, drop-in libblas.so.3": (trust.DEBIAN_PYTHON, debian, "openblas"),
        "PyPI's, drop-in libblas.so.3 preloaded":
            (wheel, trust.environment(LD_PRELOAD=drop_in), "openblas"),
        "PyPI's, controller class": (wheel, context.preload(), "corten"),
    }
    for name, (python, env, api) in ways.items():
        yield trust.Job(f"threadpoolctl ({name})",
                        lambda p=python, e=env, a=api: threads(context, p, e, a), 2)


def threads(context, python, env, api):
    env = {**env, "PYTHONPATH": f"{trust.HERE}:{trust.HERE.parent.parent / 'cmake'}", "PYTHONDONTWRITEBYTECODE": "1",
           "TRUST_LIBRARY": str(context.so), "CORTEN_NUM_THREADS": "3"}
    cwd = context.scratch("threadpoolctl", api)
    return trust.check_run([python, INSIDE, api], env=env, cwd=cwd).out.strip()
