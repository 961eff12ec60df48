//! The collectives as a C program sees them, and what they should give.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

pub mod reference;

pub const F32: c_int = 0;
pub const F64: c_int = 1;
pub const BF16: c_int = 2;
pub const F16: c_int = 3;
pub const I8: c_int = 4;
pub const U8: c_int = 5;
pub const I32: c_int = 6;
pub const I64: c_int = 7;
pub const TYPES: [c_int; 8] = [F32, F64, BF16, F16, I8, U8, I32, I64];

pub const SUM: c_int = 0;
pub const AVERAGE: c_int = 1;
pub const MIN: c_int = 2;
pub const MAX: c_int = 3;
pub const PRODUCT: c_int = 4;
pub const ADASUM: c_int = 5;
pub const WIRE_BF16: c_int = 0x100;
pub const WIRE_F16: c_int = 0x200;

pub const PENDING: c_int = -1;
pub const ARGUMENT: c_int = 1;
pub const STATE: c_int = 2;
pub const MISMATCH: c_int = 3;
pub const PEER: c_int = 4;
pub const TIMEOUT: c_int = 5;
pub const SYSTEM: c_int = 6;

pub fn width(kind: c_int) -> usize {
    [4, 8, 2, 2, 1, 1, 4, 8][kind as usize]
}

macro_rules! functions {
    ($($name:ident($($arg:ident: $t:ty),*) -> $r:ty;)*) => {$(
        /// The function of the library under test.
        ///
        /// # Safety
        /// As in `corten.h`.
        #[allow(clippy::too_many_arguments)]
        pub unsafe fn $name($($arg: $t),*) -> $r {
            type F = unsafe extern "C" fn($($t),*) -> $r;
            static AT: std::sync::OnceLock<F> = std::sync::OnceLock::new();
            // SAFETY: the symbol is the function of that signature.
            let f = AT.get_or_init(|| unsafe {
                std::mem::transmute::<*const c_void, F>(crate::library::lib().symbol(concat!("corten_", stringify!($name))))
            });
            // SAFETY: passed on to the caller.
            unsafe { f($($arg),*) }
        }
    )*};
}

functions! {
    init() -> c_int;
    shutdown() -> c_int;
    is_initialized() -> c_int;
    rank() -> c_int;
    size() -> c_int;
    local_rank() -> c_int;
    local_size() -> c_int;
    cross_rank() -> c_int;
    cross_size() -> c_int;
    last_error() -> *const c_char;
    allreduce(src: *const c_void, dst: *mut c_void, n: usize, kind: c_int, op: c_int, pre: f64, post: f64, set: c_int) -> c_int;
    grouped_allreduce(n: usize, src: *const *const c_void, dst: *const *mut c_void, counts: *const usize, kind: c_int, op: c_int, pre: f64, post: f64, set: c_int) -> c_int;
    allgather(src: *const c_void, n: usize, dst: *mut c_void, room: usize, counts: *mut usize, kind: c_int, set: c_int) -> c_int;
    broadcast(buffer: *mut c_void, n: usize, kind: c_int, root: c_int, set: c_int) -> c_int;
    alltoall(src: *const c_void, counts: *const usize, dst: *mut c_void, room: usize, came: *mut usize, kind: c_int, set: c_int) -> c_int;
    reducescatter(src: *const c_void, dst: *mut c_void, n: usize, counts: *const usize, kind: c_int, op: c_int, pre: f64, post: f64, set: c_int) -> c_int;
    barrier(set: c_int) -> c_int;
    join(last: *mut c_int) -> c_int;
    allreduce_async(name: *const c_char, src: *const c_void, dst: *mut c_void, n: usize, kind: c_int, op: c_int, pre: f64, post: f64, set: c_int, handle: *mut i64) -> c_int;
    grouped_allreduce_async(name: *const c_char, n: usize, src: *const *const c_void, dst: *const *mut c_void, counts: *const usize, kind: c_int, op: c_int, pre: f64, post: f64, set: c_int, handle: *mut i64) -> c_int;
    allgather_async(name: *const c_char, src: *const c_void, n: usize, dst: *mut c_void, room: usize, counts: *mut usize, kind: c_int, set: c_int, handle: *mut i64) -> c_int;
    broadcast_async(name: *const c_char, buffer: *mut c_void, n: usize, kind: c_int, root: c_int, set: c_int, handle: *mut i64) -> c_int;
    alltoall_async(name: *const c_char, src: *const c_void, counts: *const usize, dst: *mut c_void, room: usize, came: *mut usize, kind: c_int, set: c_int, handle: *mut i64) -> c_int;
    reducescatter_async(name: *const c_char, src: *const c_void, dst: *mut c_void, n: usize, counts: *const usize, kind: c_int, op: c_int, pre: f64, post: f64, set: c_int, handle: *mut i64) -> c_int;
    poll(handle: i64) -> c_int;
    wait(handle: i64, seconds: f64) -> c_int;
    alloc(bytes: usize) -> *mut c_void;
    free(memory: *mut c_void) -> c_int;
    process_set_add(ranks: *const c_int, n: c_int, set: *mut c_int) -> c_int;
    process_set_remove(set: c_int) -> c_int;
    process_set_rank(set: c_int) -> c_int;
    process_set_size(set: c_int) -> c_int;
}

/// The text of the last error.
pub fn text() -> String {
    // SAFETY: a C string.
    unsafe { CStr::from_ptr(last_error()) }.to_string_lossy().into_owned()
}

/// Panics with the library's own words.
#[track_caller]
pub fn ok(code: c_int, what: &str) {
    assert_eq!(code, 0, "{what}: {}", text());
}

/// The call failed with this code and a text that has all these parts.
#[track_caller]
pub fn fails(code: c_int, with: c_int, parts: &[&str], what: &str) {
    let text = text();
    assert_eq!(code, with, "{what}: {text}");
    for part in parts {
        assert!(text.contains(part), "{what}: '{text}' does not say '{part}'");
    }
}

pub fn name(text: &str) -> CString {
    CString::new(text).unwrap()
}
