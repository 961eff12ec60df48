"""Inside a program that uses threadpoolctl: is our library found, and does it obey?

Argument: the name under which it is expected; `corten` registers the controller class.
"""

import filecmp
import os
import sys

import numpy as np

if sys.argv[1] == "corten":
    import corten_threadpoolctl  # noqa: F401
import threadpoolctl
import ctypes
import trust

core = getattr(np, "_core", None) or np.core
# Preloaded it is in the global scope; as libblas.so.3 only NumPy's module sees it.
served = trust.provider("cblas_dgemm") or trust.provider("cblas_dgemm", core._multiarray_umath.__file__)
a = np.ones((64, 64))
a @ a
library = os.environ["TRUST_LIBRARY"]


def found():
    """threadpoolctl's entry for our file, by content: other BLAS may be loaded as well."""
    entries = threadpoolctl.threadpool_info()
    mine = [e for e in entries if filecmp.cmp(e["filepath"], library, shallow=False)]
    if len(mine) != 1:
        names = [e["filepath"] for e in entries]
        sys.exit(f"threadpoolctl found our library {len(mine)} times among {names}\n"
                 f"it looks at real names: ours is {os.path.realpath(served)}")
    return mine[0]


entry = found()
if os.path.realpath(served) != os.path.realpath(entry["filepath"]):
    sys.exit(f"it found {entry['filepath']}, but cblas_dgemm comes from {served}")
ours = ctypes.CDLL(entry["filepath"]).corten_get_num_threads
if (entry["internal_api"], entry["user_api"], entry["num_threads"]) != (sys.argv[1], "blas", 3):
    sys.exit(f"unexpected entry: {entry}")
for limit in (1, 2, 4):
    with threadpoolctl.threadpool_limits(limits=limit, user_api="blas"):
        if (found()["num_threads"], ours()) != (limit, limit):
            sys.exit(f"limit {limit}: it says {found()['num_threads']}, the library {ours()}")
        a @ a
    if (found()["num_threads"], ours()) != (3, 3):
        sys.exit(f"after limit {limit}: {found()['num_threads']}, {ours()}, expected 3")
print(f"version {threadpoolctl.__version__} found it and set 1, 2 and 4 threads, then 3 again")
