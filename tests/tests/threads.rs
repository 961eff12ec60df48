//! Threads: the same bits for any number of them, for several callers at once
//! and on the host's own pool; settings take effect and harm nobody.
//!
//! The process lowers the work below which a call stays on one thread, so that
//! the small problems of the tests really are split.

use corten_tests::draw::{Draw, Kind, Shape, Size};
use corten_tests::library::{Api, lib};
use corten_tests::problem::{Layout, Order, Outcome, Problem};
use corten_tests::process::{on_stack, threads, while_in};
use corten_tests::routines::{self, Routine, level3::gemm_of};
use corten_tests::scalar::Scalar;
use corten_tests::suite::make_bits;
use corten_tests::{for_types, func};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once};
use std::time::{Duration, Instant};

/// The number of threads is global: one test at a time. Also prepares the
/// environment before the library is first called.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    static ONCE: Once = Once::new();
    let guard = LOCK.lock().unwrap_or_else(|e| e.into_inner());
    ONCE.call_once(|| {
        // SAFETY: under the lock, before the library reads its environment.
        unsafe { std::env::set_var("CORTEN_THREAD_MIN_WORK", "1") };
        lib();
    });
    guard
}

fn set_threads(n: i32) {
    let set = func!(corten_set_num_threads: fn(i32));
    // SAFETY: any number is legal.
    unsafe { set(n) };
}

fn get_threads() -> i32 {
    // SAFETY: no preconditions.
    unsafe { func!(corten_get_num_threads: fn() -> i32)() }
}

/// A few problems of every routine, with their outcome on one thread.
fn problems<T: Scalar>() -> Vec<(Problem<T>, Outcome<T>)> {
    set_threads(1);
    let table: Vec<Routine<T>> = routines::all::<T>();
    let sizes = [Size::Usual, Size::Usual, Size::Large];
    let mut v = Vec::new();
    let mut add = |r: &Routine<T>, i: u64, size: Size| {
        let p = make_bits(r, 900 + i, size, 11 * i + 4);
        let out = p.run(p.apis()[0], Layout::Guards(1));
        v.push((p, out));
    };
    for r in &table {
        for (i, &size) in sizes.iter().enumerate() {
            add(r, i as u64, size);
        }
    }
    // Longer than one cache block: sums in several pieces.
    for r in &routines::level3::table::<T>() {
        add(r, 5, Size::Huge);
    }
    v
}

fn any_count<T: Scalar>() {
    let _guard = alone();
    let problems = problems::<T>();
    for n in [2, 3, 4, 7] {
        set_threads(n);
        assert_eq!(get_threads(), n);
        for (p, one) in &problems {
            let what = p.describe();
            let out = while_in(&what, || p.run(p.apis()[0], Layout::Guards(n as u64)));
            assert!(one.same_bits(&out), "{what}: other bits on {n} threads");
        }
    }
}

/// Triangles with right-hand sides of which threads take a few each: how a
/// part is computed must not depend on how few those are.
fn shared_columns<T: Scalar>() {
    let _guard = alone();
    for (i, (k, r)) in [(600, 40), (600, 12), (60, 130), (50, 40), (34, 130)].into_iter().enumerate() {
        for (base, side, trans) in
            [("trsm", b'L', b'T'), ("trsm", b'R', b'T'), ("trmm", b'L', b'N'), ("trmm", b'R', b'T')]
        {
            let mut g = Draw::new(i as u64, Order::Col, Size::Usual, 0);
            let mut p = Problem::<T>::new(format!("{}{base}", T::LETTER), Some(Order::Col));
            let (m, n) = if side == b'L' { (k, r) } else { (r, k) };
            let a = p.operand(&mut g, k, k, Kind::Solvable(b'L', b'N'), Shape::Full);
            let b = p.operand(&mut g, m, n, Kind::General, Shape::Full);
            p.side(side).uplo(b'L').trans(trans).diag(b'N').int(m).int(n).scalar(g.rng.value::<T>());
            p.buf(a.buf).ld(&a).buf(b.buf).ld(&b);
            has_same_bits(&p);
        }
    }
}

/// Products whose last rows fill little of a vector, and may be computed apart, or whose few rows are better columns.
fn last_rows<T: Scalar>() {
    let _guard = alone();
    let shapes = [
        (33, 33, 33),
        (50, 50, 50),
        (65, 70, 64),
        (97, 200, 90),
        (130, 65, 250),
        (9, 300, 40),
        (18, 100, 255),
        (100, 6, 250),
        (4, 330, 140),
        (20, 600, 64),
        (7, 5, 900),
    ];
    for (i, shape) in shapes.into_iter().enumerate() {
        for letters in [b"NN", b"TN", b"NT", b"TT", b"NC", b"CN", b"CC", b"CT"] {
            let mut g = Draw::new(i as u64, Order::Col, Size::Usual, 0);
            let factors = (g.rng.value::<T>(), g.rng.value::<T>());
            has_same_bits(&gemm_of::<T>(&mut g, "gemm", (letters[0], letters[1]), shape, factors, 1.0));
        }
    }
}

