//! The collectives, with 1 to 8 ranks started by `corten-run`: results, disagreements, faults. What each rank does and
//! checks is in `src/bin/comm_rank/`.

use corten_tests::library;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const RANK: &str = env!("CARGO_BIN_EXE_comm_rank");

/// A job that takes longer hangs. Nothing else here is a matter of seconds: machines may be slow and busy.
const LIMIT: Duration = Duration::from_secs(600);

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

/// Runs a command to its end, when it is its turn.
fn run(command: Command) -> Job {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    Running::start(command).end()
}

/// A job under way. Its output goes to a file, which is there to be read at any time.
struct Running {
    child: Child,
    file: PathBuf,
    began: Instant,
}

impl Running {
    fn start(mut command: Command) -> Running {
        let (process, thread) = (std::process::id(), std::thread::current().id());
        let file = std::env::temp_dir().join(format!("corten-comm-{process}-{thread:?}"));
        let out = std::fs::File::create(&file).unwrap();
        command.env("CORTEN_LIB", library::path());
        command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out);
        let child = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        Running { child, file, began: Instant::now() }
    }
    fn out(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.file).unwrap()).into_owned()
    }
    fn signal(&mut self, signal: i32) {
        if !self.has_ended() {
            // SAFETY: our own child, not waited for yet.
            unsafe { libc::kill(self.child.id() as i32, signal) };
        }
    }
    fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
    /// Waits until it has ended, or ends it.
    fn end(mut self) -> Job {
        let code = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status.code().unwrap_or(-1),
                None if self.began.elapsed() > LIMIT => {
                    // SIGTERM, so that a launcher can clean up.
                    self.signal(libc::SIGTERM);
                    std::thread::sleep(Duration::from_secs(5));
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    break -99;
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let job = Job { code, out: self.out(), time: self.began.elapsed() };
        let _ = std::fs::remove_file(&self.file);
        job
    }
}

fn ranks(n: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new(launcher());
    command.args(["-np", &n.to_string(), RANK]).args(arguments);
    command
}

#[track_caller]
fn passes(n: usize, arguments: &[&str]) {
    let job = run(ranks(n, arguments));
    assert!(job.code == 0, "{n} ranks {arguments:?}: exit code {} after {:?}\n{}", job.code, job.time, job.out);
}

#[test]
fn results_of_every_operation_and_type() {
    for n in [1, 2, 3, 4, 5, 8] {
        passes(n, &["suite"]);
    }
}

#[test]
fn named_tensors() {
    for n in [1, 2, 3, 4, 5, 8] {
        passes(n, &["named"]);
    }
}

#[test]
fn disagreements() {
    for n in [1, 2, 3, 5] {
        passes(n, &["mismatch"]);
    }
}

#[test]
fn process_sets() {
    for n in [1, 2, 3, 5, 8] {
        passes(n, &["sets"]);
    }
}

#[test]
fn a_hundred_megabytes() {
    for n in [2, 3, 4] {
        passes(n, &["big"]);
    }
}

#[test]
fn soak() {
    passes(4, &["soak", "100000"]);
}

#[test]
fn init_and_shutdown_again_and_again() {
    passes(3, &["cycles", "500"]);
}

#[test]
fn fork_in_a_rank() {
    passes(2, &["fork"]);
}

#[test]
fn without_a_launcher() {
    let mut command = Command::new(RANK);
    command.arg("alone");
    let job = run(command);
    assert!(job.code == 0, "{}", job.out);
    // A shell in a step of Slurm with one task: no MPI is needed there, nor looked for.
    let mut command = Command::new(RANK);
    command.args(["alone"]).env("SLURM_PROCID", "0").env("SLURM_STEP_NUM_TASKS", "1").env("SLURM_STEP_ID", "0");
    command.env("CORTEN_MPI_LIB", "/nonexistent.so");
    let job = run(command);
    assert!(job.code == 0, "{}", job.out);
    // A number of ranks that is none is refused, and not taken for no launcher.
    let mut command = Command::new(RANK);
    command.arg("alone").env("CORTEN_RANK", "0").env("CORTEN_SIZE", "0");
    let job = run(command);
    assert!(job.code != 0 && job.out.contains("CORTEN_RANK=0 CORTEN_SIZE=0"), "{}", job.out);
}

