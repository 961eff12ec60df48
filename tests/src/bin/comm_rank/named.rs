//! Named tensors: any order, fusion, join, and what ranks disagree about.

use crate::*;

/// Named tensors: orders, fusion, kinds, errors, join.
pub fn named(w: World) {
    let World { me, p } = w;
    // Many tensors, submitted in another order on each rank.
    for round in 0..3u64 {
        let tensors = 60;
        let counts: Vec<usize> = (0..tensors).map(|t| [1, 17, 1000, 9_000, 3][t % 5] + t).collect();
        let kinds: Vec<c_int> = (0..tensors).map(|t| if t % 7 == 3 { F64 } else { F32 }).collect();
        let mut data: Vec<Vec<u8>> =
            (0..tensors).map(|t| vector(kinds[t], 50 + round * 100 + t as u64, me, counts[t])).collect();
        let mut handles = vec![0i64; tensors];
        for i in 0..tensors {
            let t = (i * 7 + me * 13) % tensors;
            let at = data[t].as_mut_ptr().cast::<c_void>();
            let tensor = name(&format!("gradient.{t}"));
            // SAFETY: the data stays where it is until it is waited for.
            let code = unsafe {
                comm::allreduce_async(
                    tensor.as_ptr(),
                    at,
                    at,
                    counts[t],
                    kinds[t],
                    AVERAGE,
                    1.0,
                    1.0,
                    0,
                    &mut handles[t],
                )
            };
            ok(code, "allreduce_async");
            if i % 20 == 19 {
                std::thread::sleep(Duration::from_millis((me as u64 * 3) % 7));
            }
        }
        for t in (0..tensors).rev() {
            // SAFETY: a number.
            unsafe {
                ok(comm::wait(handles[t], 300.0), "wait");
                assert_eq!(comm::poll(handles[t]), -1, "the handle is gone");
            }
            let want = expected(kinds[t], AVERAGE, 1.0, 1.0, 50 + round * 100 + t as u64, p, counts[t]);
            same(&data[t], &want, kinds[t], &format!("tensor {t}"));
        }
    }
    // Every kind at once, and blocking calls in between.
    let mut handles = [0i64; 6];
    let sum = vector(I32, 900, me, 5000);
    let mut sum_out = vec![0u8; sum.len()];
    let mut cast = vector(F16, 901, me, 777);
    let gather = vector(I64, 902, me, me + 1);
    let total: usize = (1..=p).sum();
    let mut gathered = vec![0u8; total * 8];
    let mut came = vec![0usize; p];
    let scatter = vector(F32, 903, me, 10 * p);
    let mut scattered = vec![0u8; 40];
    let give = vector(U8, 904, me, 3 * p);
    let threes = vec![3usize; p];
    let mut given = vec![0u8; 3 * p];
    let group: [Vec<u8>; 2] = [vector(F32, 905, me, 10), vector(F32, 906, me, 20)];
    let mut group_out = [vec![0u8; 40], vec![0u8; 80]];
    let group_in: Vec<*const c_void> = group.iter().map(|g| g.as_ptr().cast()).collect();
    let group_to: Vec<*mut c_void> = group_out.iter_mut().map(|g| g.as_mut_ptr().cast()).collect();
    let order: Vec<usize> = (0..6).map(|i| (i + me) % 6).collect();
    let null = std::ptr::null();
    for which in order {
        let n = name(["a", "b", "c", "d", "e", "f"][which]);
        let (n, h) = (n.as_ptr(), &raw mut handles[which]);
        // SAFETY: all buffers stay until they are waited for.
        let code = unsafe {
            match which {
                0 => comm::allreduce_async(
                    n,
                    sum.as_ptr().cast(),
                    sum_out.as_mut_ptr().cast(),
                    5000,
                    I32,
                    MAX,
                    1.0,
                    1.0,
                    0,
                    h,
                ),
                1 => comm::broadcast_async(n, cast.as_mut_ptr().cast(), 777, F16, (p - 1) as c_int, 0, h),
                2 => {
                    let to = gathered.as_mut_ptr().cast();
                    comm::allgather_async(n, gather.as_ptr().cast(), me + 1, to, total, came.as_mut_ptr(), I64, 0, h)
                }
                3 => {
                    let to = scattered.as_mut_ptr().cast();
                    comm::reducescatter_async(n, scatter.as_ptr().cast(), to, 10 * p, null, F32, SUM, 1.0, 1.0, 0, h)
                }
                4 => {
                    let (from, to) = (give.as_ptr().cast(), given.as_mut_ptr().cast());
                    comm::alltoall_async(n, from, threes.as_ptr(), to, 3 * p, std::ptr::null_mut(), U8, 0, h)
                }
                _ => {
                    let sizes = [10usize, 20];
                    let (from, to) = (group_in.as_ptr(), group_to.as_ptr());
                    comm::grouped_allreduce_async(n, 2, from, to, sizes.as_ptr(), F32, SUM, 1.0, 1.0, 0, h)
                }
            }
        };
        ok(code, "async");
    }
    // SAFETY: a number.
    ok(unsafe { comm::barrier(0) }, "barrier");
    for handle in handles {
        // SAFETY: a number.
        unsafe { ok(comm::wait(handle, 300.0), "wait") };
    }
    same(&sum_out, &expected(I32, MAX, 1.0, 1.0, 900, p, 5000), I32, "async max");
    same(&cast, &vector(F16, 901, p - 1, 777), F16, "async broadcast");
    same(&gathered, &(0..p).flat_map(|r| vector(I64, 902, r, r + 1)).collect::<Vec<_>>(), I64, "async allgather");
    assert_eq!(came, (1..=p).collect::<Vec<_>>());
    let all = expected(F32, SUM, 1.0, 1.0, 903, p, 10 * p);
    same(&scattered, &all[40 * me..40 * me + 40], F32, "async reducescatter");
    let want: Vec<u8> = (0..p).flat_map(|r| vector(U8, 904, r, 3 * p)[3 * me..3 * me + 3].to_vec()).collect();
    same(&given, &want, U8, "async alltoall");
    same(&group_out[0], &expected(F32, SUM, 1.0, 1.0, 905, p, 10), F32, "async group");
    same(&group_out[1], &expected(F32, SUM, 1.0, 1.0, 906, p, 20), F32, "async group");
    named_errors(w);
    refusals(w);
    crossing(w);
    join(w);
    refusal_before_join(w);
}

