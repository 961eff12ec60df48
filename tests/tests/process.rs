//! The library as a guest in a process: fork, exit, loading and unloading,
//! calls that need nothing of the operating system.

use corten_tests::draw::Size;
use corten_tests::func;
use corten_tests::library::{self, lib};
use corten_tests::problem::{Layout, Problem};
use corten_tests::process::{End, in_child, threads, while_in};
use corten_tests::routines;
use corten_tests::scalar::{C32, C64, Scalar};
use corten_tests::suite::make_bits;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

/// Forking copies the whole process: one test at a time.
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
    // SAFETY: any number is legal.
    unsafe { func!(corten_set_num_threads: fn(i32))(n) };
}

fn level3<T: Scalar>() -> Vec<Problem<T>> {
    let table = routines::level3::table::<T>();
    table.iter().map(|r| make_bits(r, 3, Size::Large, 1)).collect()
}

/// After threaded work a child calls every threaded routine, and threads
/// work for it too; then the parent goes on.
#[test]
fn fork_after_threaded_work() {
    let _guard = alone();
    set_threads(4);
    for p in level3::<f64>() {
        let want = p.run(p.apis()[0], Layout::Guards(1));
        let mut ready = p.prepare(p.apis()[0], Layout::Guards(1));
        let end = in_child(LIMIT, || {
            ready.fire();
            // The parent's workers do not exist here: there must be new ones.
            ready.has_bits(&want) && threads() > 1
        });
        assert_eq!(end, End::Exit(0), "{} in a child: other bits, or no threads", p.describe());
        let again = p.run(p.apis()[0], Layout::Guards(1));
        assert!(again.same_bits(&want), "{} in the parent after the fork", p.describe());
    }
}

/// A child of a child, and a child that was made before the first call.
#[test]
fn fork_of_a_fork() {
    let _guard = alone();
    set_threads(3);
    let p = &level3::<f32>()[0];
    let want = p.run(p.apis()[0], Layout::Guards(1));
    let mut one = p.prepare(p.apis()[0], Layout::Guards(1));
    let mut two = p.prepare(p.apis()[0], Layout::Guards(1));
    let end = in_child(LIMIT, || {
        one.fire();
        let inner = in_child(LIMIT / 2, || {
            two.fire();
            two.has_bits(&want)
        });
        inner == End::Exit(0) && one.has_bits(&want)
    });
    assert_eq!(end, End::Exit(0));
}