#[test]
fn late_ranks() {
    passes(3, &["late"]);
}

#[test]
fn a_stall_is_reported_with_tensor_and_ranks() {
    let mut command = ranks(3, &["stall"]);
    command.env("CORTEN_STALL_WARNING", "1");
    let job = run(command);
    assert!(job.code == 0, "{}", job.out);
    assert!(job.out.contains("for rank 1, which has not submitted 'slow'"), "{}", job.out);
    let waited = |line: &str| line.contains("tensor 'a' has waited ") && line.contains("by some ranks, not by [1]");
    assert!(job.out.lines().any(waited), "{}", job.out);
    // Where join alone is waited for, there is no tensor to name.
    let no_tensor = |line: &str| line.contains("for rank") && line.ends_with(" 1");
    assert!(job.out.lines().any(no_tensor) && !job.out.contains("''"), "{}", job.out);
    // Ranks share the terminal: each line comes whole.
    let whole = |line: &str| line.starts_with("corten: ") && line.matches("corten: ").count() == 1;
    assert!(job.out.lines().all(whole), "{}", job.out);
}

#[test]
fn waiting_takes_little_of_the_processor() {
    passes(3, &["back-off"]);
}

#[test]
fn how_long_to_wait() {
    for n in [1, 2] {
        passes(n, &["waits"]);
    }
}

/// A rank that ends in the middle of operations that were agreed on at once leaves none of them without an outcome.
#[test]
fn what_is_ready_when_a_rank_ends_fails_by_name() {
    let mut command = Command::new(launcher());
    command.args(["-np", "3", "--grace", "300", RANK, "ready"]);
    let job = run(command);
    let survivors: Vec<&str> = job.out.lines().filter(|line| line.starts_with("survivor ")).collect();
    assert_eq!((job.code, survivors.len()), (137, 2), "{}", job.out);
    // Else nothing was left to run, and the test has seen nothing.
    assert!(survivors.iter().any(|line| !line.contains(": 0 of")), "{}", job.out);
}

/// What is not understood in the environment is said once, by each rank, and the default applies.
#[test]
fn limits_that_are_none() {
    for (name, value, text) in [
        ("CORTEN_TIMEOUT", "abc", "expected a whole number from 1 on"),
        ("CORTEN_TIMEOUT", "0", "expected a whole number from 1 on"),
        ("CORTEN_INIT_TIMEOUT", "-3", "expected a whole number from 1 on"),
        ("CORTEN_SCRATCH_LIMIT", "1M", "expected a whole number from 0 on"),
    ] {
        let mut command = ranks(2, &["waits"]);
        command.env(name, value);
        let job = run(command);
        assert_eq!(job.code, 0, "{}", job.out);
        let line = format!("corten: {name}={value} is ignored: {text}");
        assert_eq!(job.out.lines().filter(|l| *l == line).count(), 2, "{name}={value}: {}", job.out);
        assert_eq!(job.out.lines().count(), 2, "{name}={value}: {}", job.out);
    }
    // The longest there is, and a bit: no sum of limits is more than a time.
    let mut command = ranks(2, &["waits"]);
    command.env("CORTEN_TIMEOUT", u64::MAX.to_string()).env("CORTEN_INIT_TIMEOUT", u64::MAX.to_string());
    let job = run(command);
    assert_eq!((job.code, job.out.as_str()), (0, ""), "{}", job.out);
}

