//! Threads, version, configuration: our own names, and those under which tools look for OpenBLAS.
//!
//! threadpoolctl, libblastrampoline and ggml find a BLAS by `openblas_set_num_threads` and its kin. The configuration
//! text does not pretend to be OpenBLAS's.

use core::ffi::{c_char, c_int, c_void};
use corten_core::runtime;
use std::ffi::CString;
use std::sync::OnceLock;

/// A thread count as C sees it.
fn to_c(n: usize) -> c_int {
    c_int::try_from(n).unwrap_or(c_int::MAX)
}

/// What C asked for; a number that is not positive means the default.
fn from_c(n: c_int) -> usize {
    usize::try_from(n).unwrap_or(0)
}

/// A text that lives as long as the process; made at the first call.
fn text(cell: &'static OnceLock<CString>, make: impl FnOnce() -> String) -> *const c_char {
    cell.get_or_init(|| CString::new(make()).unwrap_or_default()).as_ptr()
}

/// Version of the library, like "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn corten_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Version, instruction set and number of processors in one line, for logs.
#[unsafe(no_mangle)]
pub extern "C" fn corten_get_config() -> *const c_char {
    static CONFIG: OnceLock<CString> = OnceLock::new();
    text(&CONFIG, || {
        format!(
            "Corten {} LP64+ILP64 isa={} procs={}",
            env!("CARGO_PKG_VERSION"),
            runtime::isa_name(),
            runtime::num_procs()
        )
    })
}

/// The instruction set whose kernels are used: "generic", "avx2", "avx512".
#[unsafe(no_mangle)]
pub extern "C" fn corten_get_isa() -> *const c_char {
    static ISA: OnceLock<CString> = OnceLock::new();
    text(&ISA, || runtime::isa_name().to_string())
}

/// Number of threads that the next call from this thread may use, as set; no more than there are processors take part.
#[unsafe(no_mangle)]
pub extern "C" fn corten_get_num_threads() -> c_int {
    to_c(runtime::num_threads())
}

/// Sets the number of threads for the whole process, from the next call on; 0 or less restores the number of
/// processors.
#[unsafe(no_mangle)]
pub extern "C" fn corten_set_num_threads(num_threads: c_int) {
    runtime::set_num_threads(from_c(num_threads));
}

/// Sets the number of threads for calls from this thread; 0 follows the process again. Returns the previous setting.
#[unsafe(no_mangle)]
pub extern "C" fn corten_set_num_threads_local(num_threads: c_int) -> c_int {
    to_c(runtime::set_num_threads_local(from_c(num_threads)))
}

/// Number of processors that this process may use.
#[unsafe(no_mangle)]
pub extern "C" fn corten_get_num_procs() -> c_int {
    to_c(runtime::num_procs())
}

/// Lets the host program run parallel work on its own threads.
///
/// `parallel_for(ctx, n, task, arg)` must call `task(arg, i)` for each i from 0 to n-1, on any threads and in any order,
/// and return when all have returned. n is the number of threads the library wants to use, at most what
/// `corten_set_num_threads` allows. Several application threads may be in `parallel_for` at once. A BLAS call made
/// inside a task stays on its thread. Null takes the library's own threads again; calls under way are not affected.
#[unsafe(no_mangle)]
pub extern "C" fn corten_set_thread_pool(
    parallel_for: Option<
        extern "C" fn(ctx: *mut c_void, n: usize, task: extern "C" fn(arg: *mut c_void, i: usize), arg: *mut c_void),
    >,
    ctx: *mut c_void,
) {
    runtime::pool::set_callback(parallel_for.map(|function| (function, ctx)));
}

/// As corten_get_config.
#[unsafe(no_mangle)]
pub extern "C" fn openblas_get_config() -> *mut c_char {
    corten_get_config().cast_mut()
}

/// As corten_get_isa.
#[unsafe(no_mangle)]
pub extern "C" fn openblas_get_corename() -> *mut c_char {
    corten_get_isa().cast_mut()
}

/// 1: the library runs threads of its own, not OpenMP's.
#[unsafe(no_mangle)]
pub extern "C" fn openblas_get_parallel() -> c_int {
    1
}

/// As corten_get_num_procs.
#[unsafe(no_mangle)]
pub extern "C" fn openblas_get_num_procs() -> c_int {
    corten_get_num_procs()
}

/// As corten_get_num_threads.
#[unsafe(no_mangle)]
pub extern "C" fn openblas_get_num_threads() -> c_int {
    corten_get_num_threads()
}

/// As corten_set_num_threads.
#[unsafe(no_mangle)]
pub extern "C" fn openblas_set_num_threads(num_threads: c_int) {
    corten_set_num_threads(num_threads);
}

/// As corten_set_num_threads_local.
#[unsafe(no_mangle)]
pub extern "C" fn openblas_set_num_threads_local(num_threads: c_int) -> c_int {
    corten_set_num_threads_local(num_threads)
}

/// As corten_set_num_threads.
#[unsafe(no_mangle)]
pub extern "C" fn goto_set_num_threads(num_threads: c_int) {
    corten_set_num_threads(num_threads);
}

/// As corten_get_num_threads, for Fortran.
#[unsafe(no_mangle)]
pub extern "C" fn openblas_get_num_threads_() -> c_int {
    corten_get_num_threads()
}

/// As corten_set_num_threads, for Fortran.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn openblas_set_num_threads_(num_threads: *const c_int) {
    // SAFETY: Fortran passes every argument by a valid address.
    corten_set_num_threads(unsafe { *num_threads });
}

/// As corten_set_num_threads, for Fortran.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn goto_set_num_threads_(num_threads: *const c_int) {
    // SAFETY: Fortran passes every argument by a valid address.
    corten_set_num_threads(unsafe { *num_threads });
}

/// The names that OpenBLAS's thread control has in its ILP64 builds and in the wheels of NumPy and SciPy; tools look for
/// them in the form of the file they found. Their `int` is 32 bits wide there too.
macro_rules! aliases {
    ($($pre:literal $post:literal,)*) => {
        $(const _: () = {
            #[unsafe(export_name = concat!($pre, "openblas_get_num_threads", $post))]
            extern "C" fn get_num_threads() -> c_int {
                corten_get_num_threads()
            }
            #[unsafe(export_name = concat!($pre, "openblas_set_num_threads", $post))]
            extern "C" fn set_num_threads(num_threads: c_int) {
                corten_set_num_threads(num_threads);
            }
            #[unsafe(export_name = concat!($pre, "openblas_set_num_threads_local", $post))]
            extern "C" fn set_num_threads_local(num_threads: c_int) -> c_int {
                corten_set_num_threads_local(num_threads)
            }
            #[unsafe(export_name = concat!($pre, "openblas_get_num_procs", $post))]
            extern "C" fn get_num_procs() -> c_int {
                corten_get_num_procs()
            }
            #[unsafe(export_name = concat!($pre, "openblas_get_parallel", $post))]
            extern "C" fn get_parallel() -> c_int {
                openblas_get_parallel()
            }
            #[unsafe(export_name = concat!($pre, "openblas_get_config", $post))]
            extern "C" fn get_config() -> *mut c_char {
                openblas_get_config()
            }
            #[unsafe(export_name = concat!($pre, "openblas_get_corename", $post))]
            extern "C" fn get_corename() -> *mut c_char {
                openblas_get_corename()
            }
        };)*
    };
}
aliases! { "" "64_", "" "_64", "scipy_" "", "scipy_" "64_", }
