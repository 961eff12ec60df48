//! The collectives, with 1 to 8 ranks started by `corten-run`: results, disagreements, faults. What each rank does and
//! checks is in `src/bin/comm_rank/`.

use corten_tests::library;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RANK: &str = env!("CARGO_BIN_EXE_comm_rank");

/// One job at a time: a machine with two cores is crowded enough with eight ranks.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn launcher() -> PathBuf {
    library::path().parent().unwrap().join("corten-run")
}

struct Job {
    code: i32,
    out: String,
    time: Duration,
}

/// Runs a command to its end, or ends it.
fn run(mut command: Command, limit: u64) -> Job {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    let began = Instant::now();
    let file =
        std::env::temp_dir().join(format!("corten-comm-{}-{:?}", std::process::id(), std::thread::current().id()));
    let out = std::fs::File::create(&file).unwrap();
    command.env("CORTEN_LIB", library::path());
    command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out);
    let mut child = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code().unwrap_or(-1),
            None if began.elapsed() > Duration::from_secs(limit) => {
                // SIGTERM, so that a launcher can clean up.
                // SAFETY: our own child.
                unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
                std::thread::sleep(Duration::from_secs(1));
                let _ = child.kill();
                let _ = child.wait();
                break -99;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = std::fs::read(&file).unwrap();
    let _ = std::fs::remove_file(&file);
    Job { code, out: String::from_utf8_lossy(&text).into_owned(), time: began.elapsed() }
}

fn ranks(n: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new(launcher());
    command.args(["-np", &n.to_string(), RANK]).args(arguments);
    command
}

#[track_caller]
fn passes(n: usize, arguments: &[&str], limit: u64) {
    let job = run(ranks(n, arguments), limit);
    assert!(job.code == 0, "{n} ranks {arguments:?}: exit code {} after {:?}\n{}", job.code, job.time, job.out);
}

#[test]
fn results_of_every_operation_and_type() {
    for n in [1, 2, 3, 4, 5, 8] {
        passes(n, &["suite"], 120);
    }
}

#[test]
fn named_tensors() {
    for n in [1, 2, 3, 4, 5, 8] {
        passes(n, &["named"], 60);
    }
}

#[test]
fn disagreements() {
    for n in [1, 2, 3, 5] {
        passes(n, &["mismatch"], 60);
    }
}

#[test]
fn process_sets() {
    for n in [1, 2, 3, 5, 8] {
        passes(n, &["sets"], 60);
    }
}

#[test]
fn a_hundred_megabytes() {
    for n in [2, 3, 4] {
        passes(n, &["big"], 120);
    }
}

#[test]
fn soak() {
    let rounds = std::env::var("CORTEN_SOAK").unwrap_or("5000".into());
    passes(4, &["soak", &rounds], 1200);
}

#[test]
fn init_and_shutdown_again_and_again() {
    passes(3, &["cycles", "500"], 120);
}

#[test]
fn fork_in_a_rank() {
    passes(2, &["fork"], 60);
}

#[test]
fn without_a_launcher() {
    let mut command = Command::new(RANK);
    command.arg("alone");
    let job = run(command, 60);
    assert!(job.code == 0, "{}", job.out);
}

#[test]
fn late_ranks() {
    passes(3, &["late"], 60);
}

#[test]
fn a_stall_is_reported_with_tensor_and_ranks() {
    let mut command = ranks(3, &["stall"]);
    command.env("CORTEN_STALL_WARNING", "1");
    let job = run(command, 60);
    assert!(job.code == 0, "{}", job.out);
    assert!(job.out.contains("for rank 1, which has not submitted 'slow'"), "{}", job.out);
    assert!(job.out.contains("tensor 'a' has waited 1 s: submitted by some ranks, not by [1]"), "{}", job.out);
    // Ranks share the terminal: each line comes whole.
    let whole = |line: &str| line.starts_with("corten: ") && line.matches("corten: ").count() == 1;
    assert!(job.out.lines().all(whole), "{}", job.out);
}

#[test]
fn little_address_space() {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v 1500000; exec {} -np 3 {RANK} limits", launcher().display());
    command.args(["-c", &script]);
    let job = run(command, 120);
    assert!(job.code == 0, "{}", job.out);
}