/// Jobs that are given up after few seconds, so that all ranks end by themselves.
fn given_up(n: usize, arguments: &[&str], seconds: &str) -> Job {
    let mut command = Command::new(launcher());
    command.args(["-np", &n.to_string(), "--grace", "300", "--timeout", seconds, RANK]).args(arguments);
    command.env("CORTEN_STALL_WARNING", "1");
    let job = run(command);
    assert!(job.code == 0, "{arguments:?}: exit code {} after {:?}\n{}", job.code, job.time, job.out);
    job
}

#[test]
fn a_refusal_that_nobody_hears_is_no_reason_to_give_up() {
    let job = given_up(3, &["lonely"], "5");
    assert!(!job.out.contains("lonely"), "{}", job.out);
}

#[test]
fn at_a_timeout_each_tensor_is_told_who_has_not_submitted_it() {
    for all_begin in ["1", "0"] {
        let job = given_up(3, &["timeouts", all_begin], "4");
        assert_eq!(job.out.matches("was told").count(), 3, "{}", job.out);
    }
}

#[test]
fn blocking_on_one_rank_and_asynchronous_on_another() {
    for n in [2, 3] {
        let job = given_up(n, &["crossed"], "4");
        assert_eq!(job.out.matches("was told").count(), n, "{}", job.out);
        let said = [
            "rank 1 has made asynchronous calls that this one has not",
            "rank 0 waits in a blocking call for this one",
        ];
        assert!(said.iter().all(|text| job.out.contains(text)), "{}", job.out);
    }
    // A rank that is only late, and whose asynchronous call was refused: that it is late is said too.
    let job = given_up(2, &["crossed", "1"], "4");
    assert_eq!(job.out.matches("was told").count(), 2, "{}", job.out);
}

#[test]
fn little_address_space() {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v 1500000; exec {} -np 3 {RANK} limits", launcher().display());
    command.args(["-c", &script]);
    let job = run(command);
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
    let job = run(command);
    assert!(job.code == 0, "{}", job.out);
}

#[test]
fn sockets_are_refused() {
    for victim in ["99", "0", "1"] {
        let mut command = Command::new(launcher());
        command.args(["-np", "2", "--grace", "300", RANK, "no-socket", victim]).env("CORTEN_INIT_TIMEOUT", "5");
        let job = run(command);
        assert!(job.code == 0, "{}", job.out);
        assert_eq!(job.out.matches("was told").count(), 2, "{}", job.out);
    }
}

/// Takes 4 GiB of memory and half a minute: `cargo test --test comm -- --ignored`.
#[test]
#[ignore = "4 GiB of memory"]
fn more_elements_than_32_bits_count() {
    passes(2, &["huge"]);
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

/// Rank `victim` of three ends or stops in a phase.
#[derive(Clone, Copy)]
struct Fault {
    phase: &'static str,
    how: &'static str,
    victim: usize,
}

fn faults() -> Vec<Fault> {
    let mut list = Vec::new();
    for phase in ["init", "blocking", "middle", "async", "quiet", "join", "shutdown"] {
        for how in ["kill", "stop", "abort", "exit", "leave", "fork"] {
            let by_signal = matches!(how, "kill" | "stop" | "abort");
            let makes_sense = match phase {
                "init" => how != "leave",
                "middle" => how == "kill",
                "quiet" | "join" => by_signal,
                _ => true,
            };
            list.extend([0, 2].into_iter().filter(|_| makes_sense).map(|victim| Fault { phase, how, victim }));
        }
    }
    list
}

/// The jobs sleep most of their time, so several run at once.
#[test]
fn a_rank_that_ends_is_named_by_all_others() {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    let list = faults();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(fault) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                    try_fault(fault);
                }
            });
        }
    });
    println!("{} jobs", list.len());
}