pub fn begin(tensor: &str, data: &mut [f32], n: usize, op: c_int, set: c_int) -> (c_int, i64) {
    let mut handle = 0;
    assert!(data.len() >= n);
    let (tensor, at) = (name(tensor), data.as_mut_ptr().cast::<c_void>());
    // SAFETY: the data stays until it is waited for.
    let code = unsafe { comm::allreduce_async(tensor.as_ptr(), at, at, n, F32, op, 1.0, 1.0, set, &mut handle) };
    (code, handle)
}

pub fn named_errors(w: World) {
    let World { me, p } = w;
    let last = p - 1;
    let mut data = vec![1f32; 100];
    let mut other = vec![1f32; 100];
    if p > 1 {
        // A wrong size on one rank: the same error everywhere, for this tensor only.
        let (code, wrong) = begin("wrong size", &mut data, if me == last { 7 } else { 9 }, SUM, 0);
        ok(code, "begin");
        let (code, right) = begin("right", &mut other, 100, SUM, 0);
        ok(code, "begin");
        let parts = ["'wrong size'", "rank 0 has count 9", &format!("rank {last} has count 7")];
        // SAFETY: numbers.
        unsafe {
            fails(comm::wait(wrong, 300.0), MISMATCH, &parts, "wrong size");
            ok(comm::wait(right, 300.0), "right");
        }
        assert!(other.iter().all(|x| *x == p as f32) && data.iter().all(|x| *x == 1.0));
        let (code, wrong) = begin("wrong op", &mut data, 9, if me == last { MIN } else { SUM }, 0);
        ok(code, "begin");
        // SAFETY: a number.
        unsafe { fails(comm::wait(wrong, 300.0), MISMATCH, &["'wrong op'", "sum", "min", "rank 0"], "wrong op") };
        let mut handle = 0;
        let n = name("wrong kind");
        // SAFETY: the data stays.
        unsafe {
            let at = data.as_mut_ptr().cast::<c_void>();
            let code = if me == last {
                comm::broadcast_async(n.as_ptr(), at, 9, F32, 0, 0, &mut handle)
            } else {
                comm::allreduce_async(n.as_ptr(), at, at, 9, F32, SUM, 1.0, 1.0, 0, &mut handle)
            };
            ok(code, "begin");
            fails(comm::wait(handle, 300.0), MISMATCH, &["'wrong kind'", "allreduce", "broadcast"], "wrong kind");
        }
    }
    // The same name twice.
    let (code, first) = begin("twice", &mut data, 5, SUM, 0);
    ok(code, "begin");
    if me == 0 && p > 1 {
        // Rank 0 is ahead: nobody else has begun "held".
        let (code, held) = begin("held", &mut other, 5, SUM, 0);
        ok(code, "begin");
        let (code, _) = begin("held", &mut data, 5, SUM, 0);
        fails(code, ARGUMENT, &["'held'", "under way"], "the same name twice");
        let before = text();
        // SAFETY: numbers.
        unsafe {
            assert_eq!(comm::poll(held), 0);
            assert_eq!(comm::wait(held, 0.05), PENDING, "wait with a limit");
            assert_eq!(text(), before, "to be pending is no error");
            ok(comm::barrier(0), "barrier");
            ok(comm::wait(held, 300.0), "held");
        }
    } else if p > 1 {
        // SAFETY: a number.
        ok(unsafe { comm::barrier(0) }, "barrier");
        let (code, held) = begin("held", &mut other, 5, SUM, 0);
        ok(code, "begin");
        // SAFETY: a number.
        ok(unsafe { comm::wait(held, 300.0) }, "held");
    }
    // SAFETY: numbers.
    unsafe {
        ok(comm::wait(first, 300.0), "twice");
        fails(comm::wait(first, 1.0), STATE, &["handle"], "a handle that is gone");
        assert_eq!(comm::poll(123_456_789), -1);
    }
}

