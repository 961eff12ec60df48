#!/usr/bin/env bash
# Checks the installed tree: what stands in it, that it may be staged and moved, and that every kind
# of consumer builds against it and computes the right values.
#
#   tests/install.sh [check ...]     tree headers consumers static swap fortran dist spack; all unless told
#
# The tree is built once into build/cmake (cargo's own target folder is shared with cargo build) and
# installed into build/install/prefix. Everything else is tried in build/install/work. The first
# failed check ends the script with its output; the last line counts the checks that passed.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$root/build/install
work=$out/work
prefix=$out/prefix
passed=0
version=$(sed -n 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head -1)

# Nothing of the caller's environment may decide where a library is found.
unset LD_LIBRARY_PATH LD_PRELOAD PKG_CONFIG_PATH CMAKE_PREFIX_PATH CPATH LIBRARY_PATH DESTDIR

# check TEXT COMMAND...: run quietly, count, show the output of a failure and stop.
check() {
    local text=$1 log=$work/log
    shift
    # A subshell: a check may cd and export as it likes.
    if ("$@") >"$log" 2>&1; then
        passed=$((passed + 1))
        printf '  ok    %s\n' "$text"
    else
        printf '  FAIL  %s\n        %s\n' "$text" "$*"
        sed 's/^/        | /' "$log" | tail -60
        exit 1
    fi
}

need() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || { echo "tests/install.sh: $tool is missing; run tests/setup.sh test" >&2; exit 1; }
    done
}
need cmake cargo gcc g++ gfortran pkg-config readelf nm ldd /usr/bin/python3

build() {
    rm -rf "$out"
    mkdir -p "$work"
    check "cmake configure" cmake -S . -B build/cmake -DCORTEN_CARGO_TARGET_DIR="$root/target" \
        -DCORTEN_FORTRAN=ON -DCORTEN_SHARED=ON -DCORTEN_STATIC=ON
    check "cmake build" cmake --build build/cmake
    check "cmake install" cmake --install build/cmake --prefix "$out/first"
    # All checks below run on the moved tree: nothing in it may know where it was installed.
    check "move the tree" mv "$out/first" "$prefix"
    libdir=$(dirname "$(find "$prefix" -name "libcorten.so.$version")")
    compat=$libdir/corten/compat
}

# ---- the tree -----------------------------------------------------------------------------------

