"""Netlib's LAPACK testers (package liblapack-test) on Netlib's LAPACK over our BLAS.

Every tester runs with every shipped input twice: over Netlib's reference BLAS and over
ours. Ours must pass each group of tests and of error exits that the reference passes,
and where the reference fails some tests, fail no more. Debian's LAPACK folder is named
on the library path because the default liblapack.so.3 may be OpenBLAS's own LAPACK,
which calls no outside BLAS.

The inputs `*bak`, `*bal` have no threshold: they print their largest error, and in
Netlib's own run some are Infinity. What counts there is that all examples ran and that
no INFO differs.

Eigenvectors by inverse iteration (results 11 to 14 of the nonsymmetric problem, threshold
20) are a matter of luck: of 150 seeds, some of these results were over the threshold in 9
(s) and 6 (d) with Netlib's BLAS, up to 101, in 9 and 4 with OpenBLAS, in 4 and 6 with ours
on AVX-512 and in 8 and 4 on AVX2. The input has one seed. So a few of them, not far over
the threshold, do not count; every other result does.
"""

import re

import trust

FOLDER = trust.SYSTEM_LIBS / "lapack"
REFERENCE_BLAS = trust.SYSTEM_LIBS / "blas"
SHARED_INPUTS = ("nep", "sep", "se2", "svd", "glm", "gqr", "gsv", "csd", "lse")
TYPED_INPUTS = ("ec", "ed", "gg", "gd", "sb", "sg", "bb", "bak", "bal", "gbak", "gbal")
TROUBLE = re.compile(r"\*\*\*|illegal|INFO *=|returned with|error messages|Error\(s\)|fails", re.I)


def programs():
    """Every tester with its inputs."""
    for t in "sdcz":
        shared = [f"{name}.in" for name in SHARED_INPUTS]
        yield f"xeigtst{t}", shared + [f"{t}{name}.in" for name in TYPED_INPUTS]
        yield f"xlintst{t}", [f"{t}test.in"]
        yield f"xlintstrf{t}", [f"{t}test_rfp.in"]
    yield "xlintstds", ["dstest.in"]
    yield "xlintstzc", ["zctest.in"]


# A result of inverse iteration, and how many may be over the threshold by how much.
BY_LUCK = re.compile(r"Matrix order= ?\d+, type= ?\d+, seed=.* result 1[1-4] is (\S+)$")
LUCK_AT_MOST, LUCK_BELOW = 4, 100.0


def outcome(program, shipped, env, cwd):
    """Runs one tester: ({group: tests failed}, lines that must be the same, lines of trouble)."""
    stdin = (FOLDER / shipped).read_text()
    result = trust.run([FOLDER / program], env=env, cwd=cwd, stdin=stdin, timeout=180)
    lines = [" ".join(line.split()) for line in (result.out + result.err).splitlines()]
    what = f"{program} {shipped}"
    if result.rc != 0 or not any(line.startswith("End of tests") for line in lines):
        raise trust.Failure(f"{what}: exit code {result.rc}\n{trust.tail(result.out + result.err)}")
    failed, fixed, trouble = {}, [], []
    by_luck = 0
    for line in lines:
        if shipped == "nep.in" and (m := BY_LUCK.match(line)):
            by_luck += float(m[1]) < LUCK_BELOW
        elif m := re.match(r"All tests for (.+?) passed the threshold", line):
            failed[m[1]] = failed.get(m[1], 0)
        elif m := re.match(r"(.+?):? +(\d+) out of +\d+ tests failed to pass", line):
            group = m[1].rstrip(":").strip()
            failed[group] = failed.get(group, 0) + int(m[2]) - (by_luck if by_luck <= LUCK_AT_MOST else 0)
            by_luck = 0
        elif re.search(r"passed the tests of the error exits|where info is|examples tested", line):
            fixed.append(line)
        elif TROUBLE.search(line):
            trouble.append(line)
    if not failed and not fixed:
        raise trust.Failure(f"{what}: no verdict found\n{trust.tail(result.out)}")
    return failed, fixed, trouble