/// An operation with a bad argument on one rank: it is told at once, the others get the reason when they come to it, and a
/// next one of the same name is the next one on all.
pub fn refusals(w: World) {
    let World { me, p } = w;
    let last = p - 1;
    let mut data = vec![1f32; 100];
    let at = data.as_mut_ptr().cast::<c_void>();
    let mut handle = 0;
    // SAFETY: the data stays.
    let mut sum = |tensor: &str, kind: c_int, op: c_int, no_handle: bool| unsafe {
        let h = if no_handle { std::ptr::null_mut() } else { &raw mut handle };
        let code = comm::allreduce_async(name(tensor).as_ptr(), at, at, 10, kind, op, 1.0, 1.0, 0, h);
        (code, handle)
    };
    // One after the other, before the others have come, and a good one behind them.
    let wrong = [(77, SUM, false, "type is 77"), (F32, 9, false, "op is 9"), (F32, SUM, true, "handle is null")];
    for (kind, op, no_handle, reason) in wrong {
        if me == last {
            fails(sum("refused", kind, op, no_handle).0, ARGUMENT, &[reason], "a refusal");
        } else {
            let (code, handle) = sum("refused", F32, SUM, false);
            ok(code, "begin");
            let parts = ["tensor 'refused'", &format!("rank {last} has a bad argument: {reason}")];
            // SAFETY: a number.
            unsafe { fails(comm::wait(handle, 300.0), MISMATCH, &parts, "another's refusal") };
        }
    }
    let (code, handle) = sum("refused", F32, SUM, false);
    ok(code, "begin");
    // SAFETY: a number.
    unsafe { ok(comm::wait(handle, 300.0), "after refusals") };
    assert!(data[..10].iter().all(|x| *x == p as f32), "after refusals");
    // Refused by all: nobody is left to wait.
    let (code, _) = sum("by all", F32, 9, false);
    fails(code, ARGUMENT, &["op is 9"], "refused by all");
    let (code, handle) = sum("by all", F32, MAX, false);
    ok(code, "begin");
    // SAFETY: a number.
    unsafe { ok(comm::wait(handle, 300.0), "after a refusal by all") };
    // Lists that differ: both values.
    let mut other = vec![1f32; 100];
    let ends = [at, other.as_mut_ptr().cast::<c_void>()];
    let from = ends.map(<*mut c_void>::cast_const);
    let sizes = if me == last { [20usize, 10] } else { [10, 20] };
    let mut handle = 0;
    // SAFETY: the data stays.
    unsafe {
        let (n, h) = (name("cut"), &raw mut handle);
        let (src, dst) = (from.as_ptr(), ends.as_ptr());
        let code = comm::grouped_allreduce_async(n.as_ptr(), 2, src, dst, sizes.as_ptr(), F32, SUM, 1.0, 1.0, 0, h);
        ok(code, "begin");
        let code = comm::wait(handle, 300.0);
        if p > 1 {
            let parts = ["'cut'", "rank 0 has counts[0] 10", &format!("rank {last} has counts[0] 20")];
            fails(code, MISMATCH, &parts, "a group that is cut differently");
        }
    }
}

