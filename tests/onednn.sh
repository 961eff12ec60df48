#!/usr/bin/env bash
# Convolution against oneDNN: random problems, three passes, both layouts, the results compared (bench/src/conv.rs, the set
# `random`). oneDNN 3.2 comes from PyPI into build/onednn, or is named in CORTEN_BENCH_DNNL. A library that cannot be had, or
# that answers too few of the problems, is a failure.
#
#   tests/onednn.sh         needs a built library (CORTEN_LIB)
set -euo pipefail
cd "$(dirname "$0")/.."
export CORTEN_LIB=${CORTEN_LIB:-$PWD/target/release/libcorten.so}
if [ -z "${CORTEN_BENCH_DNNL:-}" ]; then
    dir=$PWD/build/onednn
    if [ ! -e "$dir/done" ]; then
        rm -rf "$dir"
        /usr/bin/python3 -m venv "$dir"
        timeout 300 "$dir/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
            onednn-cpu-gomp==2023.2.0 || { echo "tests/onednn.sh: PyPI's onednn-cpu-gomp could not be installed" >&2; exit 1; }
        touch "$dir/done"
    fi
    export CORTEN_BENCH_DNNL=$dir/lib/libdnnl.so.3
fi
[ -e "$CORTEN_BENCH_DNNL" ] || { echo "tests/onednn.sh: no $CORTEN_BENCH_DNNL" >&2; exit 1; }
timeout 300 cargo run --quiet --locked --manifest-path bench/Cargo.toml -- --conv --check --set random
