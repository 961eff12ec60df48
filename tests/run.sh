#!/usr/bin/env bash
# What `make test` runs: every step with a headline and its time, stopping at the first failure.
# The last line counts the steps. Steps may be named to run only those:  tests/run.sh [step ...]
set -euo pipefail
cd "$(dirname "$0")/.."
export CORTEN_LIB=$PWD/target/release/libcorten.so
# What is built once and thrown away needs no notes for the next time.
if [ -n "${CI:-}" ]; then export CARGO_INCREMENTAL=0; fi

do_fmt() {
    cargo fmt --all --check
    cargo fmt --manifest-path tests/Cargo.toml --check
    cargo fmt --manifest-path ffi/headers/Cargo.toml --check
    cargo fmt --manifest-path bench/Cargo.toml --check
}
do_clippy() { make --no-print-directory clippy; }
do_headers() { make --no-print-directory headers-check; }
# unit_tests [--no-run]: the core's, optimised, and those of the C ABI, which look at arguments only. `--lib`: no second core for
# documentation that has no code to run.
unit_tests() {
    cargo test --quiet --locked -p corten-core --lib "$@"
    cargo test --quiet --locked --profile unoptimised -p corten --lib "$@"
}
# The library is one long optimisation on one core: the unit tests compile beside it.
do_build() {
    unit_tests --no-run &
    local tests=$!
    cargo build --release --locked -p corten
    wait "$tests"
}
do_core() {
    unit_tests
    cargo test --quiet --locked --manifest-path bench/Cargo.toml
}
do_abi() { cargo test --quiet --locked --manifest-path tests/Cargo.toml; }
do_onednn() { tests/onednn.sh; }
do_mpi() { tests/mpi.sh; }
do_levels() { tests/run-levels.sh; }
do_install() { tests/install.sh; }
do_trust() {
    local so compat
    so=$(echo "$PWD"/build/install/prefix/lib*/libcorten.so)
    compat=$(dirname "$so")/corten/compat
    tests/trust/run.sh "$so" "$compat"
}

describe() {
    case $1 in
    fmt) echo "formatting" ;;
    clippy) echo "lints, warnings are errors" ;;
    headers) echo "headers are what the source gives" ;;
    build) echo "the library, and its unit tests beside it" ;;
    core) echo "unit tests of the core, the C ABI and the benchmark" ;;
    abi) echo "every routine through the C ABI, and the promises" ;;
    onednn) echo "convolution against oneDNN" ;;
    mpi) echo "the collectives under Open MPI, MPICH and Intel MPI" ;;
    levels) echo "the same at every instruction set, threaded, and without scratch memory" ;;
    install) echo "install tree, consumers, tarball, Spack recipe" ;;
    trust) echo "external suites: Netlib BLAS and LAPACK, NumPy, SciPy, R, Octave" ;;
    *) echo "unknown step: $1" >&2; exit 2 ;;
    esac
}

if [ $# -eq 0 ]; then set -- fmt clippy headers build core abi onednn mpi levels install trust; fi
for step; do describe "$step" >/dev/null; done
passed=0
for step; do
    printf '\n== %s: %s\n' "$step" "$(describe "$step")"
    start=$SECONDS
    # A shell of its own with -e: inside `if` or `||` bash would go on after a failed command.
    set +e
    (set -e; "do_$step")
    status=$?
    set -e
    if [ $status -ne 0 ]; then
        printf '\n== %s FAILED after %d s\n%d passed, 1 failed\n' "$step" $((SECONDS - start)) $passed
        exit 1
    fi
    passed=$((passed + 1))
    printf '== %s ok, %d s\n' "$step" $((SECONDS - start))
done
printf '\n%d passed, 0 failed\n' $passed
