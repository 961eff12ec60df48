# Spack recipe of Corten, in the form that spack-packages takes (API v2). A local repo for now:
#   spack repo add spack/spack_repo/corten
#   spack dev-build corten@main          (from a checkout)
# There is no public download yet: homepage, url and sha256 join with the first release.
# Corten needs no crate, so cargo is called with --frozen and a Spack mirror of the sources is complete.

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Corten(CMakePackage):
    """BLAS, convolution and collectives for CPU training, with a C ABI, written in Rust: every
    routine of Reference BLAS and CBLAS, LP64 and ILP64 in one library, convolution forward and
    backward, a Horovod-like allreduce family through shared memory and the site's MPI; kernels
    chosen at run time."""

    license("MIT OR Apache-2.0")

    version("main")
    version("0.1.0")

    variant("shared", default=True, description="Dependents link the shared library")
    variant("fortran", default=False, description="Compile the Fortran module")

    provides("blas")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.21:", type="build")
    depends_on("rust@1.89:", type="build")

    def cmake_args(self):
        return [
            self.define_from_variant("CORTEN_SHARED", "shared"),
            self.define("CORTEN_STATIC", True),
            self.define_from_variant("CORTEN_FORTRAN", "fortran"),
            self.define("CORTEN_CARGO_FLAGS", "--frozen"),
        ]

    @property
    def libs(self):
        return find_libraries(
            "libcorten", self.prefix, shared=self.spec.satisfies("+shared"), recursive=True
        )

    @property
    def headers(self):
        headers = find_headers(["cblas", "blas", "corten"], self.prefix.include, recursive=True)
        headers.directories = [self.prefix.include.corten]
        return headers

    @run_after("install")
    def setup_standalone_tests(self):
        cache_extra_test_sources(self, "examples-c")

    def test_gemm(self):
        """compile the gemm example against the installation and run it"""
        spec = self.spec["corten"]
        with working_dir(join_path(self.test_suite.current_test_cache_dir, "examples-c")):
            cc = which(os.environ["CC"], required=True)
            flags = spec.headers.include_flags.split() + spec.libs.ld_flags.split()
            flags += [f"-Wl,-rpath,{spec.libs.directories[0]}", "-lm"]
            cc("01_gemm.c", "-o", "gemm", *flags)
            gemm = which("./gemm", required=True)
            out = gemm("300", output=str.split, error=str.split)
            check_outputs(["0 wrong", "OK"], out)
