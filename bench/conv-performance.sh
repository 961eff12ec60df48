#!/bin/sh
# Writes the figures of convolution in docs/performance.md, from races against oneDNN. Arguments are passed to the races
# (--dnnl PATH, --rounds R). A race whose results are in build/conv-performance already is not run again, so that single
# ones can be repeated by removing theirs. With ONLY="NAME..." no other race is run; the rows of those that have no results
# stay as they are on the page.
#
# Everything in docs/performance.md between the two marks below is replaced.
set -eu
cd "$(dirname "$0")"
out=../build/conv-performance
page=../docs/performance.md
from='<!-- Convolution: written by `make -C bench conv-performance`. -->'
to='<!-- Convolution: end. -->'
program=target/release/corten-bench

for mark in "$from" "$to"; do
    grep -qxF "$mark" "$page" || { echo "conv-performance.sh: $page has no line $mark" >&2; exit 1; }
done
mkdir -p "$out" ../docs/plots

# race NAME TITLE OPTIONS...: a race, and its rows of the table: geometric mean (least) of our speed over oneDNN's.
rows=$out/rows.md
: > "$rows"
race() {
    name=$1 title=$2
    shift 2
    if [ ! -f "$out/$name.txt" ]; then
        case " ${ONLY:-$name} " in
        *" $name "*) ;;
        *)
            grep -F "| $title (" "$page" >> "$rows" || true
            return
            ;;
        esac
        echo "== $name" >&2
        "$program" --conv "$@" --csv "$out/$name.csv" --svg "$out/$name.svg" > "$out/$name.new"
        mv "$out/$name.new" "$out/$name.txt"
    fi
    awk -v title="$title" '
        / geometric mean / {
            sub(":", "", $2); mean[$1, $2] = $5 + 0; least[$1, $2] = $7 + 0; count[$1] = $9
            if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 }
        }
        function cell(l, p) { return (l, p) in mean ? sprintf("%.2f (%.2f)", mean[l, p], least[l, p]) : "" }
        END {
            for (i = 1; i <= n; i++) {
                l = order[i]
                printf "| %s (%d) | %s | %s | %s | %s |\n", title, count[l], toupper(l), cell(l, "fwd"), cell(l, "bwd_d"), cell(l, "bwd_w")
            }
        }' "$out/$name.txt" >> "$rows"
}
race resnet50 "ResNet-50, minibatch 16" --mb 16 --set resnet50 "$@"
race resnet50-mb64 "ResNet-50, minibatch 64" --mb 64 --set resnet50 "$@"
race resnet50-t2 "ResNet-50, minibatch 16, two threads" --mb 16 --threads 2 --set resnet50 "$@"
race resnet50-mb64-t2 "ResNet-50, minibatch 64, two threads" --mb 64 --threads 2 --set resnet50 "$@"
race resnet50-own "ResNet-50, minibatch 16, oneDNN in its own layout" --mb 16 --own-layout --set resnet50 "$@"
race resnet50-plan "ResNet-50, minibatch 1, weights prepared" --mb 1 --plan --passes fwd,bwd_d --set resnet50 "$@"
race resnet50-mb1 "ResNet-50, minibatch 1" --mb 1 --set resnet50 "$@"
race resnet50-mb1-t2 "ResNet-50, minibatch 1, two threads" --mb 1 --threads 2 --set resnet50 "$@"
race alexnet "AlexNet, minibatch 16" --set alexnet "$@"
race alexnet-t2 "AlexNet, minibatch 16, two threads" --threads 2 --set alexnet "$@"
race first "First layers, minibatch 16" --set first "$@"
race first-t2 "First layers, minibatch 16, two threads" --threads 2 --set first "$@"
race cosmoflow "CosmoFlow, minibatch 1" --mb 1 --set cosmoflow "$@"
race cosmoflow-mb2 "CosmoFlow, minibatch 2" --mb 2 --set cosmoflow "$@"
race cosmoflow-mb4 "CosmoFlow, minibatch 4" --mb 4 --set cosmoflow "$@"
race cosmoflow-mb4-t2 "CosmoFlow, minibatch 4, two threads" --mb 4 --threads 2 --set cosmoflow "$@"
race resnext "ResNeXt-50 32x4d, grouped, minibatch 16" --set resnext "$@"
race resnext-t2 "ResNeXt-50 32x4d, grouped, minibatch 16, two threads" --threads 2 --set resnext "$@"
race mobilenet "MobileNet, depthwise, minibatch 16" --set mobilenet "$@"
race mobilenet-t2 "MobileNet, depthwise, minibatch 16, two threads" --threads 2 --set mobilenet "$@"

[ ! -f "$out/resnet50.svg" ] || cp "$out/resnet50.svg" ../docs/plots/conv-resnet50.svg
{
    sed "/^$(printf '%s' "$from" | sed 's/[.*[\^$/]/\\&/g')\$/q" "$page"
    printf '\n| problems | layout | forward | backward-data | backward-weights |\n|---|---|---|---|---|\n'
    cat "$rows"
    printf '\n![our speed over that of oneDNN, ResNet-50](plots/conv-resnet50.svg)\n\n'
    sed -n "/^$(printf '%s' "$to" | sed 's/[.*[\^$/]/\\&/g')\$/,\$p" "$page"
} > "$out/page.md"
cp "$out/page.md" "$page"
echo "written: docs/performance.md, docs/plots/conv-resnet50.svg" >&2