/// Rank 1 refuses what nobody else ever begins: that is no reason for anybody to give up, however long it lasts and whoever
/// leaves.
pub fn lonely(w: World) {
    let mut pair = -1;
    // SAFETY: a list of two.
    ok(unsafe { comm::process_set_add([1, 2].as_ptr(), 2, &mut pair) }, "process_set_add");
    let mut data = vec![1f32; 10];
    let mut all = |tensor: &str| {
        let (code, handle) = begin(tensor, &mut data, 10, MAX, 0);
        ok(code, "begin");
        // SAFETY: a number.
        ok(unsafe { comm::wait(handle, 300.0) }, "wait");
    };
    let refuse = || {
        if w.me == 1 {
            let (code, _) = begin("lonely", &mut [1f32; 10], 10, 9, 0);
            fails(code, ARGUMENT, &["op is 9"], "a refusal");
        }
    };
    // Nor does a set wait for that when it is removed, nor leave a thread behind.
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let (before, mut removing) = (threads(), Duration::ZERO);
    for _ in 0..4 {
        let mut set = -1;
        // SAFETY: a list of two.
        ok(unsafe { comm::process_set_add([2, 1].as_ptr(), 2, &mut set) }, "process_set_add");
        if w.me == 1 {
            let (code, _) = begin("lonely", &mut [1f32; 10], 10, 9, set);
            fails(code, ARGUMENT, &["op is 9"], "a refusal");
        }
        std::thread::sleep(Duration::from_millis(300));
        // SAFETY: a number.
        ok(unsafe { comm::barrier(0) }, "barrier");
        let start = Instant::now();
        // SAFETY: a number.
        ok(unsafe { comm::process_set_remove(set) }, "process_set_remove");
        removing += start.elapsed();
    }
    assert!(removing < Duration::from_secs(10), "{removing:?} to remove four sets");
    let deadline = Instant::now() + Duration::from_secs(60);
    while threads() > before && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(threads(), before, "threads");
    all("before");
    refuse();
    std::thread::sleep(Duration::from_secs(12));
    all("after");
    refuse();
    check_next(w);
    // Rank 0 shuts down; the two others are not concerned.
    for _ in 0..if w.me == 0 { 0 } else { 20 } {
        std::thread::sleep(Duration::from_millis(100));
        // SAFETY: a number.
        ok(unsafe { comm::barrier(pair) }, "barrier of the others");
    }
}

/// Three ranks, tensors that some of them do not begin, and a short CORTEN_TIMEOUT: each tensor has a text of its own.
pub fn timeouts(w: World, all_begin: bool) {
    let mut alone = -1;
    // SAFETY: a list of one.
    ok(unsafe { comm::process_set_add([2].as_ptr(), 1, &mut alone) }, "process_set_add");
    let begun: &[(&str, &str)] = match (w.me, all_begin) {
        (0, true) => &[("a", "not submitted by rank 2"), ("b", "not submitted by rank 1")],
        (1, true) => &[("a", "not submitted by rank 2")],
        (_, true) => &[("b", "not submitted by rank 1"), ("c", "not submitted by ranks 0, 1")],
        (0 | 1, false) => &[("a", "not submitted by rank 2, which did not come within 4 s (CORTEN_TIMEOUT)")],
        (_, false) => &[],
    };
    let mut data: Vec<Vec<f32>> = begun.iter().map(|_| vec![1f32; 10]).collect();
    let mut handles = Vec::new();
    for ((tensor, _), data) in begun.iter().zip(&mut data) {
        let (code, handle) = begin(tensor, data, 10, SUM, 0);
        ok(code, "begin");
        handles.push(handle);
    }
    for ((tensor, missing), handle) in begun.iter().zip(handles) {
        // SAFETY: a number.
        let code = unsafe { comm::wait(handle, 300.0) };
        fails(
            code,
            TIMEOUT,
            &[&format!("tensor '{tensor}': {missing}"), "CORTEN_TIMEOUT"],
            "a tensor that was not begun",
        );
    }
    if w.me == 2 && !all_begin {
        // What works by itself fails when the job is given up; a rank that was late itself is told so.
        let code = loop {
            // SAFETY: a number.
            match unsafe { comm::barrier(alone) } {
                0 => std::thread::sleep(Duration::from_millis(100)),
                code => break code,
            }
        };
        fails(code, TIMEOUT, &["this rank, 2, did not come within 4 s (CORTEN_TIMEOUT)"], "the late one");
    }
    println!("rank {} was told", w.me);
}

/// On several machines all ranks but the last begin a tensor or call an operation, with a short CORTEN_TIMEOUT: all are told
/// that it is the last one who has not, whether they wait for it, for their own leader, or for another machine.
pub fn apart(w: World, blocking: bool) -> ! {
    let last = w.p - 1;
    if w.me == last {
        std::thread::sleep(Duration::from_secs(60));
    } else {
        let mut data = vec![1f32; 10];
        let code = if blocking {
            let at = data.as_mut_ptr().cast::<c_void>();
            // SAFETY: in place.
            unsafe { comm::allreduce(at, at, 10, F32, SUM, 1.0, 1.0, 0) }
        } else {
            let (code, handle) = begin("a", &mut data, 10, SUM, 0);
            ok(code, "begin");
            // SAFETY: a number.
            unsafe { comm::wait(handle, 300.0) }
        };
        let who = format!("rank {last}");
        fails(code, TIMEOUT, &[&who, "did not come within", "CORTEN_TIMEOUT"], "what the last rank has not begun");
        println!("rank {} was told right: {}", w.me, text());
        // The launcher may end all when the first has ended.
        std::thread::sleep(Duration::from_secs(10));
    }
    std::process::exit(1);
}