expected_files() {
    local lib=${libdir#"$prefix"/}
    sed "s|^LIB|$lib|" <<-END
	LIB/libcorten.so
	LIB/libcorten.so.0
	LIB/libcorten.so.$version
	LIB/libcorten.a
	LIB/pkgconfig/corten.pc
	LIB/cmake/corten/cortenConfig.cmake
	LIB/cmake/corten/cortenConfigVersion.cmake
	LIB/cmake/corten/cortenTargets.cmake
	LIB/corten/compat/libblas.so
	LIB/corten/compat/libblas.so.3
	LIB/corten/compat/libopenblas-corten.so.0
	LIB/corten/compat/libcorten.so.0
	LIB/corten/compat/libcblas.so
	LIB/corten/compat/libcblas.so.3
	LIB/corten/compat/libblas64.so
	LIB/corten/compat/libblas64.so.3
	LIB/corten/compat/libcblas64.so
	LIB/corten/compat/libcblas64.so.3
	LIB/corten/compat/blas.pc
	LIB/corten/compat/cblas.pc
	LIB/corten/compat/blas64.pc
	include/corten/cblas.h
	include/corten/cblas_64.h
	include/corten/blas.h
	include/corten/blas_64.h
	include/corten/corten.h
	include/corten/corten.f90
	include/corten/GNU/corten.mod
	bin/corten-run
	share/corten/corten_threadpoolctl.py
	share/licenses/corten/LICENSE-MIT
	share/licenses/corten/LICENSE-APACHE
	END
    (cd examples-c && find . -type f | sed 's|^\.|share/corten/examples-c|')
}
same_files() { diff <(expected_files | sort) <(cd "$1" && find . ! -type d | sed 's|^\./||' | sort); }
soname_is() { readelf -d "$1" | grep -F "Library soname: [$2]"; }
flag_nodelete() { readelf -d "$1" | grep NODELETE; }
# libc's own family, nothing else
only_libc() {
    local other
    other=$(ldd "$1" | awk '{print $1}' | sed 's|.*/||' |
        grep -v -E '^(linux-vdso\.so\.1|libc\.so\.6|libm\.so\.6|libgcc_s\.so\.1|libpthread\.so\.0|libdl\.so\.2|librt\.so\.1|ld-linux.*)$') || true
    test -z "$other" || { echo "also needs: $other"; return 1; }
}
exports() { grep -E '^[A-Za-z_]' ffi/exports.txt | sed 's/[[:space:]]*$//' | sort; }
globals_are_exports() { diff <(exports) <(nm "$@" --defined-only --extern-only | awk 'NF==3 {print $3}' | sort -u); }
weak_xerbla() {
    diff <(exports | grep xerbla | grep -v -E 'xerbla_array|^corten_') <(nm "$libdir/libcorten.a" | awk '$2 == "W" {print $3}' | sort) &&
        nm "$libdir/libcorten.a" | grep ' W xerbla_$' && nm "$libdir/libcorten.a" | grep ' W cblas_xerbla$'
}
same_inode() { test "$1" -ef "$2"; }
no_path_inside() { ! grep -rlI --exclude-dir=examples-c -e "$root" "$1"; }
staged() {
    DESTDIR=$work/dest cmake --install build/cmake --prefix /opt/corten-x &&
        same_files "$work/dest/opt/corten-x" && test ! -e /opt/corten-x
}
size_below() { echo "$(stat -Lc %s "$1") bytes"; test "$(stat -Lc %s "$1")" -lt "$2"; }
# Every ILP64 routine stands in libblas64 under its plain name, and no suffixed name is left.
blas64_names() {
    local have=$work/have64
    nm -D --defined-only "$compat/libblas64.so.3" | awk '{print $3}' | sort >"$have"
    ! grep -E '64_?$' "$have" &&
        diff <(exports | grep -v '^scipy_' | sed -n -E 's/^([a-z0-9_]+_)64_$/\1/p; s/^(cblas_.*)_64$/\1/p' |
            grep -v '^cblas_.*_$' | sort) \
            <(comm -12 "$have" <(exports | sed -n -E 's/^([a-z0-9_]+_)64_$/\1/p; s/^(cblas_.*)_64$/\1/p' | sort))
}

do_tree() {
    check "every file of the tree is there, and no other" same_files "$prefix"
    check "DESTDIR stages the same tree" staged
    check "no text file of the tree names this checkout" no_path_inside "$prefix"
    check "SONAME libcorten.so.0" soname_is "$libdir/libcorten.so" libcorten.so.0
    check "marked nodelete" flag_nodelete "$libdir/libcorten.so"
    check "libcorten.so needs libc's family only" only_libc "$libdir/libcorten.so"
    check "libblas64.so.3 needs libc's family only" only_libc "$compat/libblas64.so.3"
    check "SONAME libblas64.so.3" soname_is "$compat/libblas64.so.3" libblas64.so.3
    check "libblas64.so.3 has the ILP64 routines under plain names" blas64_names
    check "libblas.so.3 is the same file as libcorten.so" same_inode "$compat/libblas.so.3" "$libdir/libcorten.so"
    check "the shared library exports ffi/exports.txt" globals_are_exports -D "$libdir/libcorten.so"
    check "the static library defines ffi/exports.txt and nothing else" globals_are_exports "$libdir/libcorten.a"
    check "every xerbla is weak in the static library, and nothing else" weak_xerbla
    check "libcorten.so is of sane size" size_below "$libdir/libcorten.so" 60000000
    check "libcorten.a is of sane size" size_below "$libdir/libcorten.a" 80000000
}

# ---- headers ------------------------------------------------------------------------------------

compiles() { # COMPILER STANDARD HEADER... : the headers in this order, alone in a file
    local compiler=$1 std=$2 header text=
    shift 2
    for header; do text+="#include <$header>"$'\n'; done
    case $compiler in g++*) lang=c++ ;; *) lang=c ;; esac
    printf '%sint corten_header_test(void);\n' "$text" |
        $compiler -x $lang -std="$std" -Wall -Wextra -pedantic -Werror -I"$prefix/include/corten" -fsyntax-only -
}
header_matrix() {
    local header
    for header in cblas.h cblas_64.h blas.h blas_64.h corten.h; do compiles "$1" "$2" "$header" || return 1; done
    compiles "$1" "$2" corten.h cblas.h blas.h cblas_64.h blas_64.h cblas.h || return 1
    case $1 in
    gcc) compiles gcc "$2" complex.h cblas.h blas.h corten.h ;;
    *) compiles "$1" "$2" complex cblas.h blas.h corten.h ;;
    esac
}
do_headers() {
    local std
    for std in c99 c11 c17; do check "headers as $std, no warning" header_matrix gcc $std; done
    for std in c++11 c++17 c++20; do check "headers as $std, no warning" header_matrix g++ $std; done
}