fn try_fault(fault: &Fault) {
    let Fault { phase, how, victim } = *fault;
    let what = format!("{phase} {how} rank {victim}");
    let mark = format!("{}-{phase}-{how}-{victim}", std::process::id());
    let stops = how == "stop";
    let mut command = Command::new(launcher());
    // The launcher leaves it to the ranks to notice. That one has ended they must see long before the timeout, which is for
    // one that has stopped.
    command.args(["-np", "3", "--grace", "300", "--timeout", if stops { "5" } else { "200" }]);
    command.args([RANK, "fault", phase, how, &victim.to_string()]).env("CORTEN_TEST_MARK", &mark);
    // So it is with init.
    command.env("CORTEN_INIT_TIMEOUT", if stops { "5" } else { "200" });
    let mut job = Running::start(command);
    if stops {
        // A stopped rank never ends: the launcher is told to end the job, as a user would.
        while job.out().matches("survivor").count() < 2 && !job.has_ended() && job.began.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(10));
        }
        job.signal(libc::SIGTERM);
        // It takes note of that when it continues.
        std::thread::sleep(Duration::from_millis(50));
        job.signal(libc::SIGCONT);
    }
    let job = job.end();
    assert_eq!(job.out.matches("survivor").count(), 2, "{what}: {}", job.out);
    let good = how == "exit" || how == "leave";
    assert!(stops || good == (job.code == 0), "{what}: exit code {}\n{}", job.code, job.out);
    none_left(&format!("CORTEN_TEST_MARK={mark}"), &what);
}

/// Whoever was killed is gone in a moment.
#[track_caller]
fn none_left(mark: &str, what: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !leftovers(mark).is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(leftovers(mark), Vec::<String>::new(), "{what}");
}