/// Rank 1 comes to a tensor seconds after the others. Their threads wait for it without using the processor for much of
/// the time. (What counts is time of the processor, so it does not matter how busy the machine is.)
pub fn backing_off(w: World) {
    const WAIT: Duration = Duration::from_secs(4);
    let used = || {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: room for a time.
        assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) }, 0);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let mut data = vec![1f32; 10];
    // Where nothing else is under way, and where other tensors of all have to be waited for as well.
    for round in 0..2 {
        let mut other = vec![1f32; 10];
        let before = used();
        let early = (round == 1).then(|| begin("early", &mut other, 10, SUM, 0));
        if w.me == 1 {
            std::thread::sleep(WAIT);
        }
        let (code, handle) = begin("late", &mut data, 10, SUM, 0);
        ok(code, "begin");
        // SAFETY: a number.
        ok(unsafe { comm::wait(handle, 300.0) }, "wait");
        if let Some((code, handle)) = early {
            ok(code, "begin");
            // SAFETY: a number.
            ok(unsafe { comm::wait(handle, 300.0) }, "wait");
        }
        let took = used() - before;
        assert!(took < WAIT / 4, "rank {} used the processor for {took:?} of {WAIT:?}, round {round}", w.me);
    }
}

/// What is waited for, how long: what is no number is refused and leaves the operation as it is, what is longer than any
/// clock goes is for ever.
pub fn waits(w: World) {
    let mut data = vec![1f32; 10];
    for (i, seconds) in [f64::INFINITY, f64::MAX, 1.8e19, 1e10, -1.0].into_iter().enumerate() {
        let (code, handle) = begin(&format!("wait {i}"), &mut data, 10, SUM, 0);
        ok(code, "begin");
        // SAFETY: a number.
        unsafe {
            fails(comm::wait(handle, f64::NAN), ARGUMENT, &["seconds is not a number"], "a wait of NaN");
            ok(comm::wait(handle, seconds), &format!("a wait of {seconds} s on rank {}", w.me));
        }
    }
}

