"""Netlib's 24 BLAS testers as Debian ships them (package libblas-test).

A run passes when it writes exactly the PASS lines, in order and with the same
numbers of calls, that the same tester with the same input writes over Netlib's own
reference BLAS, and nothing that speaks of failure. The testers exit with 0 whatever
they found, so the exit code alone says nothing.

Inputs: `shipped` is Debian's. `enlarged` and `wide` are the shipped ones with other
sizes; 65 is the largest the testers were compiled for. `wide` takes the most sizes
(9) and costs several times as much, so it runs in one configuration only.
"""

import re

import trust

FOLDER = trust.SYSTEM_LIBS / "blas"
TYPES = "sdcz"
SIZES = {"enlarged": "0 1 7 33 65", "wide": "0 1 2 4 9 17 32 48 65"}
BANDS = "0 1 2 4 15 32 64"
BAD = re.compile(r"FAIL|FATAL|SUSPECT|\*\*\*\*|ABANDON|[Ee]rror:|HALF ACCURATE|NOT RECOGNIZED")


def testers():
    """Every tester as (program, level, name of its shipped input or None)."""
    for t in TYPES:
        for level in (1, 2, 3):
            yield f"xblat{level}{t}", level, f"{t}blat{level}.in" if level > 1 else None
            yield f"x{t}cblat{level}", level, f"{t}in{level}" if level > 1 else None


def input_text(shipped, sizes):
    """A shipped input, with its sizes (and bandwidths) replaced unless `sizes` is `shipped`."""
    if shipped is None:
        return ""
    text = (FOLDER / shipped).read_text()
    if sizes == "shipped":
        return text
    text = replace_values(text, "N", SIZES[sizes])
    return replace_values(text, "K", BANDS) if "VALUES OF K" in text else text


def replace_values(text, what, values):
    """Replaces the two lines `NUMBER OF VALUES OF what` and `VALUES OF what`."""
    pattern = rf"^.*NUMBER OF VALUES OF {what}\n.*VALUES OF {what}\n"
    lines = f"{len(values.split())} NUMBER OF VALUES OF {what}\n{values} VALUES OF {what}\n"
    text, count = re.subn(pattern, lines, text, flags=re.M)
    if count != 1:
        raise trust.Failure(f"this input has no single list of values of {what}")
    return text


def wanted_routines(text):
    """The routines that an input asks for: its lines `NAME T ...`."""
    return re.findall(r"^(\w+)\s+T PUT F", text, re.M)


def verdicts(program, level, text, env, cwd):
    """Runs one tester; returns its PASS lines or raises Failure."""
    result = trust.run([FOLDER / program], env=env, cwd=cwd, stdin=text, timeout=180)
    # The Fortran testers of levels 2 and 3 write their summary to a file.
    report = result.out + "".join(f.read_text() for f in sorted(cwd.glob("*.out")))
    if result.rc != 0:
        raise trust.Failure(f"{program}: exit code {result.rc}\n{trust.tail(report + result.err)}")
    if bad := [line.strip() for line in report.splitlines() if BAD.search(line)]:
        raise trust.Failure(f"{program}: " + "\n".join(bad[:12]))
    if level == 1:
        passes = re.findall(r"Test of subprogram number\s+\d+\s+(\w+)\s+-+ PASS -+", report)
        tried = report.count("Test of subprogram number")
        if not passes or len(passes) != tried:
            raise trust.Failure(f"{program}: {len(passes)} of {tried} subprograms passed")
        return passes
    if "END OF TESTS" not in report:
        raise trust.Failure(f"{program}: stopped before the end\n{trust.tail(report)}")
    lines = re.findall(r"^\s*(\w+\s+PASSED THE .*)$", report, re.M)
    passes = [" ".join(line.split()) for line in lines]
    # Not so for error exits: Netlib's CBLAS testers report those of gerc as geru.
    computed = {line.split()[0] for line in passes if "COMPUTATIONAL" in line}
    if untested := [name for name in wanted_routines(text) if name not in computed]:
        raise trust.Failure(f"{program}: not tested: {untested}")
    return passes


def check(reference, program, level, shipped, sizes, env, cwd):
    """Runs one tester on the BLAS that `env` chooses and compares with the reference run."""
    expected = reference(program, level, shipped, sizes)
    got = verdicts(program, level, input_text(shipped, sizes), env, cwd)
    if got != expected:
        missing = [line for line in expected if line not in got]
        extra = [line for line in got if line not in expected]
        raise trust.Failure(f"{program}: PASS lines missing {missing}, unexpected {extra}")
    return len(got)