def compare(what, expected, got):
    (failed0, fixed0, trouble0), (failed1, fixed1, trouble1) = expected, got
    faults = []
    # A group that fails is named with its first letters only: `STR` for `STR routines`.
    allowed = {group.split()[0]: 0 for group in failed0}
    for group, count in failed0.items():
        allowed[group.split()[0]] += count
    counts = {}
    for group, count in failed1.items():
        counts[group.split()[0]] = counts.get(group.split()[0], 0) + count
    for group, count in allowed.items():
        if group not in counts:
            faults.append(f"{what}: {group} was not tested")
    for group, count in counts.items():
        if count > allowed.get(group, 0):
            faults.append(f"{what}: {group}: {count} tests failed, {allowed.get(group, 0)} over the reference")
    if fixed0 != fixed1:
        faults.append(f"{what}: expected {sorted(set(fixed0) - set(fixed1))}, "
                      f"found {sorted(set(fixed1) - set(fixed0))}")
    if new := [line for line in trouble1 if line not in trouble0]:
        faults.append(f"{what}: " + "; ".join(new[:4]))
    return faults


def jobs(context):
    def run_reference(program, shipped):
        env = trust.environment(LD_LIBRARY_PATH=f"{FOLDER}:{REFERENCE_BLAS}")
        return outcome(program, shipped, env, context.scratch("lapack", "reference", program, shipped))

    reference = trust.Once(run_reference)

    def tester(program, inputs, title, **settings):
        def run():
            tests = 0
            faults = []
            for shipped in inputs:
                cwd = context.scratch("lapack", title, program, shipped)
                expected = reference(program, shipped)
                try:
                    got = outcome(program, shipped, context.path(FOLDER, **settings), cwd)
                except trust.Failure as failure:
                    faults.append(str(failure))
                    continue
                faults += compare(f"{program} {shipped}", expected, got)
                tests += len(got[0]) + len(got[1])
            if faults:
                raise trust.Failure(f"{len(faults)} differences\n" + "\n".join(faults))
            return f"{len(inputs)} inputs, {tests} groups as over the reference BLAS"

        return trust.Job(f"lapack {program} {title}", run, 25)

    for program, inputs in programs():
        yield tester(program, inputs, "default")
        # The eigenvalue testers take longest; two of the four types are threaded too.
        if program not in ("xeigtsts", "xeigtstc"):
            yield tester(program, inputs, "threads=4 forced",
                         CORTEN_NUM_THREADS="4", CORTEN_THREAD_MIN_WORK="1")
    yield trust.Job("lapack binding", lambda: bound_to_us(context), 2)
    yield trust.Job("lapack can fail", lambda: can_fail(context, reference), 2)


def bound_to_us(context):
    """Netlib's LAPACK is the one in use, and each BLAS symbol it needs comes from us."""
    counts = {}
    for program, inputs in programs():
        cwd = context.scratch("lapack", "binding", program)
        found = trust.bindings([FOLDER / program], env=context.path(FOLDER), cwd=cwd)
        lapack = {user for user, _, _ in found if "liblapack" in user}
        if not lapack or any(not user.startswith(f"{FOLDER}/") for user in lapack):
            raise trust.Failure(f"{program}: LAPACK is {lapack}, not the one in {FOLDER}")
        blas = {(s, file) for user, file, s in found
                if user in lapack and re.fullmatch(r"[sdcz](gemm|trsm|trmm|gemv|scal|swap|copy)_", s)}
        wrong = {(s, file) for s, file in blas if not context.is_ours(file)}
        if wrong or not blas:
            raise trust.Failure(f"{program}: BLAS symbols from elsewhere: {wrong or 'none found'}")
        counts[program] = len(blas)
    return f"{len(counts)} testers: LAPACK is Netlib's, its BLAS is the library under test"


def can_fail(context, reference):
    library = trust.wrong_blas(context)

    def check(lie, program, shipped):
        env = trust.environment(LD_LIBRARY_PATH=f"{FOLDER}:{REFERENCE_BLAS}",
                                LD_PRELOAD=str(library), CORTEN_LIE=lie)
        got = outcome(program, shipped, env, context.scratch("lapack", "lie", f"lie {lie}"))
        if faults := compare(shipped, reference(program, shipped), got):
            raise trust.Failure("\n".join(faults))

    lies = [("dgemm value", "xeigtstd", "gqr.in"), ("dgemv value", "xeigtstd", "glm.in"),
            ("dsymm abort", "xeigtstd", "dsg.in")]
    for lie, program, shipped in lies:
        check("", program, shipped)  # without the lie the same library passes
        trust.must_fail(lie, lambda: check(lie, program, shipped))
    return f"{len(lies)} wrong libraries were all noticed"