/// Whether any number of threads gives the bits of one.
fn has_same_bits<T: Scalar>(p: &Problem<T>) {
    let what = p.describe();
    set_threads(1);
    let one = p.run(Api::Fortran, Layout::Guards(1));
    for threads in [2, 3, 5] {
        set_threads(threads);
        let out = while_in(&what, || p.run(Api::Fortran, Layout::Guards(1)));
        assert!(one.same_bits(&out), "{what}: other bits on {threads} threads");
    }
}

/// Eight threads of the application at once, each calling everything, while
/// the library's own workers are shared among them.
fn eight_callers<T: Scalar>() {
    let _guard = alone();
    let problems = problems::<T>();
    for n in [1, 3] {
        set_threads(n);
        std::thread::scope(|s| {
            for caller in 0..8 {
                let problems = &problems;
                s.spawn(move || {
                    // Each problem falls to two or three of the callers.
                    for (p, one) in problems.iter().skip(caller % 3).step_by(3) {
                        let what = p.describe();
                        let out = while_in(&what, || p.run(p.apis()[0], Layout::Guards(caller as u64)));
                        assert!(one.same_bits(&out), "{what}: other bits with 8 callers, {n} threads each");
                    }
                });
            }
        });
    }
}

/// The host's own pool does the work: same bits, and it was really used.
fn host_pool<T: Scalar>() {
    type Task = extern "C" fn(*mut c_void, usize);
    static TASKS: AtomicUsize = AtomicUsize::new(0);

    /// Tasks in reverse order, every other one on a thread of its own.
    extern "C" fn parallel_for(ctx: *mut c_void, n: usize, task: Task, arg: *mut c_void) {
        assert_eq!(ctx as usize, 0x1234);
        TASKS.fetch_add(n, Ordering::Relaxed);
        let arg = arg as usize;
        std::thread::scope(|s| {
            for i in (0..n).rev() {
                if i % 2 == 1 {
                    s.spawn(move || task(arg as *mut c_void, i));
                } else {
                    task(arg as *mut c_void, i);
                }
            }
        });
    }

    type ParallelFor = Option<extern "C" fn(*mut c_void, usize, Task, *mut c_void)>;
    let _guard = alone();
    let problems = problems::<T>();
    let set = func!(corten_set_thread_pool: fn(ParallelFor, *mut c_void));
    set_threads(4);
    let before = TASKS.load(Ordering::Relaxed);
    // SAFETY: a function of the documented type; taken back below.
    unsafe { set(Some(parallel_for), 0x1234 as *mut c_void) };
    let wrong: Vec<String> = problems
        .iter()
        .filter(|(p, one)| !one.same_bits(&p.run(p.apis()[0], Layout::Guards(3))))
        .map(|(p, _)| p.describe())
        .collect();
    // SAFETY: as above.
    unsafe { set(None, std::ptr::null_mut()) };
    assert!(wrong.is_empty(), "other bits on the host's pool: {wrong:?}");
    assert!(TASKS.load(Ordering::Relaxed) > before, "the host's pool was not used");
}

/// 64 KiB of stack suffice for every routine, on one thread and on several.
fn small_stack<T: Scalar>() {
    let _guard = alone();
    let problems = problems::<T>();
    for n in [1, 4] {
        set_threads(n);
        for (p, one) in &problems {
            let mut ready = p.prepare(p.apis()[0], Layout::Guards(5));
            let what = p.describe();
            let mut same = false;
            on_stack(64 << 10, || {
                while_in(&what, || ready.fire());
                same = ready.has_bits(one);
            });
            assert!(same, "{what}: other bits on a small stack, {n} threads");
        }
    }
}

for_types!(
    same_bits_for_any_thread_count => any_count,
    same_bits_for_shared_columns => shared_columns,
    same_bits_for_last_rows => last_rows,
    same_bits_for_eight_callers_at_once => eight_callers,
    same_bits_on_the_hosts_pool => host_pool,
    small_stacks_suffice => small_stack,
);

fn gemm(size: Size) -> Problem<f64> {
    make_bits(&routines::level3::table::<f64>()[0], 5, size, 0)
}

/// One thread means none besides the caller; four means three more.
#[test]
fn threads_are_made_when_needed() {
    let _guard = alone();
    let p = gemm(Size::Large);
    set_threads(4);
    p.run(p.apis()[0], Layout::Guards(1));
    let most = threads();
    // The main thread, this one, perhaps another waiting test; and workers.
    assert!(most >= 4, "4 threads were asked for, the process has {most}");
    set_threads(2);
    p.run(p.apis()[0], Layout::Guards(1));
    assert!(threads() <= most + 1, "a smaller number makes no new threads");
}