def jobs(context):
    def run_reference(program, level, shipped, sizes):
        cwd = context.scratch("netlib", "reference", sizes, program)
        env = trust.environment(LD_LIBRARY_PATH=str(FOLDER))
        return verdicts(program, level, input_text(shipped, sizes), env, cwd)

    reference = trust.Once(run_reference)

    def configuration(sizes, **settings):
        """One job: all 24 testers; all are run even if one fails, so that the line says which."""

        def run():
            lines, failures = 0, []
            for program, level, shipped in testers():
                # Level 1 has no input: its shipped run is the only one there is.
                if level == 1 and sizes != "shipped":
                    continue
                cwd = context.scratch("netlib", title, program)
                try:
                    lines += check(reference, program, level, shipped, sizes,
                                   context.path(**settings), cwd)
                except trust.Failure as failure:
                    failures.append(str(failure))
            if failures:
                raise trust.Failure(f"{len(failures)} testers failed\n" + "\n".join(failures))
            return f"{lines} PASS lines, as over the reference BLAS"

        title = f"netlib {sizes} " + " ".join(
            f"{k.removeprefix('CORTEN_').lower()}={v}" for k, v in settings.items())
        cost = {"shipped": 3, "enlarged": 30, "wide": 300}[sizes]
        return trust.Job(title, run, cost + int(settings["CORTEN_NUM_THREADS"]))

    levels = trust.isa_levels(context)
    yield configuration("wide", CORTEN_ISA=levels[-1], CORTEN_NUM_THREADS="1")
    for isa in levels:
        for sizes in ("shipped", "enlarged"):
            yield configuration(sizes, CORTEN_ISA=isa, CORTEN_NUM_THREADS="1")
            for threads in ("2", "4"):
                yield configuration(sizes, CORTEN_ISA=isa, CORTEN_NUM_THREADS=threads,
                                    CORTEN_THREAD_MIN_WORK="1")
    for threads in ("1", "4"):  # no scratch memory: the slow paths must be right too
        yield configuration("enlarged", CORTEN_ISA=levels[-1], CORTEN_NUM_THREADS=threads,
                            CORTEN_THREAD_MIN_WORK="1", CORTEN_SCRATCH_LIMIT="0")
    yield trust.Job("netlib binding", lambda: bound_to_us(context), 5)
    yield trust.Job("netlib can fail", lambda: can_fail(context, reference), 20)


def bound_to_us(context):
    """Every symbol that a tester takes from the reference BLAS comes from our file instead."""
    total = 0
    for program, _, shipped in testers():
        text = input_text(shipped, "shipped")
        cwd = context.scratch("netlib", "binding", program)
        command = [FOLDER / program]
        before = trust.environment(LD_LIBRARY_PATH=str(FOLDER))
        needed = {s for user, file, s in trust.bindings(command, env=before, cwd=cwd, stdin=text)
                  if user == str(command[0]) and "libblas.so.3" in file}
        ours = {s: file for user, file, s in trust.bindings(
            command, env=context.path(), cwd=cwd, stdin=text) if user == str(command[0])}
        wrong = {s: ours.get(s) for s in needed if not context.is_ours(ours.get(s) or "")}
        if not needed or wrong:
            raise trust.Failure(f"{program}: {len(needed)} BLAS symbols, not from us: {wrong}")
        total += len(needed)
    return f"all {total} BLAS symbols of the 24 testers come from the library under test"


def can_fail(context, reference):
    """Each lie of wrong_blas.c must be noticed by the tester that is there to notice it."""
    library = trust.wrong_blas(context)
    lies = [
        ("ddot value", "xblat1d", 1, None),
        ("dgemv value", "xblat2d", 2, "dblat2.in"),
        ("dgemm value", "xblat3d", 3, "dblat3.in"),
        ("cblas_dgemm value", "xdcblat3", 3, "din3"),
        ("dgemm padding", "xblat3d", 3, "dblat3.in"),
        ("dsyrk silent", "xblat3d", 3, "dblat3.in"),
        ("dsyr2k exit", "xblat3d", 3, "dblat3.in"),
        ("dsymm abort", "xblat3d", 3, "dblat3.in"),
    ]
    for sizes in ("shipped", "enlarged"):
        for lie, program, level, shipped in lies:
            if level == 1 and sizes == "enlarged":
                continue
            env = trust.environment(LD_LIBRARY_PATH=str(FOLDER), LD_PRELOAD=str(library),
                                    CORTEN_LIE=lie)
            cwd = context.scratch("netlib", "lie", lie)
            # Without the lie the same library and the same input pass.
            check(reference, program, level, shipped, sizes, {**env, "CORTEN_LIE": ""}, cwd)
            trust.must_fail(lie, lambda: check(reference, program, level, shipped, sizes, env, cwd))
    return f"{len(lies)} wrong libraries were all noticed"
