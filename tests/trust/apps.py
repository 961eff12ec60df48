"""R and Octave run a short script each under LD_PRELOAD.

The scripts check residuals themselves and end with `all right`; that the library was
mapped and that its dgemm did the product is seen from CORTEN_VERBOSE and /proc/self/maps.
"""

import trust

SCRIPTS = {
    "R": ["R", "--vanilla", "--no-echo", "-f", trust.HERE / "app.R"],
    "Octave": ["octave-cli", "--no-gui", "--norc", "--no-history", trust.HERE / "app.m"],
}


def jobs(context):
    for name, command in SCRIPTS.items():
        for threads in ("1", "4"):
            yield trust.Job(f"{name} threads={threads}",
                            lambda n=name, c=command, t=threads: script(context, n, c, t), 8)


def script(context, name, command, threads):
    env = context.preload(CORTEN_VERBOSE="1", CORTEN_NUM_THREADS=threads,
                          CORTEN_THREAD_MIN_WORK="1", TRUST_LIBRARY=str(context.so.resolve()))
    cwd = context.scratch("apps", f"{name} {threads}")
    result = trust.check_run(command, env={**env, "HOME": str(cwd)}, cwd=cwd)
    if "all right" not in result.out:
        raise trust.Failure(f"{name} did not reach its end\n{trust.tail(result.out + result.err)}")
    counts = trust.verbose_calls(result.err)
    if not counts.get("dgemm"):
        raise trust.Failure(f"{name} made no call of our dgemm; calls seen: {counts}")
    return "residuals small; calls served: " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items()))
