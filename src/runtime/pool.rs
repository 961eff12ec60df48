//! Threads: the one seam through which the library uses more than the calling thread.
//!
//! Why not a general task library: a BLAS call must work after `fork`, must not start a thread before it needs one, must
//! not queue behind another caller, and hands off work of tens of microseconds. So: workers are detached threads in a
//! list that only grows. A call claims workers that are idle with one compare-and-swap each (no lock, several callers
//! at once share what is free), takes part itself, and at its end takes back the workers that have not woken yet. An idle
//! worker spins for a moment, then sleeps on a futex. After `fork` the child starts with an empty list.
//!
//! Work is a number of independent tasks, taken in turn by whoever is free ([`run`]), or by each thread from a share of
//! neighbouring ones and then from those of others ([`run_neighbours`]). Results do not depend on who runs what: no routine
//! splits a sum across tasks.

use super::{env, sys};
use core::cell::Cell;
use core::ffi::c_void;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long an idle worker spins before it sleeps. Measured (2 virtual cores, Zen 3): handing a task to a spinning worker
/// costs 0.3 microseconds; to a sleeping one 20 of the caller's time, and it begins 50 later at best. At worst the system
/// wakes it on the core of its caller (a halted virtual core does not count as free) and moves it away at one of its
/// next ticks: a worker that slept sooner would meet that at every call. Others spin for 20 milliseconds and more.
const SPIN: Duration = Duration::from_millis(2);
/// How long a caller spins for its last worker before it sleeps.
const SPIN_CALLER: Duration = Duration::from_micros(100);
/// Looks at the mailbox between two looks at the clock, a quarter of a microsecond.
const LOOKS: usize = 16;
/// Looks at the clock between two offers of the core to whoever else wants it: the system may have put the worker on the
/// very core that its caller runs on, and a machine may have more to do than ours.
const YIELDS: usize = 8;
/// Enough for any task; page-granular, so what is not touched costs nothing.
const WORKER_STACK: usize = 512 << 10;

// Work is counted in floating-point operations of a matrix product: about 1/64 nanosecond each on one AVX2 core.

/// Work that each thread must get: some ten times what handing it over costs.
const GRAIN: f64 = 2e5;
/// Work from which on sleeping workers are woken for a single call.
const WAKE_FROM: f64 = 1e7;
/// Work that calls below that may do alone, one after the other, before a worker is woken for the next ones. A wake is a
/// twentieth of it at most: calls that come in a row get their workers, a call now and then does not pay for one.
const WAKE_AFTER: u64 = 25_000_000;
/// What a byte counts that a routine reads or writes once: level 1 and 2 are bound by the caches' bandwidth.
const WORK_PER_BYTE: f64 = 1.5;

// ---------------------------------------------------------------------------------------------------------------------
// How many threads

static GLOBAL: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Override for calls of this thread; 0 = follow the global number.
    static LOCAL: Cell<usize> = const { Cell::new(0) };
    /// Set while this thread runs a task: calls from inside stay on it.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Processors this process may use: affinity and container quota counted.
