//! Beginning and end: cycles, forks, limits, late and stalled ranks, and those that die at any phase.

use crate::*;

pub fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

pub fn cycles(rounds: usize) {
    let mut at_first = 0;
    for round in 0..rounds {
        let w = start();
        let mut data = vec![1f32; 100];
        let at = data.as_mut_ptr().cast::<c_void>();
        // SAFETY: in place.
        ok(unsafe { comm::allreduce(at, at, 100, F32, SUM, 1.0, 1.0, 0) }, "allreduce");
        if round % 3 == 0 {
            let (code, handle) = begin("cycle", &mut data, 100, SUM, 0);
            ok(code, "begin");
            // SAFETY: a number.
            ok(unsafe { comm::wait(handle, 300.0) }, "wait");
        }
        assert!(data.iter().all(|x| *x == (w.p as f32).powi(if round % 3 == 0 { 2 } else { 1 })));
        // SAFETY: no arguments.
        ok(unsafe { comm::shutdown() }, "shutdown");
        if round % 3 == 0 {
            // The thread of asynchronous operations may still be about to end, but it has nothing any more.
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            assert!(!maps.contains("memfd:corten"), "round {round}: shared memory is still mapped");
        }
        if round == 20 {
            at_first = descriptors();
        }
    }
    if rounds > 20 {
        assert!(descriptors() <= at_first + 1, "{at_first} descriptors after 20 cycles, {} at the end", descriptors());
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert!(!maps.contains("memfd:corten"), "shared memory is still mapped");
    }
}

/// A child of fork is no rank, does no harm, and the parent goes on.
pub fn fork(w: World) {
    let (code, handle) = {
        let data: &'static mut [f32] = vec![1f32; 10].leak();
        begin("before", data, 10, SUM, 0)
    };
    ok(code, "begin");
    // SAFETY: a number.
    ok(unsafe { comm::wait(handle, 300.0) }, "wait");
    for _ in 0..3 {
        // SAFETY: the child only calls what is said to work there, and ends.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: as above.
            unsafe {
                let mut bad = c_int::from(comm::is_initialized() != 0 || comm::rank() != -1);
                let mut x = 1f32;
                let at = (&raw mut x).cast::<c_void>();
                bad |= c_int::from(comm::allreduce(at, at, 1, F32, SUM, 1.0, 1.0, 0) != STATE);
                bad |= c_int::from(!text().contains("fork"));
                bad |= c_int::from(comm::init() != STATE || comm::shutdown() != STATE);
                libc::_exit(bad);
            }
        }
        check_next(w);
        let mut status = 0;
        // SAFETY: our child.
        unsafe { libc::waitpid(pid, &mut status, 0) };
        assert_eq!(status, 0, "the child saw what it should not");
        check_next(w);
    }
    // A child that lives on does not keep a dead rank alive: tested as a fault.
}

/// Without a launcher: one rank.
pub fn alone() {
    // SAFETY: plain arguments.
    unsafe {
        fails(comm::barrier(0), STATE, &["not initialised", "corten_init"], "before init");
        assert_eq!(comm::rank(), -1);
        assert!(comm::alloc(10).is_null());
        fails(comm::shutdown(), STATE, &["not initialised"], "shutdown before init");
    }
    within(|w| {
        assert_eq!((w.me, w.p), (0, 1));
        // SAFETY: no arguments.
        unsafe { fails(comm::init(), STATE, &["already"], "init twice") };
        suite(w);
    });
}

/// Little address space: buffers are refused with a text, and everything else works.
pub fn limits(w: World) {
    suite(w);
    // SAFETY: a size.
    unsafe {
        assert!(comm::alloc(40 << 30).is_null());
        assert!(text().contains("arena"), "{}", text());
        let block = comm::alloc(1 << 20);
        assert!(!block.is_null(), "{}", text());
        ok(comm::free(block), "free");
        assert!(comm::alloc(usize::MAX).is_null());
    }
    check_next(w);
}

