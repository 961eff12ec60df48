//! The few calls of the C library that std does not offer: dynamic loading, pinning, stopping a worker.
//! Declared by hand so that the program needs no external crate; Linux with glibc or musl.

use std::ffi::{CStr, CString, c_char, c_int, c_ulong, c_void};

#[link(name = "dl")]
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
    fn sched_getaffinity(pid: c_int, size: usize, mask: *mut u64) -> c_int;
    fn sched_setaffinity(pid: c_int, size: usize, mask: *const u64) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn prctl(option: c_int, ...) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
}

/// Seconds that this thread, and that all threads of this process, have had of the processors.
pub fn processor_times() -> [f64; 2] {
    // CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID.
    [3, 2].map(|clock| {
        let mut time = [0i64; 2];
        // SAFETY: room for a time.
        unsafe { clock_gettime(clock, &mut time) };
        time[0] as f64 + time[1] as f64 * 1e-9
    })
}

const RTLD_NOW: c_int = 2;
const SIGKILL: c_int = 9;
const SIGCONT: c_int = 18;
const SIGSTOP: c_int = 19;
const PR_SET_PDEATHSIG: c_int = 1;
/// Room for 8192 processors, eight times what glibc's own mask holds.
const MASK_WORDS: usize = 128;

/// A loaded library; never closed, because its threads may still run.
pub struct Library(*mut c_void);

// SAFETY: a handle of the dynamic linker, which any thread may ask for symbols.
unsafe impl Sync for Library {}

impl Library {
    /// Loads with RTLD_LOCAL (the default), so that one worker sees one BLAS only.
    pub fn open(path: &str) -> Result<Library, String> {
        let name = CString::new(path).map_err(|_| format!("{path:?} holds a zero byte"))?;
        // SAFETY: `name` is a C string; loading runs the library's constructors, which is what was asked for.
        let handle = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
        if !handle.is_null() {
            return Ok(Library(handle));
        }
        // SAFETY: after a failed dlopen, dlerror gives a C string that lives until the next dl call.
        Err(unsafe { CStr::from_ptr(dlerror()) }.to_string_lossy().into_owned())
    }

    /// The address of a symbol, if the library or one that it depends on defines it.
    pub fn symbol(&self, name: &str) -> Option<*const c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: the handle is live, `name` is a C string.
        let p = unsafe { dlsym(self.0, name.as_ptr()) };
        if p.is_null() { None } else { Some(p.cast_const()) }
    }
}

/// The processors that this process may run on, in order.
pub fn allowed_cpus() -> Vec<usize> {
    let mut mask = [0u64; MASK_WORDS];
    // SAFETY: the kernel writes at most the given size into `mask`.
    if unsafe { sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr()) } < 0 {
        return Vec::new();
    }
    (0..MASK_WORDS * 64).filter(|c| mask[c / 64] >> (c % 64) & 1 == 1).collect()
}

/// Pins the calling thread, and with it every thread that it starts from now on.
pub fn pin(cpu: usize) -> Result<(), String> {
    let mut mask = [0u64; MASK_WORDS];
    let word = mask.get_mut(cpu / 64).ok_or("no such processor")?;
    *word = 1 << (cpu % 64);
    // SAFETY: `mask` is readable over the given size.
    match unsafe { sched_setaffinity(0, size_of_val(&mask), mask.as_ptr()) } {
        0 => Ok(()),
        _ => Err(format!("cannot pin to processor {cpu}: {}", std::io::Error::last_os_error())),
    }
}

/// Asks the kernel to end this process when its parent ends: a stopped worker would else stay for ever.
pub fn die_with_parent() {
    // SAFETY: PR_SET_PDEATHSIG takes one integer and touches no memory.
    unsafe { prctl(PR_SET_PDEATHSIG, SIGKILL as c_ulong) };
}

/// Stops or continues a child that has not been waited for, so its id cannot belong to another process.
pub fn set_stopped(child: &std::process::Child, stopped: bool) {
    // SAFETY: sends a signal to our own child; no memory is touched.
    unsafe { kill(child.id() as c_int, if stopped { SIGSTOP } else { SIGCONT }) };
}