pub fn num_procs() -> usize {
    static PROCS: OnceLock<usize> = OnceLock::new();
    *PROCS.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// Threads a call of this thread may use.
pub fn num_threads() -> usize {
    match LOCAL.get() {
        0 => match GLOBAL.load(Ordering::Relaxed) {
            0 => initial(),
            n => n,
        },
        n => n,
    }
}

#[cold]
fn initial() -> usize {
    let asked = [&env::NUM_THREADS, &env::OPENBLAS_NUM_THREADS, &env::OMP_NUM_THREADS];
    let n = asked.into_iter().find_map(|var| var.number().filter(|&n| n > 0));
    let n = n.map_or_else(num_procs, |n| (n as usize).min(MAX_THREADS));
    // Somebody may have set it meanwhile: that wins.
    match GLOBAL.compare_exchange(0, n, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => n,
        Err(set) => set,
    }
}

/// A bound against typing errors, not a table size.
const MAX_THREADS: usize = 4096;

/// Sets the number of threads of all calls that follow; 0 restores the default.
pub fn set_num_threads(n: usize) {
    GLOBAL.store(if n == 0 { num_procs() } else { n.min(MAX_THREADS) }, Ordering::Relaxed);
}

/// Sets the number for calls of this thread alone; 0 = follow the global number. Returns what was set before.
pub fn set_num_threads_local(n: usize) -> usize {
    LOCAL.replace(n.min(MAX_THREADS))
}

/// Threads that are worth using for so many floating-point operations. Below what two threads need, no lock, no
/// thread-local variable and no system call are touched.
#[inline]
pub fn threads_for(flops: f64) -> usize {
    if flops < least() { 1 } else { threads_worth(flops) }
}

/// The same for a routine that is bound by memory: the bytes that it reads and writes.
#[inline]
pub fn threads_for_bytes(bytes: f64) -> usize {
    threads_for(bytes * WORK_PER_BYTE)
}

/// The least work that is shared: CORTEN_THREAD_MIN_WORK, or what two threads need.
#[inline(always)]
fn least() -> f64 {
    match LEAST.get() {
        Some((least, _)) => *least,
        None => read_least().0,
    }
}

/// The least work, and whether it was asked for: then every call beyond it uses all threads that were asked for.
static LEAST: OnceLock<(f64, bool)> = OnceLock::new();

#[cold]
fn read_least() -> (f64, bool) {
    *LEAST.get_or_init(|| env::THREAD_MIN_WORK.number().map_or((2.0 * GRAIN, false), |n| (n as f64, true)))
}

#[inline(never)]
fn threads_worth(work: f64) -> usize {
    // What calls did alone because the workers were asleep.
    static ALONE: AtomicU64 = AtomicU64::new(0);
    let allowed = threads_allowed();
    if allowed <= 1 || read_least().1 {
        return allowed;
    }
    // More threads than cores would only wait for each other, and other callers have theirs.
    let free = num_procs().saturating_sub(others_at_work(work)).max(1);
    let wanted = allowed.min(free).min((work / GRAIN) as usize);
    if wanted <= 1 || !CALLBACK.load(Ordering::Relaxed).is_null() {
        return wanted;
    }
    let (awake, asleep) = pool().idle(wanted - 1);
    if work < WAKE_FROM && asleep > 0 {
        if ALONE.fetch_add(work as u64, Ordering::Relaxed) < WAKE_AFTER {
            return 1 + awake;
        }
        ALONE.store(0, Ordering::Relaxed);
    }
    1 + awake + asleep
}

/// Other threads that are in a call now, as far as their estimates go; notes this one's. A call leaves no note at its end:
/// that would need a hold on every routine, where a time at which it will be over needs none.
fn others_at_work(work: f64) -> usize {
    const SLOTS: usize = 64;
    static UNTIL: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    let now = EPOCH.get_or_init(Instant::now).elapsed().as_nanos() as u64;
    // Threads are told apart by the address of a variable of theirs; two in one slot count as one.
    let mine = INSIDE.with(|own| (core::ptr::from_ref(own) as u64 >> 6).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58);
    let others =
        UNTIL.iter().enumerate().filter(|(i, until)| *i != mine as usize && until.load(Ordering::Relaxed) > now);
    let others = others.count();
    // Half the speed of one AVX2 core in single precision.
    UNTIL[mine as usize].store(now.saturating_add((work / 32.0) as u64), Ordering::Relaxed);
    others
}

fn threads_allowed() -> usize {
    if INSIDE.get() || inside_openmp() { 1 } else { num_threads() }
}

/// Whether the caller is one of several OpenMP threads: they have the cores already.
fn inside_openmp() -> bool {
    static QUERY: OnceLock<Option<extern "C" fn() -> i32>> = OnceLock::new();
    let query = QUERY.get_or_init(|| {
        let f = sys::symbol(c"omp_in_parallel");
        // SAFETY: every OpenMP runtime defines the name with this signature; a null pointer becomes None.
        unsafe { core::mem::transmute::<*mut c_void, Option<extern "C" fn() -> i32>>(f) }
    });
    query.is_some_and(|f| f() != 0)
}

// ---------------------------------------------------------------------------------------------------------------------
// Running tasks

/// One parallel call, on the caller's stack; alive until `active` is zero.
struct Job<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    tasks: usize,
    /// Threads that took part so far.
    came: AtomicUsize,
    /// The first `count` of these.
    shares: [Share; SHARES],
    count: usize,
    /// Workers that were claimed and have not left; with `WAITING`, the caller sleeps until there are none.
    active: AtomicU32,
    fp: sys::FpState,
}