/// The default in a container is 64 MB; here it is 64 kB, and full. Without the right to mount, what is looked at is that
/// no rank has anything open or mapped there.
#[test]
fn a_full_dev_shm() {
    let ranks = format!("{} -np 3 {RANK} unnamed", launcher().display());
    let mount =
        "mount -t tmpfs -o size=64k tmpfs /dev/shm && { head -c 100k /dev/zero >/dev/shm/full; true; } 2>/dev/null";
    let mut command = Command::new("sh");
    let probe = Command::new("unshare").args(["-rm", "sh", "-c", mount]).output();
    if probe.is_ok_and(|out| out.status.success()) {
        let script = format!("{mount} && [ $(stat -f -c %f /dev/shm) = 0 ] && exec {ranks}");
        command.args(["-c", &format!("exec unshare -rm sh -c '{script}'")]);
    } else {
        println!("no namespaces here: descriptors and mappings only");
        command.args(["-c", &format!("exec {ranks}")]);
    }
    let job = run(command, 120);
    assert!(job.code == 0, "{}", job.out);
}

#[test]
fn sockets_are_refused() {
    for victim in ["99", "0", "1"] {
        let mut command = Command::new(launcher());
        command.args(["-np", "2", "--grace", "9", RANK, "no-socket", victim]).env("CORTEN_INIT_TIMEOUT", "2");
        let job = run(command, 30);
        assert!(job.code == 0, "{}", job.out);
        assert_eq!(job.out.matches("was told").count(), 2, "{}", job.out);
    }
}

/// Takes 4 GiB of memory and half a minute: `cargo test --test comm -- --ignored`.
#[test]
#[ignore = "4 GiB of memory"]
fn more_elements_than_32_bits_count() {
    passes(2, &["huge"], 600);
}

/// Processes whose environment has this variable: whatever a job leaves behind.
fn leftovers(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ.split(|b| *b == 0).any(|v| v == mark.as_bytes()) {
            let name = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            found.push(format!("{} {name}", entry.file_name().to_string_lossy()));
        }
    }
    found
}

#[test]
fn a_rank_that_ends_is_named_by_all_others() {
    let mut jobs = 0;
    for phase in ["init", "blocking", "middle", "async", "quiet", "join", "shutdown"] {
        for how in ["kill", "stop", "abort", "exit", "leave", "fork"] {
            let by_signal = matches!(how, "kill" | "stop" | "abort");
            if phase == "init" && how == "leave" || phase == "middle" && how != "kill" {
                continue;
            }
            if matches!(phase, "quiet" | "join") && !by_signal {
                continue;
            }
            for victim in [0, 2] {
                jobs += 1;
                let mark = format!("CORTEN_TEST_MARK={}-{jobs}", std::process::id());
                let mut command = Command::new(launcher());
                // Long enough for the ranks to notice by themselves, even that one has stopped.
                command.args([
                    "-np",
                    "3",
                    "--grace",
                    "9",
                    "--timeout",
                    "3",
                    RANK,
                    "fault",
                    phase,
                    how,
                    &victim.to_string(),
                ]);
                let (key, value) = mark.split_once('=').unwrap();
                command.env(key, value).env("CORTEN_INIT_TIMEOUT", "2");
                let what = format!("{phase} {how} rank {victim}");
                // A stopped rank never ends: the launcher is told to end the job, as a user would.
                let job = if how == "stop" { run_until_survivors_end(command) } else { run(command, 30) };
                let survivors = job.out.matches("survivor").count();
                assert_eq!(survivors, 2, "{what}: {}", job.out);
                assert!(job.time < Duration::from_secs(16), "{what} took {:?}", job.time);
                let good = how == "exit" || how == "leave";
                assert!(how == "stop" || good == (job.code == 0), "{what}: exit code {}\n{}", job.code, job.out);
                let dead_line = Instant::now() + Duration::from_secs(2);
                while !leftovers(&mark).is_empty() && Instant::now() < dead_line {
                    std::thread::sleep(Duration::from_millis(20));
                }
                assert_eq!(leftovers(&mark), Vec::<String>::new(), "{what}");
            }
        }
    }
    println!("{jobs} jobs");
}

