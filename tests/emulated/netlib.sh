#!/bin/sh
# Runs Netlib's 24 BLAS testers over the libblas.so.3 that LD_LIBRARY_PATH finds and prints their verdicts,
# so that two runs can be compared by diff.
#
#   netlib.sh FOLDER shipped|enlarged       FOLDER has the testers and their inputs
#
# The same script runs on the real and on the emulated machine (POSIX sh and busybox). `enlarged` changes
# the sizes of levels 2 and 3 to a few that reach 65, the largest that the testers were compiled for.
folder=$1
sizes=$2
scratch=$(mktemp -d)
cd "$scratch" || exit 1
for type in s d c z; do
    for level in 1 2 3; do
        for tester in xblat$level$type x${type}cblat$level; do
            case $tester in
            xblat1* | x?cblat1) : >in ;;
            xblat*) cat "$folder/${type}blat$level.in" >in ;;
            *) cat "$folder/${type}in$level" >in ;;
            esac
            if [ "$sizes" = enlarged ]; then
                sed -e 's/^.*NUMBER OF VALUES OF N *$/4 NUMBER OF VALUES OF N/' -e '/NUMBER/!s/^.*VALUES OF N *$/1 7 49 65 VALUES OF N/' \
                    in >larger && mv larger in
            fi
            rm -f ./*.out
            "$folder/$tester" <in >said 2>&1
            echo "$tester: exit code $?"
            # The Fortran testers of levels 2 and 3 write to a file.
            cat said ./*.out 2>/dev/null |
                grep -E 'PASS|FAIL|FATAL|SUSPECT|ABANDON|\*\*\*\*|HALF ACCURATE|END OF TESTS|subprogram number|[Ee]rror' | tr -s ' '
        done
    done
done
cd / && rm -rf "$scratch"