/// Many tensors are ready at once, and rank 2 ends when it has seen the third done: the others hear of each of the rest,
/// by its name, that rank 2 has ended.
pub fn ready(w: World) {
    const N: usize = 1 << 20;
    let mut gate = vec![1f32; 32 * N];
    let at = gate.as_mut_ptr().cast::<c_void>();
    let (tensor, mut first) = (name("gate"), 0);
    // While this one runs, all of the following are begun: they are announced at once. Broadcasts are not fused.
    // SAFETY: the memory stays where it is.
    ok(unsafe { comm::broadcast_async(tensor.as_ptr(), at, 32 * N, F32, 0, 0, &mut first) }, "begin");
    let mut rest: Vec<(String, Vec<f32>, i64)> = Vec::new();
    for i in 0..30 {
        let (tensor, mut data, mut handle) = (format!("ready {i}"), vec![w.me as f32; N], 0);
        let at = data.as_mut_ptr().cast::<c_void>();
        // SAFETY: as above.
        ok(
            unsafe { comm::broadcast_async(name(&tensor).as_ptr(), at, N, F32, 0, 0, &mut handle) },
            &format!("begin {tensor}"),
        );
        rest.push((tensor, data, handle));
    }
    // SAFETY: a number.
    ok(unsafe { comm::wait(first, 300.0) }, "gate");
    let mut failed = 0;
    for (i, (tensor, data, handle)) in rest.iter().enumerate() {
        // SAFETY: a number.
        let code = unsafe { comm::wait(*handle, 300.0) };
        if code == 0 {
            assert!(data.iter().all(|x| *x == 0.0), "{tensor}: not the data of rank 0");
        } else {
            let who = format!("tensor '{tensor}': ");
            fails(code, PEER, &[&who, "rank 2 ended without corten_shutdown"], "what was ready and not run");
            failed += 1;
        }
        if w.me == 2 && i == 2 {
            // SAFETY: our own end.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
    }
    println!("survivor {}: {failed} of {} failed", w.me, rest.len());
    // What comes later is told the same.
    let mut data = vec![1f32; 10];
    let (code, handle) = begin("later", &mut data, 10, SUM, 0);
    // SAFETY: a number.
    let code = if code == 0 { unsafe { comm::wait(handle, 300.0) } } else { code };
    fails(code, PEER, &["rank 2 ended"], "later");
}

/// Rank 0 calls blocking what the others begin asynchronously, or are refused and then do not come: all are told who does
/// which.
pub fn crossed(w: World, refused: bool) {
    let mut data = vec![1f32; 10];
    let code = if w.me == 0 {
        let at = data.as_mut_ptr().cast::<c_void>();
        // SAFETY: in place.
        unsafe { comm::allreduce(at, at, 10, F32, SUM, 1.0, 1.0, 0) }
    } else if refused {
        let (code, _) = begin("crossed", &mut data, 10, 9, 0);
        fails(code, ARGUMENT, &["op is 9"], "a refusal");
        std::thread::sleep(Duration::from_secs(10));
        // SAFETY: a number.
        unsafe { comm::barrier(0) }
    } else {
        let (code, handle) = begin("crossed", &mut data, 10, SUM, 0);
        ok(code, "begin");
        // SAFETY: a number.
        unsafe { comm::wait(handle, 300.0) }
    };
    let parts = [
        "rank 0 is in a blocking call and waits for rank ",
        "which did not come within CORTEN_TIMEOUT and has made asynchronous calls that rank 0 has not",
    ];
    fails(code, TIMEOUT, &parts, "one blocking, one not");
    println!("rank {} was told", w.me);
}

/// Each rank begins with a name of its own, so that nothing is ready, and completes the others later.
pub fn crossing(w: World) {
    let World { me, p } = w;
    let mut data: Vec<Vec<f32>> = (0..p).map(|_| vec![1f32; 64]).collect();
    let mut handles = vec![0; p];
    let (code, handle) = begin(&format!("cross {me}"), &mut data[me], 64, SUM, 0);
    ok(code, "begin");
    handles[me] = handle;
    std::thread::sleep(Duration::from_millis(20 * (me as u64 % 3)));
    for k in 1..p {
        let t = (me + k) % p;
        let (code, handle) = begin(&format!("cross {t}"), &mut data[t], 64, SUM, 0);
        ok(code, "begin");
        handles[t] = handle;
        std::thread::sleep(Duration::from_millis(3));
    }
    for handle in handles {
        // SAFETY: a number.
        ok(unsafe { comm::wait(handle, 300.0) }, "crossing");
    }
    assert!(data.iter().flatten().all(|x| *x == p as f32));
}

/// Rank r has r+1 batches; who has no more joins.
pub fn join(w: World) {
    let World { me, p } = w;
    for batch in 0..=me {
        let mut data = vec![1f32; 1000];
        let (code, handle) = begin("batch", &mut data, 1000, SUM, 0);
        ok(code, "begin");
        // SAFETY: a number.
        ok(unsafe { comm::wait(handle, 300.0) }, "wait");
        // Those with at least batch+1 batches gave ones; an average would still divide by all.
        let there = (p - batch) as f32;
        assert!(data.iter().all(|x| *x == there), "batch {batch}: {} is not {there}", data[0]);
    }
    if me == p - 1 && p > 1 {
        // The others have joined: what zeros would change is refused.
        std::thread::sleep(Duration::from_millis(100));
        let mut data = vec![1f32; 10];
        let (code, handle) = begin("least", &mut data, 10, MIN, 0);
        ok(code, "begin");
        // SAFETY: a number.
        unsafe { fails(comm::wait(handle, 300.0), MISMATCH, &["'least'", "join"], "a minimum with a joined rank") };
    }
    let mut last = -1;
    // SAFETY: our own number.
    ok(unsafe { comm::join(&mut last) }, "join");
    assert_eq!(last, (p - 1) as c_int, "the last to join");
    // Life goes on.
    let mut data = vec![1f32; 10];
    let (code, handle) = begin("after", &mut data, 10, SUM, 0);
    ok(code, "begin");
    // SAFETY: a number.
    unsafe {
        ok(comm::wait(handle, 300.0), "after join");
        ok(comm::barrier(0), "after join");
    }
    assert!(data.iter().all(|x| *x == p as f32));
}

/// A refusal of which nobody hears is over when all have joined: the next one of that name is told with its own reason.
pub fn refusal_before_join(w: World) {
    let World { me, p } = w;
    let last = p - 1;
    let mut data = vec![1f32; 10];
    let at = data.as_mut_ptr().cast::<c_void>();
    let mut handle = 0;
    // SAFETY: the data stays until it is waited for.
    let mut sum = |kind: c_int, op: c_int| unsafe {
        let tensor = name("before join");
        let code = comm::allreduce_async(tensor.as_ptr(), at, at, 10, kind, op, 1.0, 1.0, 0, &mut handle);
        (code, handle)
    };
    if me == last {
        fails(sum(F32, 9).0, ARGUMENT, &["op is 9"], "a refusal before join");
    }
    let mut joined = -1;
    // SAFETY: our own number.
    ok(unsafe { comm::join(&mut joined) }, "join");
    if me == last {
        fails(sum(77, SUM).0, ARGUMENT, &["type is 77"], "a refusal after join");
    } else {
        let (code, handle) = sum(F32, SUM);
        ok(code, "begin");
        let parts = ["tensor 'before join'", &format!("rank {last} has a bad argument: type is 77")];
        // SAFETY: a number.
        unsafe { fails(comm::wait(handle, 300.0), MISMATCH, &parts, "another's refusal after join") };
    }
    let (code, handle) = sum(F32, MAX);
    ok(code, "begin");
    // SAFETY: a number.
    unsafe { ok(comm::wait(handle, 300.0), "after both") };
}

/// Blocking calls about which the ranks disagree: the same text everywhere, and the next call works.
pub fn mismatch(w: World) {
    let World { me, p } = w;
    let odd = me == p - 1 && p > 1;
    let last = format!("rank {}", p - 1);
    let mut data = vec![0u8; 1 << 20];
    let mut out = vec![0u8; 1 << 20];
    let (d, o) = (data.as_mut_ptr().cast::<c_void>(), out.as_mut_ptr().cast::<c_void>());
    let mut count = 0;
    let mut check = |code: c_int, parts: &[&str]| {
        if p > 1 {
            let mut all = vec!["rank 0", &last];
            all.extend(parts);
            fails(code, MISMATCH, &all, &format!("mismatch {count}"));
            let mut words = text().into_bytes();
            words.resize(300, b' ');
            equal_everywhere(w, &words);
        }
        count += 1;
        let mine = vector(F32, count, me, 1000);
        let mut sum = vec![0; mine.len()];
        ok(allreduce_of(&mine, &mut sum, F32, SUM, 1.0, 1.0, 0), "the call after a mismatch");
        same(&sum, &expected(F32, SUM, 1.0, 1.0, count, p, 1000), F32, "the call after a mismatch");
    };
    let pick = |usual: usize, odd_one: usize| if odd { odd_one } else { usual };
    // SAFETY: all sizes fit a megabyte.
    unsafe {
        for (a, b) in [(10, 12), (10, 100_000), (100_000, 10), (50_000, 50_001), (0, 1)] {
            let parts = [format!("count {a}"), format!("count {b}")];
            let code = comm::allreduce(d, o, pick(a, b), F32, SUM, 1.0, 1.0, 0);
            check(code, &[&parts[0], &parts[1]]);
        }
        check(comm::allreduce(d, o, 10, if odd { I32 } else { F32 }, SUM, 1.0, 1.0, 0), &["type f32", "type i32"]);
        let code = comm::allreduce(d, o, 10, F32, if odd { MAX } else { SUM }, 1.0, 1.0, 0);
        check(code, &["operation sum", "operation max"]);
        check(comm::allreduce(d, o, 10, F32, SUM, if odd { 2.0 } else { 1.0 }, 1.0, 0), &["prescale factor 1", "2"]);
        check(comm::allreduce(d, o, 10, F32, SUM, 1.0, if odd { 0.5 } else { 1.0 }, 0), &["postscale factor", "0.5"]);
        check(comm::allreduce(d, o, 10, F32, if odd { WIRE_F16 } else { WIRE_BF16 }, 1.0, 1.0, 0), &["bf16", "f16"]);
        let root = pick(0, p - 1) as c_int;
        check(comm::broadcast(d, 10, F32, root, 0), &["root 0", &format!("root {}", p - 1)]);
        check(comm::broadcast(d, pick(10, 11), F32, 0, 0), &["count 10", "count 11"]);
        let code = if odd { comm::barrier(0) } else { comm::allreduce(d, o, 10, F32, SUM, 1.0, 1.0, 0) };
        check(code, &["allreduce", "barrier"]);
        let null = std::ptr::null();
        let code = comm::reducescatter(d, o, pick(100, 101), null, F32, SUM, 1.0, 1.0, 0);
        check(code, &["reducescatter", "count 100", "count 101"]);
        let code = comm::allgather(d, 10, o, pick(10 * p, 10 * p - 1), std::ptr::null_mut(), F32, 0);
        if p > 1 {
            fails(code, MISMATCH, &[&last, "room"], "allgather without room");
        }
        check_next(w);
        let tens = vec![10usize; p];
        let code = comm::alltoall(d, tens.as_ptr(), o, pick(10 * p, 3), std::ptr::null_mut(), F32, 0);
        if p > 1 {
            fails(code, MISMATCH, &[&last, "room for 3"], "alltoall without room");
        }
        check_next(w);
        let sizes = [pick(10, 20), pick(20, 10)];
        let (from, to) = ([d.cast_const(), d.cast_const()], [o, o.wrapping_byte_add(400)]);
        let code = comm::grouped_allreduce(2, from.as_ptr(), to.as_ptr(), sizes.as_ptr(), F32, SUM, 1.0, 1.0, 0);
        check(code, &["counts[0] 10", "counts[0] 20"]);
        // Another number of tensors, also where each is a step of its own.
        for op in [SUM, ADASUM] {
            let sizes = [10usize, 20, 30];
            let (from, to) = ([d.cast_const(); 3], [o, o.wrapping_byte_add(400), o.wrapping_byte_add(800)]);
            let (n, from, to) = (pick(2, 3), from.as_ptr(), to.as_ptr());
            let code = comm::grouped_allreduce(n, from, to, sizes.as_ptr(), F32, op, 1.0, 1.0, 0);
            check(code, &["grouped_allreduce: ", "has 2 tensors", "has 3"]);
        }
        let mut parts = vec![10usize; p];
        if odd {
            (parts[0], parts[p - 1]) = (11, 9);
        }
        let code = comm::reducescatter(d, o, 10 * p, parts.as_ptr(), F32, SUM, 1.0, 1.0, 0);
        check(code, &["reducescatter", "counts[0] 10", "counts[0] 11"]);
        // A bad argument on one rank: it gets that, the others learn that it did not take part.
        let code = comm::allreduce(d, o, 10, if odd { 77 } else { F32 }, SUM, 1.0, 1.0, 0);
        if odd {
            fails(code, ARGUMENT, &["type is 77"], "bad type");
        } else if p > 1 {
            fails(code, MISMATCH, &["allreduce", "bad argument", &last, "type is 77"], "another's bad type");
        }
        check_next(w);
        let code = comm::allreduce(if odd { null } else { d.cast() }.cast(), o, 10, F32, SUM, 1.0, 1.0, 0);
        if odd {
            fails(code, ARGUMENT, &["in is null"], "null");
        }
        check_next(w);
        // Arguments that are wrong everywhere.
        fails(comm::allreduce(d, o, 10, F32, 9, 1.0, 1.0, 0), ARGUMENT, &["op is 9"], "bad op");
        fails(comm::allreduce(d, o, 10, I32, ADASUM, 1.0, 1.0, 0), ARGUMENT, &["adasum", "i32"], "adasum of i32");
        fails(comm::allreduce(d, o, 10, F64, WIRE_F16, 1.0, 1.0, 0), ARGUMENT, &["WIRE", "f64"], "wire of f64");
        let both = ["op is 0x300", "CORTEN_WIRE_BF16 and CORTEN_WIRE_F16"];
        fails(comm::allreduce(d, o, 10, F32, WIRE_BF16 | WIRE_F16, 1.0, 1.0, 0), ARGUMENT, &both, "two wire types");
        fails(comm::allreduce(d, o, 10, F32, 0x400, 1.0, 1.0, 0), ARGUMENT, &["op is 0x400"], "unknown flags");
        fails(comm::allreduce(d, o, 10, F32, SUM, f64::NAN, 1.0, 0), ARGUMENT, &["NaN"], "NaN factor");
        fails(comm::allreduce(d, o, usize::MAX, F32, SUM, 1.0, 1.0, 0), ARGUMENT, &["memory"], "too many");
        // Out one element behind in, before it, and next to it.
        let at = |i: usize| d.wrapping_byte_add(4 * i);
        for (from, to) in [(0, 1), (1, 0), (0, 9), (9, 0)] {
            let code = comm::allreduce(at(from), at(to), 10, F32, SUM, 1.0, 1.0, 0);
            fails(code, ARGUMENT, &["out (40 bytes", "overlaps in (40 bytes"], "out across in");
        }
        ok(comm::allreduce(at(0), at(10), 10, F32, SUM, 1.0, 1.0, 0), "out behind in");
        ok(comm::allreduce(at(10), at(0), 10, F32, SUM, 1.0, 1.0, 0), "out before in");
        let sizes = [10usize, 0, 10];
        let (from, to) = ([at(0).cast_const(), std::ptr::null(), at(20).cast_const()], [at(0), at(0), at(25)]);
        let code = comm::grouped_allreduce(3, from.as_ptr(), to.as_ptr(), sizes.as_ptr(), F32, SUM, 1.0, 1.0, 0);
        fails(code, ARGUMENT, &["tensor 2 of 3", "overlaps"], "one of a group across its input");
        let to = [at(0), std::ptr::null_mut(), at(30)];
        let code = comm::grouped_allreduce(3, from.as_ptr(), to.as_ptr(), sizes.as_ptr(), F32, SUM, 1.0, 1.0, 0);
        ok(code, "a group with an empty tensor that is nowhere");
        fails(comm::broadcast(d, 10, F32, p as c_int, 0), ARGUMENT, &["root is"], "bad root");
        fails(comm::broadcast(d, 10, F32, -1, 0), ARGUMENT, &["root is -1"], "bad root");
        fails(comm::allreduce(d, o, 10, F32, SUM, 1.0, 1.0, 99), ARGUMENT, &["process set 99"], "bad set");
        fails(comm::allreduce(d, o, 10, F32, SUM, 1.0, 1.0, -1), ARGUMENT, &["set is -1"], "bad set");
        check_next(w);
    }
}

pub fn check_next(w: World) {
    let mine = vector(F64, 11, w.me, 100);
    let mut sum = vec![0; mine.len()];
    ok(allreduce_of(&mine, &mut sum, F64, SUM, 1.0, 1.0, 0), "the next call");
    same(&sum, &expected(F64, SUM, 1.0, 1.0, 11, w.p, 100), F64, "the next call");
}