# ---- consumers ----------------------------------------------------------------------------------

# links_to PROGRAM LIBRARY: PROGRAM needs that SONAME, and the loader takes it out of our prefix.
links_to() { ldd "$1" && ldd "$1" | grep -E "^[[:space:]]*$2 => $prefix/"; }
links_to_none() { ! ldd "$1" | grep -E 'libcorten|libblas|openblas'; }

# consumer SOURCE LINKAGE CMAKE-ARGUMENT...: LINKAGE is the SONAME it must load from our tree, or static
consumer() {
    local source=$1 linkage=$2 dir=$work/consumer
    shift 2
    rm -rf "$dir"
    cmake -S tests/consumers -B "$dir" -DSOURCE="$source" "$@" && cmake --build "$dir" || return 1
    case $linkage in
    static) links_to_none "$dir/consumer" ;;
    *) links_to "$dir/consumer" "$linkage" ;;
    esac && "$dir/consumer"
}

# by_pc SOURCE LINKAGE MODULE FLAG...: built by hand with what pkg-config says
by_pc() {
    local source=$1 linkage=$2 module=$3 static=
    shift 3
    case " $* " in *" -static "*) static=--static ;; esac
    # shellcheck disable=SC2046
    gcc "tests/consumers/$source" -o "$work/by_pc" "$@" $(pkg-config $static --cflags --libs "$module") || return 1
    case $linkage in
    static) links_to_none "$work/by_pc" && "$work/by_pc" ;;
    *) LD_LIBRARY_PATH=$libdir:$compat links_to "$work/by_pc" "$linkage" && LD_LIBRARY_PATH=$libdir:$compat "$work/by_pc" ;;
    esac
}

do_consumers() {
    local so=libcorten.so.0 found=-DCMAKE_PREFIX_PATH=$prefix
    check "find_package(corten), C" consumer headers.c $so -DMODE=corten "$found"
    check "find_package(corten), C++" consumer headers.c $so -DMODE=corten -DCXX=ON "$found"
    check "find_package(corten), variables" consumer headers.c $so -DMODE=variables "$found"
    check "find_package(corten), corten_static" consumer headers.c static -DMODE=corten_static "$found"
    check "find_package(corten), corten_static, C++" consumer headers.c static -DMODE=corten_static -DCXX=ON "$found"
    check "find_package(BLAS), BLAS_LIBRARIES" consumer plain.c $so -DMODE=blas -DBLAS_LIBRARIES="$libdir/libcorten.so"
    PKG_CONFIG_PATH=$libdir/pkgconfig check "find_package(BLAS), BLA_PREFER_PKGCONFIG" consumer plain.c $so -DMODE=blas \
        -DBLA_PREFER_PKGCONFIG=ON -DBLA_PKGCONFIG_BLAS=corten
    PKG_CONFIG_PATH=$compat check "find_package(BLAS), BLA_PREFER_PKGCONFIG, compat blas.pc" consumer plain.c $so -DMODE=blas \
        -DBLA_PREFER_PKGCONFIG=ON
    check "find_package(BLAS), BLA_VENDOR=Generic on compat" consumer plain.c $so -DMODE=blas \
        -DBLA_VENDOR=Generic -DCMAKE_LIBRARY_PATH="$compat"
    check "find_package(BLAS), BLA_VENDOR=Generic, 64-bit integers" consumer plain.c libblas64.so.3 -DMODE=blas \
        -DBLA_VENDOR=Generic -DBLA_SIZEOF_INTEGER=8 -DCMAKE_LIBRARY_PATH="$compat" -DCMAKE_C_FLAGS=-DWIDE=1
    export PKG_CONFIG_PATH=$libdir/pkgconfig:$compat
    check "pkg-config --validate" pkg-config --validate corten blas cblas blas64
    check "pkg-config tells version $version" pkg-config --exact-version="$version" corten
    check "corten.pc says what the library does" grep -q '^Description: BLAS, convolution and collectives' "$libdir/pkgconfig/corten.pc"
    check "pkg-config, shared" by_pc headers.c $so corten
    check "pkg-config, compat cblas" by_pc headers.c $so cblas
    check "pkg-config, compat blas64" by_pc plain.c libblas64.so.3 blas64 -DWIDE=1
    unset PKG_CONFIG_PATH
    check "own xerbla_, shared link" consumer xerbla.c $so -DMODE=corten "$found"
    check "own xerbla_, static link" consumer xerbla.c static -DMODE=corten_static "$found"
}

