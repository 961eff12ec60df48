//! What the algorithms stand on: the CPU, threads, scratch memory, the environment, tracing.

pub mod cpu;
pub mod env;
pub mod memory;
pub mod pool;
pub mod sys;
pub mod trace;

pub use cpu::isa_name;
pub use pool::{num_procs, num_threads, set_num_threads, set_num_threads_local};
