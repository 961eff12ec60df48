//! Every environment variable of the library, in one table. Each is read once, at the first call that asks for it; what is not
//! understood of our own ones is said at the first call that asks for any ([`check`]).

use std::sync::{Once, OnceLock};

/// One variable: its name, what it does, its value.
pub struct Var {
    pub name: &'static str,
    pub help: &'static str,
    kind: Kind,
    cell: OnceLock<Option<String>>,
    number: OnceLock<Option<u64>>,
}

/// What a value is.
enum Kind {
    Text,
    /// A whole number, at least this.
    Number(u64),
}

/// Most seconds of a limit, so that sums of limits are times: eight years.
pub const LONGEST: u64 = (1 << 28) - 1;

impl Var {
    const fn new(name: &'static str, help: &'static str) -> Var {
        Var::of(name, Kind::Text, help)
    }
    const fn numeric(name: &'static str, least: u64, help: &'static str) -> Var {
        Var::of(name, Kind::Number(least), help)
    }
    const fn of(name: &'static str, kind: Kind, help: &'static str) -> Var {
        Var { name, help, kind, cell: OnceLock::new(), number: OnceLock::new() }
    }
    /// The value, without white space around it; `None` if unset or empty.
    pub fn get(&self) -> Option<&str> {
        let read = || {
            let value = std::env::var(self.name).ok()?;
            let value = value.trim();
            if value.is_empty() { None } else { Some(value.to_string()) }
        };
        self.cell.get_or_init(read).as_deref()
    }
    /// The value as a number. What is not one, or too small, counts as unset, with one warning.
    pub fn number(&self) -> Option<u64> {
        let Kind::Number(least) = self.kind else { return None };
        let read = || {
            let text = self.get()?;
            // OMP_NUM_THREADS may be a list, one number a nesting level: the first counts.
            let first = text.split(',').next().unwrap_or("").trim();
            let value = first.parse().ok().filter(|n| *n >= least);
            if value.is_none() {
                super::trace::say(format_args!(
                    "{}={text} is ignored: expected a whole number from {least} on",
                    self.name
                ));
            }
            value
        };
        *self.number.get_or_init(read)
    }
}

/// Says what is not understood of all our own variables, once: one that is needed only later, or never, is as wrong now.
pub fn check() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for var in ALL.iter().filter(|var| var.name.starts_with("CORTEN_")) {
            var.number();
        }
    });
}

pub static ISA: Var = Var::new("CORTEN_ISA", "highest instruction set to use: generic, avx2, avx512; can only lower");
pub static NUM_THREADS: Var = Var::numeric("CORTEN_NUM_THREADS", 0, "number of threads");
pub static OPENBLAS_NUM_THREADS: Var =
    Var::numeric("OPENBLAS_NUM_THREADS", 0, "number of threads, if the above is not set");
pub static OMP_NUM_THREADS: Var = Var::numeric("OMP_NUM_THREADS", 0, "number of threads, if none of the above is set");
pub static THREAD_MIN_WORK: Var = Var::numeric(
    "CORTEN_THREAD_MIN_WORK",
    0,
    "floating-point operations from which on a call uses all threads, awake or not",
);
pub static SCRATCH_LIMIT: Var =
    Var::numeric("CORTEN_SCRATCH_LIMIT", 0, "bytes of scratch memory a thread may take; beyond it the slow paths run");
pub static VERBOSE: Var = Var::numeric("CORTEN_VERBOSE", 0, "1: a line on stderr for each level-3 call");
pub static CONV_MATH: Var =
    Var::new("CORTEN_CONV_MATH", "math mode of convolutions that leave it open: default (Winograd too), strict");

pub static RANK: Var = Var::numeric("CORTEN_RANK", 0, "rank of this process; set by corten-run");
// 0 is a number that does not fit the rank, which is said; to take it for unset would start as many worlds of one rank.
pub static SIZE: Var = Var::numeric("CORTEN_SIZE", 0, "number of ranks; set by corten-run");
pub static JOB: Var = Var::new("CORTEN_JOB", "what the ranks of a job find each other by; set by corten-run");
pub static COMM_TIMEOUT: Var = Var::numeric("CORTEN_TIMEOUT", 1, "seconds a collective waits for a rank; default 300");
pub static INIT_TIMEOUT: Var =
    Var::numeric("CORTEN_INIT_TIMEOUT", 1, "seconds corten_init waits for all ranks; default 60");
pub static STALL_WARNING: Var = Var::numeric(
    "CORTEN_STALL_WARNING",
    0,
    "seconds after which a waiting rank says for whom it waits; 0 never; default 60",
);
pub static FUSION_THRESHOLD: Var = Var::numeric(
    "CORTEN_FUSION_THRESHOLD",
    0,
    "most bytes that asynchronous allreduces are fused to; default 16777216",
);
pub static MPI_LIB: Var = Var::new("CORTEN_MPI_LIB", "the MPI library to load, a name or a path");
pub static SPLIT_NODES: Var = Var::numeric(
    "CORTEN_SPLIT_NODES",
    1,
    "treat the ranks of a machine as if they were on so many machines; for tests",
);

/// All of them, for documentation and tests.
pub static ALL: [&Var; 17] = [
    &ISA,
    &NUM_THREADS,
    &OPENBLAS_NUM_THREADS,
    &OMP_NUM_THREADS,
    &THREAD_MIN_WORK,
    &SCRATCH_LIMIT,
    &VERBOSE,
    &CONV_MATH,
    &RANK,
    &SIZE,
    &JOB,
    &COMM_TIMEOUT,
    &INIT_TIMEOUT,
    &STALL_WARNING,
    &FUSION_THRESHOLD,
    &MPI_LIB,
    &SPLIT_NODES,
];
