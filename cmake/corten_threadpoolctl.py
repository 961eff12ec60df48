"""Makes threadpoolctl (3.2 or later) see Corten: `import corten_threadpoolctl`.

threadpoolctl knows libraries by the real name of their file. Corten has the OpenBLAS
functions that it calls, so its controller for OpenBLAS serves; only the name is new.
"""

import ctypes

import threadpoolctl

if not hasattr(threadpoolctl, "register"):
    raise ImportError(
        f"corten_threadpoolctl needs threadpoolctl 3.2 or later, this is {threadpoolctl.__version__}; "
        "older ones see Corten under the drop-in names of lib/corten/compat")


class CortenController(threadpoolctl.OpenBLASController):
    internal_api = "corten"
    filename_prefixes = ("libcorten",)
    check_symbols = ("corten_get_num_threads",)

    def get_version(self):
        version = self.dynlib.corten_version
        version.restype = ctypes.c_char_p
        return version().decode()


threadpoolctl.register(CortenController)