# ---- static link with the flags of corten.pc alone ------------------------------------------------

static_only() {
    cmake -S . -B build/cmake-static -DCORTEN_CARGO_TARGET_DIR="$root/target" -DCORTEN_SHARED=OFF &&
        cmake --build build/cmake-static && cmake --install build/cmake-static --prefix "$work/static" &&
        test -z "$(find "$work/static" -name '*.so*')"
}
static_only_pc() {
    PKG_CONFIG_PATH=$(dirname "$(find "$work/static" -name corten.pc)")
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046
    gcc "tests/consumers/$1" -o "$work/so" $(pkg-config --static --cflags --libs corten) &&
        links_to_none "$work/so" && "$work/so"
}
# Two sealed archives in one program: everything but the exports is local, so nothing can clash.
no_clash() {
    local rust=$work/other
    mkdir -p "$rust"
    cat >"$rust/lib.rs" <<-'END'
	#[unsafe(no_mangle)]
	pub extern "C" fn other_sum(n: i32) -> i32 { let v: Vec<i32> = (1..=n).collect(); println!("{v:?}"); v.iter().sum() }
	END
    rustc --edition 2024 -C opt-level=1 --crate-type staticlib -o "$rust/libother.a" "$rust/lib.rs" || return 1
    cat >"$rust/main.c" <<-'END'
	extern int other_sum(int);
	extern float sasum_(const int *, const float *, const int *);
	int main(void) { const float x[2] = {1, -2}; const int n = 2, inc = 1; return !(other_sum(3) == 6 && sasum_(&n, x, &inc) == 3); }
	END
    PKG_CONFIG_PATH=$(dirname "$(find "$work/static" -name corten.pc)")
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046
    gcc "$rust/main.c" -o "$rust/main" "$rust/libother.a" $(pkg-config --static --libs corten) && "$rust/main"
}
do_static() {
    check "install with CORTEN_SHARED=OFF" static_only
    check "static link, flags of pkg-config --static" static_only_pc headers.c
    check "static link, own xerbla_" static_only_pc xerbla.c
    check "find_package(corten) of the static tree" consumer headers.c static -DMODE=corten -DCMAKE_PREFIX_PATH="$work/static"
    PKG_CONFIG_PATH=$libdir/pkgconfig check "fully static program (-static)" by_pc headers.c static corten -static
    check "beside another Rust library in one program" no_clash
}

# ---- swap the BLAS under an existing program ---------------------------------------------------------

swap() {
    # Linked against the system's BLAS by name, run on ours: the loader must take libblas.so.3 from compat.
    gcc tests/consumers/plain.c -o "$work/swap" -L/usr/lib/"$(gcc -print-multiarch)" -l:libblas.so.3 &&
        readelf -d "$work/swap" | grep 'NEEDED.*blas' &&
        LD_LIBRARY_PATH=$compat ldd "$work/swap" | grep -F "$compat/libblas.so.3" && LD_LIBRARY_PATH=$compat "$work/swap"
}
swap_numpy() {
    LD_LIBRARY_PATH=$compat /usr/bin/python3 - "$compat" <<-'END'
	import os, sys
	import numpy as np
	rng = np.random.default_rng(1)
	a = rng.integers(-9, 9, (61, 67)).astype(float)
	assert (a @ a.T == (a.astype(int) @ a.astype(int).T)).all()
	maps = {line.split()[-1] for line in open("/proc/self/maps") if "blas" in line or "corten" in line}
	print(maps)
	ours = os.path.realpath(sys.argv[1])
	assert any(os.path.dirname(m) == ours for m in maps), "Corten was not loaded"
	END
}
do_swap() {
    check "LD_LIBRARY_PATH=compat, a C program" swap
    check "LD_LIBRARY_PATH=compat, NumPy" swap_numpy
}

# ---- Fortran ------------------------------------------------------------------------------------