/// The next task of a share, counted from its first. A cache line: threads take from shares of their own.
#[repr(align(64))]
struct Share(AtomicUsize);

/// Shares at most. More threads than that have them in common.
const SHARES: usize = 32;

/// Set in `Job::active` by a caller that is about to sleep, so that only then the last worker makes a system call.
const WAITING: u32 = 1 << 31;

impl<'a> Job<'a> {
    fn new(tasks: usize, shares: usize, work: &'a (dyn Fn(usize) + Sync)) -> Job<'a> {
        Job {
            work,
            tasks,
            came: AtomicUsize::new(0),
            shares: [const { Share(AtomicUsize::new(0)) }; SHARES],
            count: shares.min(SHARES),
            active: AtomicU32::new(0),
            fp: sys::FpState::get(),
        }
    }

    fn take_part(&self) {
        let outer = INSIDE.replace(true);
        let own = self.came.fetch_add(1, Ordering::Relaxed);
        for i in 0..self.count {
            self.work_on((own + i) % self.count);
        }
        INSIDE.set(outer);
    }

    /// Takes what is left of a share.
    fn work_on(&self, share: usize) {
        // As even as whole numbers can be, without a product that might overflow.
        let (each, more) = (self.tasks / self.count, self.tasks % self.count);
        let (first, tasks) = (share * each + share.min(more), each + usize::from(share < more));
        loop {
            let task = self.shares[share].0.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                return;
            }
            (self.work)(first + task);
        }
    }
}

/// Runs `work(0) … work(tasks-1)` on at most `threads` threads, the caller among them; returns when all are done. Tasks are
/// taken in turn: threads are at work on neighbours.
pub fn run(tasks: usize, threads: usize, work: &(dyn Fn(usize) + Sync)) {
    run_in_shares(tasks, threads, 1, work);
}

/// As [`run`], but each thread takes neighbouring tasks one after the other: for tasks that ask for what the next one will read.
/// (Zen 5, two threads, 16 images, in turn and so, GFLOPS: 1x1 on NCHW, 64 channels to 64 at 56x56 458 and 481, 512 to 128 at 28x28 485
/// and 503; its weights' gradient, 1024 to 256 at 14x14, NHWC 369 and 427. What asks for nothing ahead is better in turn: 3x3 by Winograd's algorithm,
/// 64 channels at 56x56 1146 and 1060.)
pub fn run_neighbours(tasks: usize, threads: usize, work: &(dyn Fn(usize) + Sync)) {
    run_in_shares(tasks, threads, threads, work);
}

fn run_in_shares(tasks: usize, threads: usize, shares: usize, work: &(dyn Fn(usize) + Sync)) {
    let threads = threads.min(tasks);
    if threads <= 1 {
        for task in 0..tasks {
            work(task);
        }
        return;
    }
    let job = Job::new(tasks, shares.min(threads), work);
    if !run_by_callback(&job, threads) {
        let pool = pool();
        pool.claim(&job, threads - 1);
        job.take_part();
        pool.take_back(&job);
        wait_until_left(&job);
    }
}