/// Forks while other threads are in the middle of threaded calls, from two
/// threads at once: no child hangs, no parent either.
#[test]
fn fork_during_threaded_work() {
    let _guard = alone();
    set_threads(4);
    let problems = level3::<f64>();
    let stop = AtomicBool::new(false);
    let p = &problems[0];
    let want = p.run(p.apis()[0], Layout::Guards(1));
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for q in &problems {
                        q.run(q.apis()[0], Layout::Guards(2));
                    }
                }
            });
        }
        let forkers: Vec<_> = (0..2)
            .map(|_| {
                s.spawn(|| {
                    for round in 0..15 {
                        let mut ready = p.prepare(p.apis()[0], Layout::Guards(1));
                        let end = in_child(LIMIT, || {
                            ready.fire();
                            ready.has_bits(&want)
                        });
                        if end != End::Exit(0) {
                            return Err(format!("round {round}: {end:?}"));
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        let ends: Vec<_> = forkers.into_iter().map(|f| f.join().unwrap()).collect();
        stop.store(true, Ordering::Relaxed);
        for end in ends {
            end.unwrap();
        }
    });
}

/// Small calls of every routine need no system call at all: after one warm
/// call each, the child locks itself into a jail that allows none.
#[test]
fn small_calls_make_no_system_call() {
    fn all<T: Scalar>() {
        for r in routines::all::<T>() {
            let p = make_bits(&r, 8, Size::Tiny, 2);
            let mut ready = p.prepare(p.apis()[0], Layout::Guards(1));
            let mut warm = p.prepare(p.apis()[0], Layout::Guards(1));
            warm.fire();
            let want = warm.outcome();
            let end = in_child(LIMIT, || {
                warm.fire();
                // SAFETY: from here on only read, write, exit and sigreturn
                // are allowed; anything else is SIGKILL.
                unsafe {
                    if libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_STRICT, 0, 0, 0) != 0 {
                        libc::_exit(77);
                    }
                    ready.fire();
                    let ok = ready.has_bits(&want);
                    libc::syscall(libc::SYS_exit, if ok { 0 } else { 1 });
                }
                true
            });
            assert_ne!(end, End::Exit(77), "this kernel offers no seccomp: cannot test");
            assert_eq!(end, End::Exit(0), "{}: a system call, or other bits", p.describe());
        }
    }
    let _guard = alone();
    set_threads(1);
    all::<f32>();
    all::<f64>();
    all::<C32>();
    all::<C64>();
}

/// Runs the probe, a program of its own that loads the library itself.
fn probe(mode: &str, env: &[(&str, &str)]) -> String {
    let out = Command::new("timeout")
        .arg("60")
        .arg(env!("CARGO_BIN_EXE_probe"))
        .arg(mode)
        .env("CORTEN_LIB", library::path())
        .envs(env.iter().copied())
        .output()
        .expect("timeout(1) and the probe must run");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let err = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "probe {mode}: {}\n{text}{err}", out.status);
    text
}

/// Loading, calling with threads and unloading, again and again; in the end
/// neither threads nor mappings have piled up, and exit works.
#[test]
fn load_and_unload_in_a_loop() {
    let text = probe("reload", &[("CORTEN_THREAD_MIN_WORK", "1"), ("CORTEN_NUM_THREADS", "4")]);
    assert!(text.contains("reload ok"), "{text}");
}

/// A program may return from main while workers sleep or spin.
#[test]
fn exit_with_workers() {
    for _ in 0..20 {
        let text = probe("exit", &[("CORTEN_THREAD_MIN_WORK", "1"), ("CORTEN_NUM_THREADS", "4")]);
        assert!(text.contains("exit ok"), "{text}");
    }
}

/// Without scratch memory the slow paths run, with right results; the same
/// when the address space is exhausted.
#[test]
fn no_memory_to_be_had() {
    let text = probe("starve", &[("CORTEN_NUM_THREADS", "2"), ("CORTEN_THREAD_MIN_WORK", "1")]);
    assert!(text.contains("starve ok"), "{text}");
    let text = probe("starve", &[("CORTEN_SCRATCH_LIMIT", "0")]);
    assert!(text.contains("starve ok"), "{text}");
}

/// Variables with nonsense in them: a warning at most, never harm.
#[test]
fn nonsense_in_the_environment() {
    for value in ["", "abc", "-1", "0", "99999999999999999999", "4,2", " 2 ", "\u{fc}"] {
        for name in [
            "CORTEN_ISA",
            "CORTEN_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "OMP_NUM_THREADS",
            "CORTEN_THREAD_MIN_WORK",
            "CORTEN_SCRATCH_LIMIT",
            "CORTEN_VERBOSE",
        ] {
            let text = probe("exit", &[(name, value)]);
            assert!(text.contains("exit ok"), "{name}={value:?}: {text}");
        }
    }
}

/// `CORTEN_ISA` lowers the choice and never raises it.
#[test]
fn isa_can_only_be_lowered() {
    let best = probe("isa", &[]);
    let levels = ["generic", "avx2", "avx512"];
    let rank = |s: &str| levels.iter().position(|l| *l == s.trim()).unwrap_or_else(|| panic!("level {s:?}"));
    // The environment of this very run may have lowered it already.
    for (i, level) in levels.iter().enumerate() {
        let got = probe("isa", &[("CORTEN_ISA", level)]);
        assert!(rank(&got) <= i, "CORTEN_ISA={level} gave {got}");
        if std::env::var_os("CORTEN_ISA").is_none() {
            assert_eq!(rank(&got), i.min(rank(&best)), "CORTEN_ISA={level}, detected {best}");
        }
    }
}

/// CORTEN_VERBOSE=1 tells one line a level-3 call.
#[test]
fn verbose_names_the_call() {
    let out = Command::new(env!("CARGO_BIN_EXE_probe"))
        .arg("exit")
        .env("CORTEN_LIB", library::path())
        .env("CORTEN_VERBOSE", "1")
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&out.stderr);
    let line = err.lines().find(|l| l.starts_with("corten: dgemm ")).unwrap_or_else(|| panic!("no line in {err:?}"));
    for word in ["m=96", "n=96", "k=96", "threads=", "time="] {
        assert!(line.contains(word), "{word} is missing in {line:?}");
    }
}

/// Many short-lived threads that call: nothing piles up for each of them.
#[test]
fn short_lived_callers() {
    let _guard = alone();
    set_threads(1);
    let problems = level3::<f32>();
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
        pages * 4096
    };
    let round = |n: usize| {
        for i in 0..n {
            let p = &problems[i % problems.len()];
            std::thread::scope(|s| {
                s.spawn(|| {
                    let what = p.describe();
                    while_in(&what, || p.run(p.apis()[0], Layout::Guards(1)));
                });
            });
        }
    };
    round(30);
    let before = resident();
    round(120);
    let grown = resident().saturating_sub(before);
    assert!(grown < 24 << 20, "120 threads that came and went left {grown} bytes");
}