f90_strict() { gfortran -std=f2008 -Wall -Wextra -pedantic -Werror -c "$prefix/include/corten/corten.f90" -J"$work" -o "$work/corten_f.o"; }
f90_mod() {
    gfortran -I"$prefix/include/corten/GNU" -J"$work" tests/consumers/module.f90 -o "$work/mod" \
        "$libdir/libcorten.so" -Wl,-rpath,"$libdir" && "$work/mod"
}
# Every routine the module declares exists in the library, and it declares every one of our own.
f90_names() {
    local missing
    missing=$(comm -23 <(sed -n -E 's/^    (subroutine|function) ([a-z0-9_]+)\(.*/\2/p' include/corten.f90 |
        sed -E '/^corten_/!s/$/_/' | LC_ALL=C sort -u) <(exports | LC_ALL=C sort))
    test -z "$missing" || { echo "declared in corten.f90, not exported: $missing"; return 1; }
    missing=$(comm -23 <(exports | grep '^corten_' | LC_ALL=C sort) \
        <(sed -n -E 's/.*bind\(C, name="([a-z0-9_]+)"\).*/\1/p' include/corten.f90 | LC_ALL=C sort))
    test -z "$missing" || { echo "exported, not declared in corten.f90: $missing"; return 1; }
}
do_fortran() {
    local found=-DCMAKE_PREFIX_PATH=$prefix
    check "corten.f90 as Fortran 2008, no warning" f90_strict
    check "corten.f90 declares what the library exports" f90_names
    check "Fortran, implicit names" consumer implicit.f90 libcorten.so.0 -DMODE=corten "$found"
    check "Fortran, implicit names, static" consumer implicit.f90 static -DMODE=corten_static "$found"
    check "Fortran, find_package(BLAS)" consumer implicit.f90 libcorten.so.0 -DMODE=blas -DBLAS_LIBRARIES="$libdir/libcorten.so"
    check "Fortran, module from source" consumer module.f90 libcorten.so.0 -DMODE=corten "$found"
    check "Fortran, installed .mod" f90_mod
}

# ---- the examples, the source tarball, the Spack recipe ----------------------------------------------

examples() {
    cmake -S "$prefix/share/corten/examples-c" -B "$work/examples" -DCMAKE_PREFIX_PATH="$prefix" &&
        cmake --build "$work/examples" && cd "$work/examples" && ctest --output-on-failure --no-tests=error
}
do_examples() { check "examples-c of the installed tree" examples; }

dist_builds() {
    rm -rf "$work/dist" && mkdir -p "$work/dist/cargo-home" && tar -xzf "build/corten-$version.tar.gz" -C "$work/dist" &&
        cd "$work/dist/corten-$version" &&
        # No crate, no registry, no network: cargo starts from an empty home. What is missing shows without
        # optimisation too, in a fraction of the time.
        export CARGO_HOME=$work/dist/cargo-home CARGO_NET_OFFLINE=true CARGO_PROFILE_RELEASE_OPT_LEVEL=0 &&
        export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 &&
        cmake -B build -DCORTEN_CARGO_FLAGS=--frozen && cmake --build build &&
        cmake --install build --prefix "$work/dist/prefix" && cd "$root" &&
        consumer headers.c libcorten.so.0 -DMODE=corten -DCMAKE_PREFIX_PATH="$work/dist/prefix" -DCMAKE_BUILD_RPATH="$work/dist/prefix/lib"
}
dist_vendored() {
    local manifest
    cd "$work/dist/corten-$version" || return 1
    for manifest in tests/Cargo.toml ffi/headers/Cargo.toml; do
        test -f "$manifest" || { echo "$manifest is not in the tarball"; return 1; }
        CARGO_HOME=$work/dist/cargo-home CARGO_NET_OFFLINE=true cargo check --quiet --frozen --all-targets \
            --manifest-path "$manifest" || return 1
    done
}
do_dist() {
    check "make dist" make --no-print-directory dist
    prefix=$work/dist/prefix check "the tarball builds with no network and an empty CARGO_HOME" dist_builds
    check "its tests and header generator compile from the vendored crates" dist_vendored
}

do_spack() { check "the Spack recipe against the tree" /usr/bin/python3 tests/consumers/spack_check.py "$prefix"; }

build
for part in "${@:-tree}"; do
    case $part in tree | headers | consumers | static | swap | fortran | examples | dist | spack) ;; *) echo "unknown check: $part" >&2; exit 2 ;; esac
done
if [ $# -eq 0 ]; then set -- tree headers consumers static swap fortran examples spack dist; fi
for part; do
    echo "- $part"
    "do_$part"
done
rm -rf "$work"
echo "install: $passed passed, 0 failed"
