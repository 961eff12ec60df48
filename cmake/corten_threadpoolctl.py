"""Makes threadpoolctl (3.2 or later) see Corten: `import corten_threadpoolctl`.

threadpoolctl knows libraries by the real name of their file. Corten has the OpenBLAS
functions that it calls, so its controller for OpenBLAS serves; only the name is new.
"""

import ctypes

import threadpoolctl


class CortenController(threadpoolctl.OpenBLASController):
    internal_api = "corten"
    filename_prefixes = ("libcorten",)
    check_symbols = ("corten_get_num_threads",)

    def get_version(self):
        version = self.dynlib.corten_version
        version.restype = ctypes.c_char_p
        return version().decode()


threadpoolctl.register(CortenController)
