#!/bin/sh
# Writes the figures of docs/performance.md and the pictures of docs/plots, from one race on one thread, one on two, one of
# eight callers, and the collectives with two and four ranks (next to the `mpirun` of the PATH; CORTEN_BENCH_MPIRUN
# names another, CORTEN_BENCH_MPI its library). Arguments are passed to the races of the BLAS (--venv DIR,
# --lib NAME=PATH, --rounds R).
#
# Everything in docs/performance.md from the mark below to the end is replaced. `performance.sh collectives` measures
# these alone and replaces their part of the page, `performance.sh blas ARGUMENTS` all but these.
set -eu
cd "$(dirname "$0")"
out=../build/performance
plots=../docs/plots
page=../docs/performance.md
mark='<!-- Figures: written by `make performance`. -->'
program=target/release/corten-bench

grep -qxF "$mark" "$page" || { echo "performance.sh: $page has no line $mark" >&2; exit 1; }
rm -rf "$out"
mkdir -p "$out" "$plots"

# race NAME OPTIONS...: a race, its table in $out/NAME.md, its pictures in $out/NAME/
race() {
    name=$1
    shift
    echo "== $name" >&2
    "$program" "$@" --csv "$out/$name.csv" --markdown "$out/$name.md" --svg "$out/$name" > "$out/$name.txt"
    tail -n 8 "$out/$name.txt"
}
# collectives RANKS: likewise
collectives() {
    echo "== $1 ranks" >&2
    "$program" comm --ranks "$1" --mpirun "${CORTEN_BENCH_MPIRUN:-mpirun}" --csv "$out/r$1.csv" --markdown "$out/r$1.md" \
        --svg "$out/r$1" > "$out/r$1.txt"
}
# Their part of the page.
collectives_page() {
    printf '\n### Collectives\n'
    for ranks in 2 4; do
        printf '\n#### %s ranks\n\n' "$ranks"
        sed -e 's/^| bytes/<details><summary>All sizes<\/summary>\n\n&/' "$out/r$ranks.md"
        printf '\n</details>\n'
        for way in hot dirty; do
            cp "$out/r$ranks/allreduce-$way-r$ranks.svg" "$plots/"
            printf '\n![allreduce of %s ranks, %s buffers](plots/allreduce-%s-r%s.svg)\n' "$ranks" "$way" "$way" "$ranks"
        done
    done
}
if [ "${1-}" = collectives ]; then
    collectives 2
    collectives 4
    { sed '/^### Collectives$/,$d' "$page" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'; collectives_page; } > "$out/page.md"
    cp "$out/page.md" "$page"
    exit
fi
only_blas=
if [ "${1-}" = blas ]; then
    only_blas=yes
    shift
fi
race t1 --threads 1 --set performance "$@"
race t2 --threads 2 --set short "$@"
race t2-c8 --threads 2 --callers 8 "$@" --shapes "sgemm NN 16 16 16" "sgemm NN 64 64 64" "sgemm NN 256 256 256" \
    "dgemm NN 64 64 64" "dgemm NN 500 500 500" "dgemv N 64 64" "dgemv T 500 500" "ddot 1000"
[ -n "$only_blas" ] || { collectives 2; collectives 4; }

# The pictures that the page shows; all others stay in $out. Those of convolution are conv-performance.sh's.
shown="sgemm-nn dgemm-nn cgemm-nn zgemm-nn strsm-llnn dtrsm-llnn dsyrk-ln sgemv-n dgemv-n dgemv-t dsymv-l ddot daxpy ratio"
find "$plots" -name '*.svg' ! -name 'conv-*' ! -name "${only_blas:+allreduce-*}" -delete
{
    sed "/^$(printf '%s' "$mark" | sed 's/[.*[\^$/]/\\&/g')\$/,\$d" "$page"
    printf '%s\n\n## Figures\n' "$mark"
    for name in t1 t2 t2-c8; do
        case $name in
            t1) title="One thread" ;;
            t2) title="Two threads" ;;
            *) title="Two threads, eight callers at once" ;;
        esac
        printf '\n### %s\n\n' "$title"
        cat "$out/$name.md"
        for picture in $shown; do
            [ -f "$out/$name/$picture-$name.svg" ] || continue
            cp "$out/$name/$picture-$name.svg" "$plots/"
            printf '\n![%s, %s](plots/%s-%s.svg)\n' "$picture" "$title" "$picture" "$name"
        done
    done
    if [ -n "$only_blas" ]; then printf '\n' && sed -n '/^### Collectives$/,$p' "$page"; else collectives_page; fi
} > "$out/page.md"
cp "$out/page.md" "$page"
echo "written: docs/performance.md, docs/plots" >&2
