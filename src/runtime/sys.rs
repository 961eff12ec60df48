//! The few C library functions that Rust's standard library does not offer. Declared here so that the library builds
//! with no crate besides the standard library.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::AtomicU32;

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
    fn pthread_sigmask(how: c_int, set: *const c_void, old: *mut c_void) -> c_int;
    fn sigfillset(set: *mut c_void) -> c_int;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    #[cfg(target_os = "linux")]
    fn syscall(number: core::ffi::c_long, ...) -> core::ffi::c_long;
    #[cfg(target_os = "linux")]
    fn madvise(at: *mut c_void, bytes: usize, advice: c_int) -> c_int;
}

/// Larger than `sigset_t` of any Linux C library (glibc: 128 bytes).
#[repr(C, align(16))]
struct SigSet([u8; 256]);

const SIG_SETMASK: c_int = 2;

/// Calls `f` in the child after every `fork`, with only the forking thread alive.
pub fn at_fork_in_child(f: extern "C" fn()) {
    // SAFETY: `f` is a plain function; the library is never unloaded (linked with -z nodelete).
    unsafe { pthread_atfork(None, None, Some(f)) };
}

/// Runs `f` with all signals blocked, so that threads it starts never run the application's signal handlers.
pub fn with_signals_blocked<R>(f: impl FnOnce() -> R) -> R {
    let mut all = SigSet([0; 256]);
    let mut old = SigSet([0; 256]);
    // SAFETY: both sets are large enough and live through the calls.
    unsafe {
        sigfillset((&raw mut all).cast());
        pthread_sigmask(SIG_SETMASK, (&raw const all).cast(), (&raw mut old).cast());
    }
    let result = f();
    // SAFETY: `old` was filled by the call above.
    unsafe { pthread_sigmask(SIG_SETMASK, (&raw const old).cast(), core::ptr::null_mut()) };
    result
}

/// Asks for large pages in whole pages of the caller's. A wish: what the system answers does not matter.
pub fn ask_for_large_pages(at: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        const MADV_HUGEPAGE: c_int = 14;
        // SAFETY: the advice changes nothing in the memory, and is refused where there is none.
        unsafe { madvise(at.cast(), bytes, MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (at, bytes);
}

/// Sleeps while `word` holds `expected`; may wake without cause.
pub fn futex_wait(word: &AtomicU32, expected: u32) {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: FUTEX_WAIT_PRIVATE (128) on a word that lives through the call, without a timeout.
    unsafe {
        syscall(SYS_FUTEX, word.as_ptr(), 128, expected, core::ptr::null::<c_void>())
    };
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    if word.load(core::sync::atomic::Ordering::Acquire) == expected {
        std::thread::sleep(std::time::Duration::from_micros(50));
    }
}

/// Wakes whoever sleeps on the word at this address; the word itself may be gone by now.
pub fn futex_wake(address: usize) {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: FUTEX_WAKE_PRIVATE (129) does not access the word.
    unsafe {
        syscall(SYS_FUTEX, address, 129, i32::MAX)
    };
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const SYS_FUTEX: core::ffi::c_long = 202;
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
const SYS_FUTEX: core::ffi::c_long = 98;

/// The address of a symbol of any library in the process.
pub fn symbol(name: &core::ffi::CStr) -> *mut c_void {
    // SAFETY: a null handle is RTLD_DEFAULT; the name is a C string.
    unsafe { dlsym(core::ptr::null_mut(), name.as_ptr()) }
}

/// The floating-point control state (rounding, flush-to-zero) that workers take over from the caller.
#[derive(Clone, Copy)]
pub struct FpState(#[allow(dead_code)] u64);

impl FpState {
    #[inline]
    pub fn get() -> FpState {
        #[cfg(target_arch = "x86_64")]
        {
            let mut csr = 0u32;
            // SAFETY: stores MXCSR into a local.
            unsafe { core::arch::asm!("stmxcsr [{}]", in(reg) &mut csr, options(nostack, preserves_flags)) };
            FpState(csr as u64)
        }
        #[cfg(target_arch = "aarch64")]
        {
            let fpcr: u64;
            // SAFETY: reads FPCR.
            unsafe { core::arch::asm!("mrs {}, fpcr", out(reg) fpcr, options(nomem, nostack, preserves_flags)) };
            FpState(fpcr)
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        FpState(0)
    }
    #[inline]
    pub fn set(self) {
        #[cfg(target_arch = "x86_64")]
        {
            // Exception flags are the thread's own: only the control bits are taken over.
            let csr = (self.0 as u32) & !0x3f;
            // SAFETY: loads a value that was valid in MXCSR of the calling thread.
            unsafe { core::arch::asm!("ldmxcsr [{}]", in(reg) &csr, options(nostack, preserves_flags, readonly)) };
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: writes a value that was valid in FPCR of the calling thread.
        unsafe {
            core::arch::asm!("msr fpcr, {}", in(reg) self.0, options(nomem, nostack, preserves_flags))
        };
    }
}