/// Idle workers sleep: a process that does nothing uses no processor time.
#[test]
fn idle_workers_sleep() {
    let _guard = alone();
    set_threads(4);
    let p = gemm(Size::Large);
    p.run(p.apis()[0], Layout::Guards(1));
    std::thread::sleep(Duration::from_millis(100));
    // The workers' own time: other tests may wait on the lock, but not work.
    let used = || {
        let mut t: libc::timespec = unsafe { std::mem::zeroed() };
        // SAFETY: a valid clock and a valid target.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
        Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
    };
    let (start, wall) = (used(), Instant::now());
    std::thread::sleep(Duration::from_millis(300));
    let (cpu, wall) = (used() - start, wall.elapsed());
    assert!(cpu < wall / 10, "idle for {wall:?}, but {cpu:?} of processor time went by");
}

#[test]
fn settings() {
    let _guard = alone();
    let local = func!(corten_set_num_threads_local: fn(i32) -> i32);
    let procs = func!(corten_get_num_procs: fn() -> i32);
    set_threads(3);
    assert_eq!(get_threads(), 3);
    // SAFETY: any number is legal in all of these.
    unsafe {
        assert!(procs() >= 1);
        assert_eq!(local(2), 0, "no local setting before");
        assert_eq!(get_threads(), 2, "the local setting counts here");
        let elsewhere = std::thread::spawn(get_threads).join().unwrap();
        assert_eq!(elsewhere, 3, "and only here");
        assert_eq!(local(0), 2);
        assert_eq!(get_threads(), 3);
        for (set, get) in [
            ("openblas_set_num_threads", "openblas_get_num_threads"),
            ("openblas_set_num_threads64_", "openblas_get_num_threads64_"),
            ("scipy_openblas_set_num_threads", "scipy_openblas_get_num_threads"),
            ("goto_set_num_threads", "openblas_get_num_threads"),
        ] {
            let set: extern "C" fn(i32) = std::mem::transmute(lib().symbol(set));
            let get: extern "C" fn() -> i32 = std::mem::transmute(lib().symbol(get));
            set(2);
            assert_eq!((get(), get_threads()), (2, 2));
            set(4);
            assert_eq!((get(), get_threads()), (4, 4));
        }
        let fortran = func!(openblas_set_num_threads_: fn(*const i32));
        fortran(&2);
        assert_eq!(func!(openblas_get_num_threads_: fn() -> i32)(), 2);
        // Nonsense is survived, and there is at least one thread after it.
        for n in [0, -1, i32::MIN, i32::MAX] {
            set_threads(n);
            assert!(get_threads() >= 1, "{n} threads");
            local(n);
            assert!(get_threads() >= 1, "{n} threads, local");
            local(0);
        }
        set_threads(2);
        assert_eq!(func!(openblas_get_parallel: fn() -> i32)(), 1);
        for name in
            ["corten_version", "corten_get_config", "corten_get_isa", "openblas_get_config", "openblas_get_corename"]
        {
            let f: extern "C" fn() -> *const libc::c_char = std::mem::transmute(lib().symbol(name));
            let text = std::ffi::CStr::from_ptr(f()).to_str().expect("UTF-8");
            assert!(!text.is_empty(), "{name}");
        }
    }
}

/// Flush-to-zero and rounding are the caller's: they are the same after the
/// call, and the workers follow them (else bits would depend on threads).
#[cfg(target_arch = "x86_64")]
#[test]
fn floating_point_state_is_the_callers() {
    fn get() -> u32 {
        let mut v = 0u32;
        // SAFETY: stores MXCSR.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut v, options(nostack)) };
        v
    }
    fn set(v: u32) {
        // SAFETY: loads a valid MXCSR (read from it, legal bits added).
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &v, options(nostack)) };
    }
    const STATUS: u32 = 0x3f;
    let _guard = alone();
    let normal = get();
    for r in routines::level3::table::<f64>() {
        // Tiny values: products and sums fall below the normal range.
        let mut p = make_bits(&r, 31, Size::Large, 0);
        let solve = p.solve.is_some();
        for b in p.bufs.iter_mut().filter(|_| !solve) {
            let scale = if b.want.is_empty() { 1e-155 } else { 1e-310 };
            b.data.iter_mut().for_each(|v| *v *= scale);
        }
        let mut with_ftz = Vec::new();
        for extra in [0, 0x8040 /* flush results, read denormals as zero */, 0x6000 /* round to zero */] {
            let mut first = None;
            for n in [1, 2, 4] {
                set_threads(n);
                let mut ready = p.prepare(p.apis()[0], Layout::Guards(2));
                set(normal | extra);
                ready.fire();
                let after = get();
                set(normal);
                assert_eq!(after & !STATUS, (normal | extra) & !STATUS, "{}: MXCSR changed", r.name);
                let out = ready.outcome();
                let first = first.get_or_insert_with(|| out.clone());
                assert!(first.same_bits(&out), "{} with MXCSR bits {extra:#x}: other bits on {n} threads", r.name);
            }
            with_ftz.push(first.unwrap());
        }
        if !solve && r.name == "gemm" {
            // The test would be void if the modes made no difference.
            assert!(!with_ftz[0].same_bits(&with_ftz[1]) && !with_ftz[0].same_bits(&with_ftz[2]));
        }
    }
}
