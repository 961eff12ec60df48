#!/usr/bin/env bash
# The demonstration behind `make demo`: build, install into a folder of the project, build the examples
# as a user would, run them, then run an unmodified NumPy on the library. Ends with an error if any
# result is wrong or if NumPy did not really run on Corten.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$PWD/build/demo
prefix=$dir/prefix
mkdir -p "$dir"
log=$dir/log

quietly() { # TEXT COMMAND...
    printf '  %s ... ' "$1"
    shift
    local start=$SECONDS
    if "$@" >"$log" 2>&1; then
        echo "done ($((SECONDS - start)) s)"
    else
        echo "FAILED"
        tail -40 "$log" >&2
        exit 1
    fi
}

echo "1. Build and install"
quietly "configure" cmake -S . -B build/cmake -DCORTEN_CARGO_TARGET_DIR="$PWD/target"
quietly "compile (Rust, then the C packaging)" cmake --build build/cmake
rm -rf "$prefix"
quietly "install into ${prefix#"$PWD"/}" cmake --install build/cmake --prefix "$prefix"

echo
echo "2. The examples, built with find_package(corten)"
rm -rf "$dir/examples"
quietly "configure" cmake -S "$prefix/share/corten/examples-c" -B "$dir/examples" -DCMAKE_PREFIX_PATH="$prefix"
quietly "compile" cmake --build "$dir/examples"
for example in 01_gemm 02_solve 03_error_handler 04_fortran 07_convolution; do
    if [ $example = 04_fortran ] && [ ! -x "$dir/examples/$example" ]; then
        echo "  04_fortran: no Fortran compiler here, left out"
        continue
    fi
    echo "  $example"
    "$dir/examples/$example" | sed 's/^/    /'
done

echo
echo "3. An unmodified program: NumPy, without and with LD_PRELOAD"
preload=$(echo "$prefix"/lib*/libcorten.so.0)
cat >"$dir/numpy_demo.py" <<'END'
"""Times a product of two matrices in NumPy and tells which library did it."""
import ctypes, json, sys, time
import numpy as np

class Info(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p),
                ("name", ctypes.c_char_p), ("address", ctypes.c_void_p)]

def provider():
    """The file whose cblas_dgemm NumPy calls, found as the loader finds it: what was loaded with the program (and
    so what was preloaded) first, then the libraries of NumPy's own module."""
    everywhere, module = ctypes.CDLL(None), ctypes.CDLL(np.core._multiarray_umath.__file__)
    symbol = getattr(everywhere, "cblas_dgemm", None) or module.cblas_dgemm
    info = Info()
    address = ctypes.cast(symbol, ctypes.c_void_p)
    ctypes.CDLL(None).dladdr(address, ctypes.byref(info))
    return info.file.decode()

n = int(sys.argv[1])
rng = np.random.default_rng(0)
a, b = rng.random((n, n)), rng.random((n, n))
best = 1e9
for _ in range(3):
    start = time.perf_counter()
    c = a @ b
    best = min(best, time.perf_counter() - start)
row = n // 2  # einsum without optimisation does not use the BLAS
error = float(np.abs(c[row] - np.einsum("k,kj->j", a[row], b)).max())
json.dump({"seconds": best, "gflops": 2e-9 * n**3 / best, "error": error, "library": provider()}, sys.stdout)
END
n=1500
before=$(/usr/bin/python3 "$dir/numpy_demo.py" $n)
after=$(LD_PRELOAD=$preload /usr/bin/python3 "$dir/numpy_demo.py" $n)
# One more run, verbose: the library itself tells what it was asked to do.
LD_PRELOAD=$preload CORTEN_VERBOSE=1 /usr/bin/python3 "$dir/numpy_demo.py" 300 2>"$dir/verbose" >/dev/null
/usr/bin/python3 - "$before" "$after" "$n" "$prefix" "$dir/verbose" <<'END'
import json, os, sys
before, after = json.loads(sys.argv[1]), json.loads(sys.argv[2])
n, prefix, verbose = int(sys.argv[3]), os.path.realpath(sys.argv[4]), sys.argv[5]
for text, r in (("before", before), ("after ", after)):
    print(f"  {text}  a @ b, {n} x {n}: {r['seconds']:.4f} s, {r['gflops']:6.1f} GFLOPS, by {os.path.realpath(r['library'])}")
lines = [line.rstrip() for line in open(verbose) if line.startswith("corten: dgemm")]
print(f"  with CORTEN_VERBOSE=1 the library reports: {lines[0] if lines else 'nothing'}")
print(f"  {before['seconds'] / after['seconds']:.2f} times the speed, results agree to {after['error']:.0e}")
ok = os.path.realpath(after["library"]).startswith(prefix) and not os.path.realpath(before["library"]).startswith(prefix)
if not ok or not lines or not after["error"] < 1e-10 * n:
    sys.exit("FAILED: NumPy did not run on Corten, or the result is wrong")
END
echo
echo "Demo finished. Use it yourself:  LD_PRELOAD=$preload your-program"
