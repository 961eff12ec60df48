#!/usr/bin/env bash
# Runs the level and promise tests once for every way the library can be set up
# by its environment, which it reads only once a process: each instruction set
# up to the best of this machine, no scratch memory, many threads on small work.
#
#   tests/run-levels.sh [CASES]      random cases for each combination (default 5)
#
# CORTEN_LIB names the library, as for `cargo test`.
set -euo pipefail
cd "$(dirname "$0")"
export CORTEN_TEST_CASES=${1:-${CORTEN_TEST_CASES:-5}}
unset CORTEN_ISA CORTEN_SCRATCH_LIMIT CORTEN_NUM_THREADS CORTEN_THREAD_MIN_WORK CORTEN_VERBOSE CORTEN_CONV_MATH \
    CORTEN_TEST_FOREIGN OPENBLAS_NUM_THREADS OMP_NUM_THREADS
CORTEN_LIB=${CORTEN_LIB:-$PWD/../target/release/libcorten.so}
[ -e "$CORTEN_LIB" ] || {
    echo "no library at $CORTEN_LIB: build it, or name another in CORTEN_LIB" >&2
    exit 1
}
CORTEN_LIB=$(realpath "$CORTEN_LIB")
export CORTEN_LIB

tests=(--test level1 --test level2 --test level3 --test extensions --test promises --test oracle --test conv)
cargo build --quiet --locked --tests --bins
best=$(cargo run --quiet --locked --bin probe -- isa)
levels=()
for level in generic avx2 avx512; do
    levels+=("$level")
    if [ "$level" = "$best" ]; then break; fi
done
[ "${levels[-1]}" = "$best" ] || {
    echo "the library names a level that this script does not know: $best" >&2
    exit 1
}

failed=()
passed=0
# run NAME [VARIABLE=VALUE ...]: the tests in that environment, one line.
run() {
    local name=$1 start=$SECONDS log status=0
    shift
    log=$(mktemp)
    env "$@" timeout 600 cargo test --quiet --locked --no-fail-fast "${tests[@]}" >"$log" 2>&1 || status=$?
    local count
    count=$(awk '/^test result:/ { n += $4 } END { print n + 0 }' "$log")
    if [ "$status" -eq 0 ] && [ "$count" -gt 0 ]; then
        printf 'ok    %-28s %3d tests %3d s\n' "$name" "$count" $((SECONDS - start))
        passed=$((passed + 1))
    else
        cat "$log"
        printf 'FAIL  %-28s %3d s\n' "$name" $((SECONDS - start))
        failed+=("$name")
    fi
    rm -f "$log"
}

for level in "${levels[@]}"; do
    # A level that is silently not taken would make its run worthless.
    got=$(CORTEN_ISA=$level cargo run --quiet --locked --bin probe -- isa)
    if [ "$got" != "$level" ]; then
        echo "FAIL  CORTEN_ISA=$level gave $got"
        failed+=("$level")
        continue
    fi
    # The best level is what `cargo test` takes by itself, and the threaded run below.
    if [ "$level" != "$best" ]; then run "isa $level" CORTEN_ISA="$level" CORTEN_NUM_THREADS=1; fi
done
run "no scratch memory" CORTEN_SCRATCH_LIMIT=0
# Enough for some products and for pieces of others: which way they go must not depend on threads.
run "little scratch memory" CORTEN_SCRATCH_LIMIT=400000
run "4 threads on any work" CORTEN_NUM_THREADS=4 CORTEN_THREAD_MIN_WORK=1
run "generic, 3 threads, no scratch" CORTEN_ISA=generic CORTEN_NUM_THREADS=3 CORTEN_THREAD_MIN_WORK=1 CORTEN_SCRATCH_LIMIT=0

echo "$passed passed, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ]
