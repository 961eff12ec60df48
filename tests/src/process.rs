//! Processes: naming the call in which a process died, child processes with a
//! time limit, and threads with a small stack.

use std::cell::Cell;
use std::sync::Once;
use std::time::{Duration, Instant};

thread_local! {
    /// The call this thread is in: text and length, for the signal handler.
    static CURRENT: Cell<(*const u8, usize)> = const { Cell::new((std::ptr::null(), 0)) };
}

/// Remembers `what` while `f` runs, so that a crash inside can be attributed.
pub fn while_in<R>(what: &str, f: impl FnOnce() -> R) -> R {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE] {
            // SAFETY: the handler only writes and restores the default action.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = report as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESETHAND | libc::SA_NODEFER | libc::SA_ONSTACK;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    });
    let before = CURRENT.replace((what.as_ptr(), what.len()));
    let r = f();
    CURRENT.set(before);
    r
}

extern "C" fn report(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let (text, len) = CURRENT.get();
    let say = |p: *const u8, n: usize| {
        // SAFETY: writing valid memory; write is async-signal-safe.
        unsafe { libc::write(2, p.cast(), n) };
    };
    let head = b"\nFATAL: signal in a worker thread or outside any call\n";
    if text.is_null() {
        say(head.as_ptr(), head.len());
    } else {
        let head = b"\nFATAL: memory fault or bad instruction in ";
        say(head.as_ptr(), head.len());
        say(text, len);
        say(b"\n".as_ptr(), 1);
    }
    if signal == libc::SIGILL {
        // The instruction itself, for `objdump`.
        let mut line = *b"instruction: .. .. .. .. .. .. .. .. .. ..\n";
        for i in 0..10 {
            // SAFETY: the kernel's account of the signal; code goes on for ten bytes behind an instruction.
            let byte = unsafe { *(*info).si_addr().cast::<u8>().add(i) };
            line[13 + 3 * i] = b"0123456789abcdef"[usize::from(byte >> 4)];
            line[14 + 3 * i] = b"0123456789abcdef"[usize::from(byte & 15)];
        }
        say(line.as_ptr(), line.len());
    }
    // SAFETY: the default action is back (SA_RESETHAND): this ends the process.
    unsafe { libc::raise(signal) };
}

/// How a child ended.
#[derive(Debug, PartialEq)]
pub enum End {
    Exit(i32),
    Signal(i32),
    Timeout,
}

/// Forks; the child runs `f` and exits with 0 if it returns true, else 1.
/// A child that does not end in time is killed: that is a hang.
///
/// `f` must not take locks that another thread of this process may hold, so
/// no printing and no panicking in it.
pub fn in_child(limit: Duration, f: impl FnOnce() -> bool) -> End {
    // SAFETY: the child only runs f and leaves by _exit.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork failed");
    if pid == 0 {
        let ok = f();
        // SAFETY: ends the child without running the parent's destructors.
        unsafe { libc::_exit(if ok { 0 } else { 1 }) };
    }
    wait(pid, limit)
}

/// Waits for a child, at most so long.
pub fn wait(pid: libc::pid_t, limit: Duration) -> End {
    let start = Instant::now();
    let mut status = 0;
    loop {
        // SAFETY: pid is our own child.
        let r = unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) };
        assert!(r >= 0, "waitpid failed");
        if r == pid {
            return if libc::WIFSIGNALED(status) {
                End::Signal(libc::WTERMSIG(status))
            } else {
                End::Exit(libc::WEXITSTATUS(status))
            };
        }
        if start.elapsed() > limit {
            // SAFETY: as above.
            unsafe {
                libc::kill(pid, libc::SIGKILL);
                libc::waitpid(pid, &mut status, 0);
            }
            return End::Timeout;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs `f` on a thread with exactly `stack` bytes of stack (std would add to
/// it or round it up).
pub fn on_stack<F: FnOnce() + Send>(stack: usize, f: F) {
    extern "C" fn start<F: FnOnce()>(arg: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: arg is the Option<F> that on_stack keeps alive until join.
        let f = unsafe { &mut *arg.cast::<Option<F>>() }.take().unwrap();
        f();
        std::ptr::null_mut()
    }
    let mut f = Some(f);
    // SAFETY: the thread is joined before f goes out of scope.
    unsafe {
        let mut attr: libc::pthread_attr_t = std::mem::zeroed();
        assert_eq!(libc::pthread_attr_init(&mut attr), 0);
        assert_eq!(libc::pthread_attr_setstacksize(&mut attr, stack), 0, "stack of {stack} bytes");
        let mut id: libc::pthread_t = 0;
        let arg = (&raw mut f).cast();
        assert_eq!(libc::pthread_create(&mut id, &attr, start::<F>, arg), 0);
        libc::pthread_attr_destroy(&mut attr);
        assert_eq!(libc::pthread_join(id, std::ptr::null_mut()), 0);
    }
}

/// Names of this process's threads by number: what `/proc` shows.
pub fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("/proc").count()
}