fn wait_until_left(job: &Job) {
    if spin_until(SPIN_CALLER, || job.active.load(Ordering::Acquire) == 0) {
        return;
    }
    let mut active = job.active.fetch_or(WAITING, Ordering::Acquire) | WAITING;
    while active != WAITING {
        sys::futex_wait(&job.active, active);
        active = job.active.load(Ordering::Acquire);
    }
}

/// Looks again and again until it is so, or the time is over; says whether it was.
#[inline]
fn spin_until(time: Duration, is_so: impl Fn() -> bool) -> bool {
    let mut start = None;
    for round in 1.. {
        for _ in 0..LOOKS {
            if is_so() {
                return true;
            }
            spin_loop();
        }
        if start.get_or_insert_with(Instant::now).elapsed() >= time {
            break;
        }
        if round % YIELDS == 0 {
            std::thread::yield_now();
        }
    }
    false
}

/// A worker thread's mailbox. Never freed.
struct Worker {
    /// Null: idle. A job: claimed. A job with the lowest bit set: at work.
    job: AtomicPtr<Job<'static>>,
    /// 1 while it sleeps or is about to.
    asleep: AtomicU32,
    next: *const Worker,
}

struct Pool {
    head: AtomicPtr<Worker>,
    workers: AtomicUsize,
}

static POOL: AtomicPtr<Pool> = AtomicPtr::new(core::ptr::null_mut());

extern "C" fn forget_pool_after_fork() {
    // The workers stayed in the parent; their mailboxes are left to themselves.
    POOL.store(core::ptr::null_mut(), Ordering::Relaxed);
}

fn pool() -> &'static Pool {
    let mut pool = POOL.load(Ordering::Acquire);
    if pool.is_null() {
        static AT_FORK: OnceLock<()> = OnceLock::new();
        AT_FORK.get_or_init(|| sys::at_fork_in_child(forget_pool_after_fork));
        let new =
            Box::into_raw(Box::new(Pool { head: AtomicPtr::new(core::ptr::null_mut()), workers: AtomicUsize::new(0) }));
        match POOL.compare_exchange(core::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => pool = new,
            Err(theirs) => {
                // SAFETY: `new` lost the race and was never shared.
                drop(unsafe { Box::from_raw(new) });
                pool = theirs;
            }
        }
    }
    // SAFETY: pools are never freed once shared.
    unsafe { &*pool }
}

impl Pool {
    /// Workers that have nothing to do, up to `wanted`: those that spin, and those that sleep or have not been started.
    fn idle(&self, wanted: usize) -> (usize, usize) {
        let (mut awake, mut asleep) = (0, wanted.saturating_sub(self.workers.load(Ordering::Relaxed)));
        for worker in self.iter() {
            if awake + asleep >= wanted {
                break;
            }
            if worker.job.load(Ordering::Relaxed).is_null() {
                match worker.asleep.load(Ordering::Relaxed) {
                    0 => awake += 1,
                    _ => asleep += 1,
                }
            }
        }
        (awake, asleep)
    }

