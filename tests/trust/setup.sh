#!/usr/bin/env bash
# Installs what the steps of run.sh need and this machine lacks: Debian packages
# with apt when root, else the list is printed and the script fails; PyPI wheels
# in a virtual environment of our own below CORTEN_TRUST_DIR.
#
#   tests/trust/setup.sh [STEP...]
#
# Does nothing, quickly, when all is there. A tool that is missing is an error,
# never a skipped test.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${CORTEN_TRUST_DIR:-$(cd "$here/../.." && pwd)/build/trust}
steps=" ${*:-netlib lapack numpy scipy wheel apps threadpoolctl} "
wants() { [[ $steps == *" $1 "* ]]; }

packages=(python3 gcc libc6-dev libblas3 binutils)
if wants netlib; then packages+=(libblas-test); fi
if wants lapack; then packages+=(liblapack-test liblapack3); fi
if wants numpy || wants scipy || wants threadpoolctl; then
    packages+=(python3-numpy python3-pytest python3-hypothesis)
fi
if wants numpy; then packages+=(python3-setuptools); fi
if wants scipy; then packages+=(python3-scipy); fi
if wants wheel || wants threadpoolctl; then packages+=(python3-venv); fi
if wants apps; then packages+=(r-base-core octave); fi
if wants threadpoolctl; then packages+=(python3-threadpoolctl liblapack3); fi

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ]; then
        echo "trust: these Debian packages are missing; install them first:" >&2
        echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    echo "trust: installing ${missing[*]}"
    apt=(apt-get -o DPkg::Lock::Timeout=600 -qq)
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    install() { timeout 900 "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; }
    # The package lists may be old or absent: fetch them only when that fails.
    if ! install && ! { timeout 300 "${apt[@]}" update >>"$log" 2>&1 && install; }; then
        cat "$log" >&2
        echo "trust: apt could not install ${missing[*]}" >&2
        exit 1
    fi
    rm -f "$log"
fi

if wants wheel || wants threadpoolctl; then
    venv=$work/venv
    stamp=$venv/requirements.installed
    if ! cmp -s "$here/requirements.txt" "$stamp"; then
        echo "trust: installing PyPI's wheels: $(tr "\n" " " <"$here/requirements.txt")"
        rm -rf "$venv"
        mkdir -p "$work"
        /usr/bin/python3 -m venv "$venv"
        timeout 600 "$venv/bin/pip" install --quiet --disable-pip-version-check \
            --only-binary :all: -r "$here/requirements.txt"
        cp "$here/requirements.txt" "$stamp"
    fi
fi
