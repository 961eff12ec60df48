"""Checks the Spack recipe without Spack: usage spack_check.py <installed prefix>.

Spack is neither in Debian nor on PyPI, so the recipe runs here against a small stand-in for
spack.package that has the same meaning for the few names the recipe uses: find_libraries and
find_headers really search, define() really formats, which() really executes. Checked are
- that the recipe is valid Python and declares what a provider of BLAS must,
- that libs and headers find the files of the installed tree, shared and static,
- that every option it passes exists in CMakeLists.txt, and Rust and CMake versions agree with the sources,
- that its test method compiles and runs the example, and fails on a wrong output.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "spack/spack_repo/corten/packages/corten/package.py"


class Prefix(str):
    """A path whose attributes are subfolders, as in Spack."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Prefix(os.path.join(self, name))


class Files(list):
    """Spack's LibraryList and HeaderList, as far as recipes use them."""

    def __init__(self, files):
        super().__init__(sorted(files))
        self.directories = list(dict.fromkeys(os.path.dirname(f) for f in self))

    @property
    def names(self):
        return [re.sub(r"^lib|\.(so|a)$", "", os.path.basename(f)) for f in self]

    @property
    def ld_flags(self):
        return " ".join([f"-L{d}" for d in self.directories] + [f"-l{n}" for n in self.names])

    @property
    def include_flags(self):
        return " ".join(f"-I{d}" for d in self.directories)


def find_libraries(names, root, shared=True, recursive=False):
    assert recursive, "the stand-in knows the recursive search only"
    names = [names] if isinstance(names, str) else names
    wanted = {f"{n}.{'so' if shared else 'a'}" for n in names}
    return Files(str(p) for p in Path(root).rglob("*") if p.name in wanted)


def find_headers(names, root, recursive=False):
    assert recursive, "the stand-in knows the recursive search only"
    names = [names] if isinstance(names, str) else names
    return Files(str(p) for p in Path(root).rglob("*.h") if p.stem in names)


class Executable:
    def __init__(self, path):
        self.path = path

    def __call__(self, *args, output=None, error=None):
        run = subprocess.run([self.path, *args], capture_output=True, text=True, timeout=120)
        if run.returncode:
            raise RuntimeError(f"{self.path} {' '.join(args)}: {run.returncode}\n{run.stdout}{run.stderr}")
        return (run.stdout if output else "") + (run.stderr if error else "")


def which(name, required=False):
    path = os.path.abspath(name) if os.sep in name else shutil.which(name)
    if path is None or not os.access(path, os.X_OK):
        assert not required, f"{name} is not there"
        return None
    return Executable(path)


def check_outputs(expected, actual):
    for text in expected:
        if not re.search(text, actual):
            raise RuntimeError(f"expected {text!r} in:\n{actual}")


@contextlib.contextmanager
def working_dir(path):
    old = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(old)


declared = []


def directive(name):
    return lambda *args, **kwargs: declared.append((name, args, kwargs))


class Spec:
    """The concrete spec of the package: variants as a dictionary, spec[name] is the package itself."""

    def __init__(self, package, variants):
        self.package, self.variants = package, variants

    def satisfies(self, text):
        assert text[0] in "+~" and text[1:] in self.variants, f"no such variant: {text}"
        return self.variants[text[1:]] == (text[0] == "+")

    def __getitem__(self, name):
        assert name == "corten"
        return self.package


class CMakePackage:
    """The build system's base class; variants start at their declared defaults."""

    def __init__(self, prefix, **variants):
        known = {a[0]: k["default"] for n, a, k in declared if n == "variant"}
        assert set(variants) <= set(known)
        self.prefix = Prefix(prefix)
        self.spec = Spec(self, {**known, **variants})

    @staticmethod
    def define(name, value):
        kind = "BOOL" if isinstance(value, bool) else "STRING"
        return f"-D{name}:{kind}={('ON' if value else 'OFF') if isinstance(value, bool) else value}"

    def define_from_variant(self, name, variant):
        assert variant in self.spec.variants, f"no such variant: {variant}"
        return self.define(name, self.spec.variants[variant])