    /// Hands the job to up to `wanted` idle workers, starting threads that are missing: first to those that spin.
    fn claim(&self, job: &Job, wanted: usize) {
        while self.workers.load(Ordering::Relaxed) < wanted && self.start_worker() {}
        // The job outlives its workers' use of it: see `wait_until_left`.
        let job_ptr = core::ptr::from_ref(job).cast_mut().cast::<Job<'static>>();
        let mut claimed = 0;
        for sleepers in [false, true] {
            for worker in self.iter() {
                if claimed == wanted {
                    return;
                }
                let sleeps = worker.asleep.load(Ordering::Relaxed) == 1;
                if sleeps != sleepers || !worker.job.load(Ordering::Relaxed).is_null() {
                    continue;
                }
                job.active.fetch_add(1, Ordering::Relaxed);
                let mine =
                    worker.job.compare_exchange(core::ptr::null_mut(), job_ptr, Ordering::SeqCst, Ordering::Relaxed);
                if mine.is_err() {
                    job.active.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                claimed += 1;
                if worker.asleep.swap(0, Ordering::SeqCst) == 1 {
                    sys::futex_wake(worker.asleep.as_ptr() as usize);
                }
            }
        }
    }

    /// Takes the job back from workers that have not begun.
    fn take_back(&self, job: &Job) {
        let job_ptr = core::ptr::from_ref(job).cast_mut().cast::<Job<'static>>();
        for worker in self.iter() {
            let back = worker.job.compare_exchange(job_ptr, core::ptr::null_mut(), Ordering::SeqCst, Ordering::Relaxed);
            if back.is_ok() {
                job.active.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &'static Worker> {
        let mut at = self.head.load(Ordering::Acquire).cast_const();
        core::iter::from_fn(move || {
            // SAFETY: workers are never freed; null ends the list.
            let worker = unsafe { at.as_ref() }?;
            at = worker.next;
            Some(worker)
        })
    }

    /// One more worker; false if the system refuses another thread.
    #[cold]
    fn start_worker(&self) -> bool {
        self.workers.fetch_add(1, Ordering::Relaxed);
        let worker = Box::into_raw(Box::new(Worker {
            job: AtomicPtr::new(core::ptr::null_mut()),
            asleep: AtomicU32::new(0),
            next: core::ptr::null(),
        }));
        let address = worker as usize;
        let started = sys::with_signals_blocked(|| {
            std::thread::Builder::new()
                .name("corten".into())
                .stack_size(WORKER_STACK)
                // SAFETY: the worker is never freed once its thread runs.
                .spawn(move || unsafe { &*(address as *const Worker) }.live())
        });
        if started.is_err() {
            // SAFETY: no thread took it.
            drop(unsafe { Box::from_raw(worker) });
            return false;
        }
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: not in the list yet, and its thread never looks at `next`.
            unsafe { (*worker).next = head };
            match self.head.compare_exchange(head, worker, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => head = now,
            }
        }
    }
}

impl Worker {
    fn live(&self) -> ! {
        loop {
            let job_ptr = self.wait_for_job();
            let busy = job_ptr.map_addr(|a| a | 1);
            if self.job.compare_exchange(job_ptr, busy, Ordering::SeqCst, Ordering::Relaxed).is_err() {
                continue; // taken back
            }
            // SAFETY: this worker is counted in `active`, so the caller keeps the job alive until the count goes down.
            let job = unsafe { &*job_ptr };
            job.fp.set();
            job.take_part();
            self.job.store(core::ptr::null_mut(), Ordering::Release);
            let word = job.active.as_ptr() as usize;
            if job.active.fetch_sub(1, Ordering::Release) == WAITING + 1 {
                // From here on the job may be gone; only its address is used.
                sys::futex_wake(word);
            }
        }
    }

    fn wait_for_job(&self) -> *mut Job<'static> {
        loop {
            spin_until(SPIN, || !self.job.load(Ordering::Relaxed).is_null());
            let job = self.job.load(Ordering::Acquire);
            if !job.is_null() {
                return job;
            }
            self.asleep.store(1, Ordering::SeqCst);
            if self.job.load(Ordering::SeqCst).is_null() {
                sys::futex_wait(&self.asleep, 1);
            }
            self.asleep.store(0, Ordering::SeqCst);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// An embedding framework's own threads

/// `parallel_for(ctx, n, task, arg)`: calls `task(arg, i)` for all i < n, on any threads, and returns when all are done.
pub type ParallelFor =
    extern "C" fn(ctx: *mut c_void, n: usize, task: extern "C" fn(*mut c_void, usize), arg: *mut c_void);

static CALLBACK: AtomicPtr<(ParallelFor, usize)> = AtomicPtr::new(core::ptr::null_mut());

/// Uses the host's threads instead of workers of our own; `None` goes back to those. Calls that are under way finish on
/// the threads they began with.
pub fn set_callback(callback: Option<(ParallelFor, *mut c_void)>) {
    let new = callback.map_or(core::ptr::null_mut(), |(f, ctx)| Box::into_raw(Box::new((f, ctx as usize))));
    // The old pair is not freed: a call on another thread may be about to use it. Sixteen bytes a change.
    CALLBACK.store(new, Ordering::Release);
}

extern "C" fn one_thread_of_callback(job: *mut c_void, _index: usize) {
    // SAFETY: `run_by_callback` passes a job that lives until parallel_for returns.
    let job = unsafe { &*job.cast::<Job>() };
    let outer = sys::FpState::get();
    job.fp.set();
    job.take_part();
    outer.set();
}

fn run_by_callback(job: &Job, threads: usize) -> bool {
    let callback = CALLBACK.load(Ordering::Acquire);
    if callback.is_null() {
        return false;
    }
    // SAFETY: set by set_callback and never freed.
    let (parallel_for, ctx) = unsafe { *callback };
    parallel_for(ctx as *mut c_void, threads, one_thread_of_callback, core::ptr::from_ref(job).cast_mut().cast());
    // A host that dropped indices must not lose work.
    job.take_part();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many callers at once, jobs of all lengths, pauses long enough for workers and callers to fall asleep: every task
    /// runs once, and is done when its call returns.
    #[test]
    fn every_task_runs_once_whoever_calls() {
        std::thread::scope(|s| {
            for caller in 0..6usize {
                s.spawn(move || {
                    for round in 0..400usize {
                        let tasks = 1 + (round * 7 + caller) % 23;
                        let hits: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
                        run(tasks, 1 + round % 5, &|task| {
                            if (round + task).is_multiple_of(97) {
                                std::thread::sleep(SPIN_CALLER * 3);
                            }
                            hits[task].fetch_add(1, Ordering::Relaxed);
                        });
                        assert!(hits.iter().all(|h| h.load(Ordering::Relaxed) == 1), "caller {caller} round {round}");
                        if (round + caller).is_multiple_of(50) {
                            std::thread::sleep(SPIN * 2);
                        }
                    }
                });
            }
        });
    }

    /// Whoever comes, and however few: all tasks, those of a share in order.
    #[test]
    fn shares_are_neighbours_and_hold_every_task() {
        for (tasks, shares) in [(1, 1), (7, 1), (7, 2), (8, 3), (100, 32), (1000, 77), (33, 33)] {
            let order = std::sync::Mutex::new(Vec::new());
            let note = |task: usize| order.lock().unwrap().push(task);
            let job = Job::new(tasks, shares, &note);
            job.work_on(job.count - 1);
            job.take_part();
            let order = std::mem::take(&mut *order.lock().unwrap());
            let last = tasks - (tasks / job.count)..tasks;
            let want: Vec<usize> = last.clone().chain(0..last.start).collect();
            assert_eq!(order, want, "{tasks} in {shares}");
        }
    }

    /// Little work stays where it is, and no policy gives more threads than were asked for or than there are cores.
    #[test]
    fn threads_fit_the_work() {
        if env::THREAD_MIN_WORK.get().is_some() {
            return;
        }
        set_num_threads_local(3);
        assert_eq!(threads_for(0.0), 1);
        assert_eq!(threads_for(1.9 * GRAIN), 1);
        assert_eq!(threads_for_bytes(1.9 * GRAIN / WORK_PER_BYTE), 1);
        for work in [2.0 * GRAIN, 3.0 * GRAIN, 10.0 * GRAIN, WAKE_FROM, 1e12] {
            for _ in 0..200 {
                let n = threads_for(work);
                assert!(n >= 1 && n <= 3.min(num_procs()).min((work / GRAIN) as usize), "{work}: {n}");
            }
        }
        set_num_threads_local(1);
        assert_eq!(threads_for(1e12), 1);
        set_num_threads_local(0);
    }
}