/// Nothing of ours has a name in a file system: neither descriptors nor mappings.
pub fn unnamed(w: World) {
    suite(w);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains("memfd:corten"), "{maps}");
    let fds = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets: Vec<String> =
        fds.flatten().filter_map(|fd| std::fs::read_link(fd.path()).ok()).map(|t| t.display().to_string()).collect();
    assert!(targets.iter().any(|t| t.contains("memfd:corten")), "{targets:?}");
    for place in maps.lines().map(str::to_string).chain(targets) {
        assert!(!place.contains("/dev/shm"), "{place}");
    }
    assert_eq!(std::fs::read_dir("/dev/shm").map_or(0, |d| d.flatten().filter(|e| e.file_name() != "full").count()), 0);
}

/// More elements than 32 bits can count.
pub fn huge(w: World) {
    let n = (1usize << 31) + 5;
    let at = |r: usize, i: usize| ((i % 61 + r) & 31) as u8;
    let mut data: Vec<u8> = (0..n).map(|i| at(w.me, i)).collect();
    let p = data.as_mut_ptr().cast::<c_void>();
    // SAFETY: in place.
    ok(unsafe { comm::allreduce(p, p, n, U8, SUM, 1.0, 1.0, 0) }, "allreduce of 2^31 + 5 elements");
    for (i, x) in data.iter().enumerate() {
        let want = (0..w.p).map(|r| at(r, i)).sum::<u8>();
        assert_eq!(*x, want, "element {i} of {n}");
    }
    let root = w.p as c_int - 1;
    data.iter_mut().enumerate().for_each(|(i, x)| *x = at(w.me, i));
    // SAFETY: as above.
    ok(unsafe { comm::broadcast(p, n, U8, root, 0) }, "broadcast of 2^31 + 5 elements");
    assert!(data.iter().enumerate().all(|(i, x)| *x == at(root as usize, i)), "broadcast");
}

/// One rank, or (99) every one, may not make sockets: an error that says so there, and one that names it on the others.
pub fn no_socket(victim: usize) {
    let me: usize = std::env::var("CORTEN_RANK").unwrap().parse().unwrap();
    let refused = victim == 99 || me == victim;
    if refused {
        // A system-call filter: socket (41 on x86-64, 198 elsewhere) fails with EPERM, all else is allowed.
        let socket = libc::SYS_socket as u32;
        let filter = [
            libc::sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 }, // load the number of the call
            libc::sock_filter { code: 0x15, jt: 0, jf: 1, k: socket }, // equal?
            libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | libc::EPERM as u32 },
            libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x7fff_0000 },
        ];
        let program = libc::sock_fprog { len: 4, filter: filter.as_ptr().cast_mut() };
        // SAFETY: a program of four instructions that lives through the call.
        unsafe {
            assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
            assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
        }
    }
    // SAFETY: no arguments.
    let code = unsafe { comm::init() };
    if refused {
        assert_eq!(code, SYSTEM, "{}", text());
        assert!(text().contains("Operation not permitted"), "{}", text());
        assert!(text().contains("rank"), "{}", text());
    } else {
        assert!(code == PEER || code == TIMEOUT, "{code} {}", text());
        assert!(text().contains(&format!("rank {victim}")), "{}", text());
    }
    // SAFETY: no arguments.
    assert_eq!(unsafe { comm::is_initialized() }, 0);
    println!("rank {me} was told: {}", text());
}

/// One rank comes late; the others wait for it without harm.
pub fn late() {
    if std::env::var("CORTEN_RANK").unwrap() == "1" {
        std::thread::sleep(Duration::from_millis(700));
    }
    within(|w| {
        if w.me == 0 {
            std::thread::sleep(Duration::from_millis(900));
        }
        check_next(w);
    });
}