def load_recipe():
    names = dict(
        find_libraries=find_libraries, find_headers=find_headers, which=which, working_dir=working_dir,
        check_outputs=check_outputs, join_path=os.path.join, run_after=lambda phase: lambda f: f,
        cache_extra_test_sources=lambda package, path: package.cached.append(path),
    )
    for name in ("license", "version", "variant", "provides", "depends_on", "maintainers"):
        names[name] = directive(name)
    package = types.ModuleType("spack.package")
    package.__dict__.update(names)
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[name] = types.ModuleType(name)
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage = CMakePackage
    sys.modules["spack.package"] = package
    sys.modules["spack_repo.builtin.build_systems.cmake"] = cmake
    scope = {}
    exec(compile(RECIPE.read_text(), str(RECIPE), "exec"), scope)
    return scope["Corten"]


def main(prefix):
    prefix = os.path.realpath(prefix)
    recipe = load_recipe()
    said = lambda name: [(a, k) for n, a, k in declared if n == name]
    assert (("blas",), {}) in said("provides")
    assert [a for a, _ in said("license")] == [("MIT OR Apache-2.0",)]

    # Versions agree with the sources they repeat.
    current = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M).group(1)
    assert current in [a[0] for a, _ in said("version")], f"the recipe does not know version {current}"
    dependencies = [a[0] for a, _ in said("depends_on")]
    rust = re.search(r'^rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M).group(1)
    lists = (ROOT / "CMakeLists.txt").read_text()
    cmake = re.search(r"cmake_minimum_required\(VERSION (.*)\)", lists).group(1)
    assert f"rust@{rust}:" in dependencies, f"Cargo.toml wants Rust {rust}, the recipe {dependencies}"
    assert f"cmake@{cmake}:" in dependencies, f"CMakeLists.txt wants CMake {cmake}, the recipe {dependencies}"

    # Options: each exists, with the type it is given.
    options = set(re.findall(r"^option\((\w+)", lists, re.M))
    strings = set(re.findall(r"^set\((\w+) .* CACHE STRING", lists, re.M))
    for argument in recipe(prefix).cmake_args():
        name, kind = re.match(r"-D(\w+):(\w+)=", argument).groups()
        assert name in (options if kind == "BOOL" else strings), f"{argument} is no option of CMakeLists.txt"

    # libs and headers of the installed tree; spec["blas"].libs must be one library named corten.
    for shared in (True, False):
        libs = recipe(prefix, shared=shared).libs
        assert libs.names == ["corten"] and os.path.exists(libs[0]), f"libs: {libs}"
        assert libs[0].endswith(".so" if shared else ".a"), libs
    headers = recipe(prefix).headers
    assert {"cblas.h", "blas.h", "corten.h"} <= {os.path.basename(h) for h in headers}, headers
    assert headers.directories == [os.path.join(prefix, "include", "corten")], headers.directories

    # The standalone test, from the cached sources, as spack test run does it.
    os.environ.setdefault("CC", "gcc")
    package = recipe(prefix)
    package.cached = []
    package.setup_standalone_tests()
    with tempfile.TemporaryDirectory() as cache:
        for path in package.cached:
            shutil.copytree(ROOT / path, os.path.join(cache, path))
        package.test_suite = types.SimpleNamespace(current_test_cache_dir=cache)
        package.test_gemm()
        # It must be able to fail: the same test on an example that says something else.
        source = Path(cache, "examples-c/01_gemm.c")
        source.write_text('#include <stdio.h>\nint main(void) { puts("1 wrong"); return 0; }\n')
        try:
            package.test_gemm()
        except RuntimeError:
            pass
        else:
            raise AssertionError("the recipe's test passes whatever the example prints")
    print("Spack recipe: OK")


if __name__ == "__main__":
    main(sys.argv[1])
