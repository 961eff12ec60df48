"""threadpoolctl finds the library and changes its number of threads.

It follows links to the real name of a file and compares its beginning with a list. Up
to 3.1 `libblas` is in the list, so the drop-in libblas.so.3 is found when it is a file
of its own (a hard link or a copy, no symbolic link). Newer ones skip `libblas` and know
`libopenblas` only: there the class in corten_threadpoolctl.py does it, or a copy of the
library whose name begins with libopenblas. All three ways are tested.
"""

import shutil

import trust

INSIDE = trust.HERE / "threads.py"


def jobs(context):
    wheel = context.work / "venv" / "bin" / "python"
    renamed = context.scratch("threadpoolctl") / "libopenblas-corten.so"
    shutil.copy(context.so, renamed)
    ways = {
        "Debian's, drop-in libblas.so.3": (trust.DEBIAN_PYTHON, context.path(), "openblas"),
        "PyPI's, controller class": (wheel, context.preload(), "corten"),
        "PyPI's, controller class, drop-in libblas.so.3":
            (wheel, context.path(LD_PRELOAD=str(context.compat / "libblas.so.3")), "corten"),
        "PyPI's, file named libopenblas-corten.so":
            (wheel, trust.environment(LD_PRELOAD=str(renamed)), "openblas"),
    }
    for name, (python, env, api) in ways.items():
        yield trust.Job(f"threadpoolctl ({name})",
                        lambda p=python, e=env, a=api: threads(context, p, e, a), 2)


def threads(context, python, env, api):
    env = {**env, "PYTHONPATH": str(trust.HERE), "PYTHONDONTWRITEBYTECODE": "1",
           "TRUST_LIBRARY": str(context.so), "CORTEN_NUM_THREADS": "3"}
    cwd = context.scratch("threadpoolctl", api)
    return trust.check_run([python, INSIDE, api], env=env, cwd=cwd).out.strip()