/// Ranks wait for one that is slow to submit: while it submits nothing at all, and while it submits something else.
pub fn stall(w: World) {
    let (mut data, mut other) = (vec![1f32; 10], vec![1f32; 10]);
    let slow = || {
        if w.me == 1 {
            std::thread::sleep(Duration::from_secs(4));
        }
    };
    slow();
    let (code, handle) = begin("slow", &mut data, 10, SUM, 0);
    ok(code, "begin");
    // SAFETY: a number.
    ok(unsafe { comm::wait(handle, 300.0) }, "wait");
    let mut both = Vec::new();
    for tensor in if w.me == 1 { ["b", "a"] } else { ["a", "b"] } {
        let at = if tensor == "a" { &mut data } else { &mut other };
        let (code, handle) = begin(tensor, at, 10, SUM, 0);
        ok(code, "begin");
        both.push(handle);
        if w.me == 1 {
            if tensor == "b" {
                slow();
            }
        } else {
            // SAFETY: a number.
            ok(unsafe { comm::wait(handle, 300.0) }, "wait");
        }
    }
    if w.me == 1 {
        for handle in both {
            // SAFETY: a number.
            ok(unsafe { comm::wait(handle, 300.0) }, "wait");
        }
    }
    // The others wait for no tensor.
    slow();
    let mut last = -1;
    // SAFETY: our own number.
    ok(unsafe { comm::join(&mut last) }, "join");
}

