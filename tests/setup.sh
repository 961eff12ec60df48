#!/usr/bin/env bash
# Installs what a target of the Makefile needs and the machine lacks.
#
#   tests/setup.sh build|demo|test
#
# Each line of the table below is a Debian package and a command that succeeds when it is there, so a
# machine set up in another way passes too. Missing packages are installed with apt when this is root
# on a Debian-like system; otherwise the list is printed and the script fails. With nothing missing
# neither apt nor the network is touched.
set -euo pipefail
cd "$(dirname "$0")/.."
level=${1:-test}
case $level in
build) levels=build ;;
demo) levels='build demo' ;;
test) levels='build demo test' ;;
*) echo "usage: tests/setup.sh build|demo|test" >&2; exit 2 ;;
esac

fail() {
    echo "tests/setup.sh: $*" >&2
    exit 1
}

links() { printf 'int main(void) { return 0; }\n' | gcc -x c - "$@" -o /dev/null 2>/dev/null; }

# level | package | present when
table() {
    cat <<-'END'
	build|gcc|command -v gcc && links
	build|libc6-dev|links -lm
	build|binutils|command -v ld && command -v objcopy && command -v ar
	build|cmake|command -v cmake
	build|make|command -v make
	demo|python3|test -x /usr/bin/python3
	demo|python3-numpy|/usr/bin/python3 -c "import numpy"
	test|g++|command -v g++
	test|gfortran|command -v gfortran
	test|pkg-config|command -v pkg-config
	test|libblas3|links -l:libblas.so.3
	test|libopenblas-dev|links -lopenblas
	test|python3-venv|/usr/bin/python3 -c "import ensurepip, venv"
	test|strace|command -v strace
	test|openmpi-bin|command -v mpirun
	test|libopenmpi3|links -l:libmpi.so.40
	END
}

# ---- Rust: not from apt, whose version is too old on many releases --------------------------------

wanted=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml | head -1)
{ command -v cargo && command -v rustc; } >/dev/null ||
    fail "Rust $wanted or newer is missing: install it with rustup (https://rustup.rs), or load your site's module"
have=$(rustc --version | awk '{print $2}')
[ "$(printf '%s\n' "$wanted" "$have" | sort -V | head -1)" = "$wanted" ] ||
    fail "Rust $wanted or newer is needed, this is $have (rustup update stable)"
if [ "$level" = test ]; then
    for component in fmt clippy; do
        cargo $component --version >/dev/null 2>&1 && continue
        package=$component
        [ $component = fmt ] && package=rustfmt
        command -v rustup >/dev/null || fail "cargo $component is missing: install the component $package of your Rust"
        rustup component add "$package"
    done
fi

# ---- system packages ----------------------------------------------------------------------------

missing=()
while IFS='|' read -r at package present; do
    case " $levels " in *" $at "*) ;; *) continue ;; esac
    (eval "$present") </dev/null >/dev/null 2>&1 || missing+=("$package")
done < <(table)

if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        echo "installing: ${missing[*]}"
        export DEBIAN_FRONTEND=noninteractive
        log=$(mktemp)
        { apt-get -o DPkg::Lock::Timeout=600 update && apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
            { tail -20 "$log" >&2; fail "apt-get could not install: ${missing[*]}"; }
        rm -f "$log"
    elif command -v apt-get >/dev/null; then
        fail "missing packages; install them with
    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    else
        fail "missing (Debian's package names): ${missing[*]}"
    fi
fi
have=$(cmake --version | awk 'NR==1 {print $3}')
[ "$(printf '%s\n' 3.21 "$have" | sort -V | head -1)" = 3.21 ] || fail "CMake 3.21 or newer is needed, this is $have"

# ---- the external suites have a list of their own -------------------------------------------------

if [ "$level" = test ] && [ -x tests/trust/setup.sh ]; then tests/trust/setup.sh; fi
