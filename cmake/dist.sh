#!/usr/bin/env bash
# Writes build/corten-<version>.tar.gz: the sources and, in vendor/, every crate the lock files name,
# so that the library, its tests and its header generator build with no network. The library itself
# needs no crate at all; .cargo/config.toml in the tarball points cargo to vendor/ for the rest.
#
# The same sources give the same bytes: sorted names, no owner, one time stamp (SOURCE_DATE_EPOCH,
# or that of the last commit).
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head -1)
name=corten-$version
stage=build/dist/$name
rm -rf build/dist
mkdir -p "$stage"

if git rev-parse --git-dir >/dev/null 2>&1; then
    # Files known to git and new ones that are not ignored; a file deleted but not yet committed is left out.
    git ls-files --cached --others --exclude-standard -z
    epoch=$(git log -1 --format=%ct 2>/dev/null || date +%s)
else
    find . -type f -not -path './build/*' -not -path '*/target/*' -not -path './vendor/*' -not -path './.cargo/*' -print0
    epoch=$(stat -c %Y Cargo.toml)
fi >build/dist/files
while IFS= read -r -d '' file; do
    if [ -e "$file" ] || [ -L "$file" ]; then printf '%s\0' "$file"; fi
done <build/dist/files >build/dist/present
tar --null -T build/dist/present -cf - | tar -xf - -C "$stage"

sync=()
for manifest in tests ffi/headers bench; do
    if [ -f "$manifest/Cargo.lock" ]; then sync+=(--sync "$manifest/Cargo.toml"); fi
done
mkdir -p "$stage/.cargo"
if [ -f .cargo/config.toml ] && [ -d vendor ]; then
    # This checkout is itself an unpacked tarball.
    cp -r vendor "$stage/vendor"
    cp .cargo/config.toml "$stage/.cargo/config.toml"
else
    cargo vendor --quiet --locked "${sync[@]}" "$stage/vendor" >/dev/null
    # Two kinds of ballast, most of the bytes: OpenBLAS's whole source (the tests link the system's) and
    # bindings of Windows. The crates stay, for the lock files; their lists of file checksums are emptied.
    for crate in "$stage"/vendor/openblas-src* "$stage"/vendor/windows*; do
        [ -d "$crate" ] || continue
        case ${crate##*/} in
        windows*) rm -rf "${crate:?}/src" "${crate:?}/lib" && mkdir "$crate/src" && touch "$crate/src/lib.rs" ;;
        *) rm -rf "${crate:?}/source" ;;
        esac
        sed -i -E 's/"files":\{[^}]*\}/"files":{}/' "$crate/.cargo-checksum.json"
    done
    cat >"$stage/.cargo/config.toml" <<-'END'
	# The crates of the tests and of the header generator are in vendor/.
	[source.crates-io]
	replace-with = "vendored-sources"

	[source.vendored-sources]
	directory = "vendor"
	END
fi

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$epoch}" \
    -C build/dist -cf - "$name" | gzip -n -9 >"build/$name.tar.gz"
rm -rf build/dist
du -h "build/$name.tar.gz"