/// `fault phase how victim`: rank `victim` ends or stops in a phase; the others must say so: that it ended, by looking at
/// it, long before their timeout; that it stopped, by the timeout.
pub fn fault(arguments: &[String]) {
    let [phase, how, victim] = arguments else { panic!("fault phase how victim") };
    let victim: usize = victim.parse().unwrap();
    let me: usize = std::env::var("CORTEN_RANK").unwrap().parse().unwrap();
    let die = || {
        // SAFETY: our own end.
        unsafe {
            match how.as_str() {
                "kill" => libc::kill(libc::getpid(), libc::SIGKILL),
                "stop" => libc::kill(libc::getpid(), libc::SIGSTOP),
                "abort" => libc::abort(),
                "exit" => libc::exit(0),
                "leave" => comm::shutdown(),
                // Ends, but leaves a child behind that has all its descriptors.
                "fork" => {
                    if libc::fork() == 0 {
                        libc::sleep(20);
                        libc::_exit(0);
                    }
                    libc::kill(libc::getpid(), libc::SIGKILL)
                }
                _ => panic!("unknown end {how}"),
            }
        };
        if how != "leave" {
            std::thread::sleep(Duration::from_secs(100));
        }
        std::process::exit(0);
    };
    if phase == "init" && me == victim {
        die();
    }
    let expected = if how == "stop" { TIMEOUT } else { PEER };
    let began = Instant::now();
    let named_victim = format!("rank {victim}");
    if phase == "init" {
        // SAFETY: no arguments.
        let code = unsafe { comm::init() };
        assert_eq!(code, expected, "init: {}", text());
        assert!(text().contains(&named_victim), "init: {}", text());
        // Questions leave the text as it is.
        // SAFETY: no arguments.
        assert_eq!(unsafe { (comm::rank(), comm::size(), comm::local_size(), comm::cross_rank()) }, (-1, -1, -1, -1));
        assert!(text().contains(&named_victim), "after questions: {}", text());
        println!("survivor {me}: {}", text());
        return;
    }
    let w = start();
    let mut data = vec![1f32; 4 << 20];
    let at = data.as_mut_ptr().cast::<c_void>();
    // SAFETY: in place.
    let sum = |n: usize| unsafe { comm::allreduce(at, at, n, F32, SUM, 1.0, 1.0, 0) };
    ok(sum(1000), "the first");
    if phase == "blocking" {
        if w.me == victim {
            die();
        }
    } else if phase == "middle" {
        // Ends at some moment within a stream of operations.
        if w.me == victim {
            let micros = 2000 + u64::from(std::process::id()) * 7919 % 20_000;
            // SAFETY: a thread that ends the process.
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_micros(micros));
                // SAFETY: our own end.
                unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
            });
        }
    } else if phase == "async" {
        let data: &'static mut [f32] = vec![1f32; 10].leak();
        let (code, handle) = begin("first", data, 10, SUM, 0);
        ok(code, "begin");
        // SAFETY: a number.
        ok(unsafe { comm::wait(handle, 300.0) }, "wait");
        if w.me == victim {
            die();
        }
        let (code, handle) = begin("second", data, 10, SUM, 0);
        // SAFETY: a number.
        let code = if code == 0 { unsafe { comm::wait(handle, 300.0) } } else { code };
        assert_eq!(code, expected, "async: {}", text());
        assert!(text().contains(&named_victim), "async: {}", text());
    } else if phase == "quiet" || phase == "join" {
        // All threads sleep, each rank waiting for another: the victim for a tensor of its own, or in join.
        let data: &'static mut [f32] = vec![1f32; 10].leak();
        // In join the victim must have served the others before it ends: they say so by a file.
        let job = std::env::var("CORTEN_JOB").unwrap();
        let served = std::env::temp_dir().join(format!("corten-served-{}", job.replace('/', "_")));
        if w.me == victim {
            // SAFETY: our own end, from another thread.
            std::thread::spawn({
                let (how, in_join) = (how.clone(), phase == "join");
                move || {
                    while in_join && !served.exists() {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    std::thread::sleep(Duration::from_millis(500));
                    let signal = match how.as_str() {
                        "kill" => libc::SIGKILL,
                        "stop" => libc::SIGSTOP,
                        _ => libc::SIGABRT,
                    };
                    // SAFETY: as above.
                    unsafe { libc::kill(libc::getpid(), signal) };
                }
            });
            if phase == "join" {
                let mut last = 0;
                // SAFETY: one number.
                unsafe { comm::join(&mut last) };
            } else {
                let (_, handle) = begin("of the victim", data, 10, SUM, 0);
                // SAFETY: a number.
                unsafe { comm::wait(handle, 300.0) };
            }
            // A stopped rank that goes on finds out that it was given up.
            std::process::exit(0);
        }
        let (code, handle) = begin("of the others", data, 10, SUM, 0);
        ok(code, "begin");
        // SAFETY: a number.
        let mut code = unsafe { comm::wait(handle, 300.0) };
        if phase == "join" {
            // The joined rank gives zeros, until it is gone.
            ok(code, "wait");
            if w.me == 1 {
                std::fs::write(&served, "").unwrap();
            }
            while code == 0 {
                std::thread::sleep(Duration::from_millis(50));
                let (begun, handle) = begin("after", data, 10, SUM, 0);
                // SAFETY: a number.
                code = if begun == 0 { unsafe { comm::wait(handle, 300.0) } } else { begun };
            }
            let _ = std::fs::remove_file(&served);
        }
        assert_eq!(code, expected, "{phase}: {}", text());
        assert!(text().contains(&named_victim), "{phase}: {}", text());
    } else if phase == "shutdown" {
        if w.me == victim {
            die();
        }
        std::thread::sleep(Duration::from_millis(50));
        // SAFETY: no arguments.
        ok(unsafe { comm::shutdown() }, "shutdown with a dead rank");
        println!("survivor {me}: shut down in {:?}", began.elapsed());
        return;
    }
    let began = Instant::now();
    let code = loop {
        let code = sum(3 << 20);
        if code != 0 {
            break code;
        }
        assert!(began.elapsed() < Duration::from_secs(300), "no error");
    };
    assert_eq!(code, expected, "{}", text());
    assert!(text().contains(&named_victim), "{}", text());
    println!("survivor {me}: {}", text());
    // At once from now on, and shutdown and a new start are not in the way of each other.
    let began = Instant::now();
    assert_ne!(sum(10), 0);
    // SAFETY: no arguments.
    ok(unsafe { comm::shutdown() }, "shutdown");
    assert!(began.elapsed() < Duration::from_secs(30), "after the failure: {:?}", began.elapsed());
}
