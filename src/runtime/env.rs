//! Every environment variable of the library, in one table. Each is read once, at the first call that asks for it.

use std::sync::OnceLock;

/// One variable: its name, what it does, its value.
pub struct Var {
    pub name: &'static str,
    pub help: &'static str,
    cell: OnceLock<Option<String>>,
}

impl Var {
    const fn new(name: &'static str, help: &'static str) -> Var {
        Var { name, help, cell: OnceLock::new() }
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
    /// The value as a number. What is not a number counts as unset, with one warning.
    pub fn number(&self) -> Option<u64> {
        let text = self.get()?;
        // OMP_NUM_THREADS may be a list, one number a nesting level: the first counts.
        let first = text.split(',').next().unwrap_or("").trim();
        let value = first.parse().ok();
        if value.is_none() {
            super::trace::say(format_args!("{}={text} is not a whole number; ignored", self.name));
        }
        value
    }
}

pub static ISA: Var = Var::new("CORTEN_ISA", "highest instruction set to use: generic, avx2, avx512; can only lower");
pub static NUM_THREADS: Var = Var::new("CORTEN_NUM_THREADS", "number of threads");
pub static OPENBLAS_NUM_THREADS: Var = Var::new("OPENBLAS_NUM_THREADS", "number of threads, if the above is not set");
pub static OMP_NUM_THREADS: Var = Var::new("OMP_NUM_THREADS", "number of threads, if none of the above is set");
pub static THREAD_MIN_WORK: Var =
    Var::new("CORTEN_THREAD_MIN_WORK", "floating-point operations from which on a call uses all threads, awake or not");
pub static SCRATCH_LIMIT: Var =
    Var::new("CORTEN_SCRATCH_LIMIT", "bytes of scratch memory a thread may take; beyond it the slow paths run");
pub static VERBOSE: Var = Var::new("CORTEN_VERBOSE", "1: a line on stderr for each level-3 call");
pub static CONV_MATH: Var =
    Var::new("CORTEN_CONV_MATH", "math mode of convolutions that leave it open: default (Winograd too), strict");

pub static RANK: Var = Var::new("CORTEN_RANK", "rank of this process; set by corten-run");
pub static SIZE: Var = Var::new("CORTEN_SIZE", "number of ranks; set by corten-run");
pub static JOB: Var = Var::new("CORTEN_JOB", "what the ranks of a job find each other by; set by corten-run");
pub static COMM_TIMEOUT: Var = Var::new("CORTEN_TIMEOUT", "seconds a collective waits for a rank; default 300");
pub static INIT_TIMEOUT: Var = Var::new("CORTEN_INIT_TIMEOUT", "seconds corten_init waits for all ranks; default 60");
pub static STALL_WARNING: Var =
    Var::new("CORTEN_STALL_WARNING", "seconds after which a waiting rank says for whom it waits; 0 never; default 60");
pub static FUSION_THRESHOLD: Var =
    Var::new("CORTEN_FUSION_THRESHOLD", "most bytes that asynchronous allreduces are fused to; default 16777216");
pub static MPI_LIB: Var = Var::new("CORTEN_MPI_LIB", "the MPI library to load, a name or a path");
pub static SPLIT_NODES: Var =
    Var::new("CORTEN_SPLIT_NODES", "treat the ranks of a machine as if they were on so many machines; for tests");

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
