#!/usr/bin/env bash
# Runs the test suites that other projects wrote (Netlib, NumPy, SciPy, R,
# Octave, threadpoolctl), unmodified, on the library under test.
#
#   tests/trust/run.sh LIBCORTEN_SO COMPAT_DIR [STEP...]
#
# LIBCORTEN_SO  the shared library, used through LD_PRELOAD
# COMPAT_DIR    the folder with libblas.so.3, used through LD_LIBRARY_PATH
# STEP          netlib lapack numpy scipy wheel apps threadpoolctl (default: all)
#
# This file only sets up and hands over; the work is in main.py. Debian's own
# interpreter is named in full because it is the one that holds Debian's NumPy.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -lt 2 ]; then
    sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
CORTEN_TRUST_DIR=${CORTEN_TRUST_DIR:-$(cd "$here/../.." && pwd)/build/trust}
export CORTEN_TRUST_DIR
"$here/setup.sh" "${@:3}"
exec /usr/bin/python3 -B "$here/main.py" "$@"