/// Waits for the two survivors' words, then ends the job by SIGTERM to the launcher.
fn run_until_survivors_end(mut command: Command) -> Job {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    let began = Instant::now();
    let file = std::env::temp_dir().join(format!("corten-comm-stop-{}", std::process::id()));
    let out = std::fs::File::create(&file).unwrap();
    command.env("CORTEN_LIB", library::path()).stdin(Stdio::null());
    command.stdout(out.try_clone().unwrap()).stderr(out);
    let mut child = command.spawn().unwrap();
    let text = || String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
    while text().matches("survivor").count() < 2 && began.elapsed() < Duration::from_secs(15) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let time = began.elapsed();
    // A stopped process ends only when it continues: that is what the launcher passes on.
    for signal in [libc::SIGTERM, libc::SIGCONT] {
        // SAFETY: our own child.
        unsafe { libc::kill(child.id() as i32, signal) };
        std::thread::sleep(Duration::from_millis(50));
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let code = child.wait().unwrap().code().unwrap_or(-1);
    let job = Job { code, out: text(), time };
    let _ = std::fs::remove_file(&file);
    job
}

#[test]
fn the_launcher() {
    // Exit codes.
    let job = run(ranks(3, &["exit", "7"]), 20);
    assert_eq!(job.code, 7, "{}", job.out);
    let mut command = Command::new(launcher());
    command.args(["-np", "2", "/nonexistent/program"]);
    assert_eq!(run(command, 20).code, 127);
    // One rank fails, the other would sleep for minutes.
    let mut command = Command::new(launcher());
    let script = format!("[ $CORTEN_RANK = 1 ] && exit 5; exec {RANK} sleep");
    command.args(["-np", "2", "--grace", "0.2", "sh", "-c", &script]);
    let job = run(command, 20);
    assert_eq!(job.code, 5, "{}", job.out);
    assert!(job.time < Duration::from_secs(5), "{:?}", job.time);
    assert!(job.out.contains("rank 1 ended with exit code 5"), "{}", job.out);
    // A signal that ends a rank.
    let mut command = Command::new(launcher());
    command.args(["-np", "2", "--grace", "0.1", "sh", "-c", "[ $CORTEN_RANK = 0 ] && kill -9 $$; sleep 100"]);
    assert_eq!(run(command, 20).code, 137);
    // Lines with the rank in front.
    let mut command = Command::new(launcher());
    command.args(["-np", "3", "--prefix", RANK, "print"]);
    let job = run(command, 20);
    for rank in 0..3 {
        assert!(job.out.contains(&format!("[{rank}] line one of {rank}\n")), "{}", job.out);
    }
    assert_eq!(job.out.lines().count(), 6, "{}", job.out);
    // Threads: a share of the processors, unless the user says otherwise.
    let show = "echo t=$CORTEN_NUM_THREADS o=$OMP_NUM_THREADS s=$CORTEN_SIZE";
    let mut command = Command::new(launcher());
    command.args(["-np", "500", "sh", "-c", &format!("[ $CORTEN_RANK != 499 ] || {show}")]);
    command.env_remove("CORTEN_NUM_THREADS").env_remove("OMP_NUM_THREADS").env_remove("OPENBLAS_NUM_THREADS");
    assert!(run(command, 60).out.contains("t=1 o=1 s=500"));
    let mut command = Command::new(launcher());
    command.args(["-np", "1", "sh", "-c", show]).env("CORTEN_NUM_THREADS", "3").env_remove("OMP_NUM_THREADS");
    assert!(run(command, 20).out.contains("t=3 o= s=1"));
    // What it finds.
    let mut command = Command::new(launcher());
    command.arg("--check");
    let job = run(command, 20);
    assert_eq!(job.code, 0);
    assert!(job.out.contains("shared memory     works"), "{}", job.out);
    // Wrong use.
    for wrong in [&["-np", "0", "true"][..], &["-np", "x", "true"], &["--what"], &[]] {
        let mut command = Command::new(launcher());
        command.args(wrong);
        assert_eq!(run(command, 20).code, 2, "{wrong:?}");
    }
}

/// Signals go to all ranks; a launcher that is killed takes its ranks with it.
#[test]
fn signals_and_the_end_of_the_launcher() {
    for (signal, code) in [(libc::SIGTERM, Some(143)), (libc::SIGINT, Some(130)), (libc::SIGKILL, None)] {
        let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
        let mark = format!("{}-{signal}", std::process::id());
        let mut command = ranks(3, &["sleep"]);
        command.env("CORTEN_TEST_MARK", &mark).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // A test that runs in the background may have inherited that SIGINT is ignored.
        // SAFETY: between fork and exec; signal is allowed there.
        unsafe {
            std::os::unix::process::CommandExt::pre_exec(&mut command, || {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                Ok(())
            });
        }
        let mut child = command.spawn().unwrap();
        let mark = format!("CORTEN_TEST_MARK={mark}");
        let deadline = Instant::now() + Duration::from_secs(10);
        while leftovers(&mark).iter().filter(|p| p.contains("comm_rank")).count() < 3 + 1 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        // SAFETY: our own child.
        unsafe { libc::kill(child.id() as i32, signal) };
        let status = child.wait().unwrap();
        assert_eq!(status.code(), code, "{status:?}");
        while !leftovers(&mark).is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(leftovers(&mark), Vec::<String>::new(), "signal {signal}");
    }
}