#[test]
fn the_launcher() {
    // Exit codes.
    let job = run(ranks(3, &["exit", "7"]));
    assert_eq!(job.code, 7, "{}", job.out);
    let mut command = Command::new(launcher());
    command.args(["-np", "2", "/nonexistent/program"]);
    assert_eq!(run(command).code, 127);
    // One rank fails, the other would sleep for minutes.
    let mut command = Command::new(launcher());
    let script = format!("[ $CORTEN_RANK = 1 ] && exit 5; exec {RANK} sleep");
    command.args(["-np", "2", "--grace", "0.2", "sh", "-c", &script]);
    let job = run(command);
    assert_eq!(job.code, 5, "{}", job.out);
    assert!(job.out.contains("rank 1 ended with exit code 5"), "{}", job.out);
    // A signal that ends a rank.
    let mut command = Command::new(launcher());
    command.args(["-np", "2", "--grace", "0.1", "sh", "-c", "[ $CORTEN_RANK = 0 ] && kill -9 $$; sleep 100"]);
    assert_eq!(run(command).code, 137);
    // Lines with the rank in front.
    let mut command = Command::new(launcher());
    command.args(["-np", "3", "--prefix", RANK, "print"]);
    let job = run(command);
    for rank in 0..3 {
        assert!(job.out.contains(&format!("[{rank}] line one of {rank}\n")), "{}", job.out);
    }
    assert_eq!(job.out.lines().count(), 6, "{}", job.out);
    // Threads: a share of the processors, unless the user says otherwise.
    let show = "echo t=$CORTEN_NUM_THREADS o=$OMP_NUM_THREADS s=$CORTEN_SIZE";
    let mut command = Command::new(launcher());
    command.args(["-np", "500", "sh", "-c", &format!("[ $CORTEN_RANK != 499 ] || {show}")]);
    command.env_remove("CORTEN_NUM_THREADS").env_remove("OMP_NUM_THREADS").env_remove("OPENBLAS_NUM_THREADS");
    assert!(run(command).out.contains("t=1 o=1 s=500"));
    let mut command = Command::new(launcher());
    command.args(["-np", "1", "sh", "-c", show]).env("CORTEN_NUM_THREADS", "3").env_remove("OMP_NUM_THREADS");
    assert!(run(command).out.contains("t=3 o= s=1"));
    // What it finds.
    let mut command = Command::new(launcher());
    command.arg("--check");
    let job = run(command);
    assert_eq!(job.code, 0);
    assert!(job.out.contains("shared memory     works"), "{}", job.out);
    assert!(!job.out.contains("CORTEN_TIMEOUT"), "{}", job.out);
    // And what it does not understand of the environment, though it has no use for it.
    let mut command = Command::new(launcher());
    command.arg("--check").env("CORTEN_TIMEOUT", "soon");
    let job = run(command);
    assert!(job.code == 0 && job.out.lines().any(|l| l.contains("CORTEN_TIMEOUT=soon")), "{}", job.out);
    let mut command = Command::new(launcher());
    command.arg("--version");
    let job = run(command);
    type Version = unsafe extern "C" fn() -> *const std::ffi::c_char;
    // SAFETY: corten_version has this type and returns a C string.
    let version = unsafe {
        let version = std::mem::transmute::<*const std::ffi::c_void, Version>(library::lib().symbol("corten_version"));
        std::ffi::CStr::from_ptr(version()).to_str().unwrap()
    };
    assert_eq!((job.code, job.out), (0, format!("corten-run {version}\n")));
    // What follows -- is the program, whatever it looks like.
    let mut command = Command::new(launcher());
    command.args(["-np", "2", "--", "sh", "-c", "exit 4", "--check"]);
    assert_eq!(run(command).code, 4);
    // Values in the same argument as their options.
    let show = ["sh", "-c", "echo $CORTEN_SIZE $CORTEN_TIMEOUT"];
    for np in [&["-np3"][..], &["-np=3"], &["-n3"], &["-n=3"], &["--np=3"], &["-n", "3"]] {
        let mut command = Command::new(launcher());
        command.args(np).arg("--timeout=77").args(show);
        let job = run(command);
        assert_eq!((job.code, job.out.as_str()), (0, "3 77\n3 77\n3 77\n"), "{np:?}");
    }
    // Wrong use.
    let no_time = ["--timeout", "0", "true"];
    let wrong = [
        &["-np", "0", "true"][..],
        &["-np", "x", "true"],
        &["-npx", "true"],
        &["-np=", "true"],
        &["--timeout=x", "true"],
        &["--version", "extra"],
        &["--check", "extra"],
        &["--what"],
        &[],
        &["--"],
        &no_time,
    ];
    for wrong in wrong {
        let mut command = Command::new(launcher());
        command.args(wrong);
        assert_eq!(run(command).code, 2, "{wrong:?}");
    }
}

/// One rank fails, another does not mind SIGTERM: it gets that after half of the grace, and SIGKILL when it is over, not
/// before. A script that sleeps for a moment at a time counts both.
#[test]
fn the_grace_of_the_launcher() {
    let script = "[ $CORTEN_RANK = 1 ] && exit 5; trap 'echo told; told=1' TERM; while :; do sleep 0.1; [ $told ] && echo on; done";
    let mut command = Command::new(launcher());
    command.args(["-np", "2", "--grace", "6", "bash", "-c", script]);
    let job = run(command);
    assert_eq!((job.code, job.out.matches("told").count()), (5, 1), "{}", job.out);
    assert!(job.time >= Duration::from_secs(6), "{:?}", job.time);
    // Three seconds of tenths are at most thirty; with three more seconds before SIGKILL it would be many more.
    let turns = job.out.matches("on\n").count();
    assert!((1..=31).contains(&turns), "{turns} turns after SIGTERM");
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
        let deadline = Instant::now() + LIMIT;
        while leftovers(&mark).iter().filter(|p| p.contains("comm_rank")).count() < 3 + 1 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        // SAFETY: our own child.
        unsafe { libc::kill(child.id() as i32, signal) };
        let status = child.wait().unwrap();
        assert_eq!(status.code(), code, "{status:?}");
        none_left(&mark, &format!("signal {signal}"));
    }
}
