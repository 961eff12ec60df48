//! `corten-run -np 4 program arguments…`: starts the ranks of a job on this machine and stays until all have ended.
//!
//! Every rank is a process group of its own, so that whatever a rank starts can be ended with it. Signals that end or
//! continue a job are passed on to all ranks. The first rank that fails ends the others: they have a moment to report
//! it themselves, then get SIGTERM, and SIGKILL when the grace is over; its exit code is ours. If the launcher itself is killed, so are the
//! ranks (the kernel sees to that). Ranks find each other by a random token in the environment; there is no server.
//! Whether a rank that has not come yet has ended they see by a sign that is put up here.

use core::ffi::{c_int, c_ulong, c_void};
use corten_core::comm::transport::bootstrap::Ended;
use corten_core::comm::{launch, sys, world};
use corten_core::runtime::{self, env};
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const USAGE: &str = "\
usage: corten-run [options] [--] program [arguments]
  -np N, -n N        number of ranks; default: the processors this process may use
  -l, --prefix       write the rank in front of every line of output
  --grace SECONDS    when a rank has failed, the others get SIGTERM after half of this time and SIGKILL at its end;
                     default 4
  --timeout SECONDS  the library's CORTEN_TIMEOUT for all ranks: whole seconds, at least 1
  --check            print what the library finds on this machine, and end
  --version          print the version, and end
  -h, --help         this text
A value may follow its option directly: -np4, -np=4, --timeout=60.
Each rank gets CORTEN_RANK, CORTEN_SIZE, CORTEN_JOB and, unless they are set, CORTEN_NUM_THREADS and
OMP_NUM_THREADS: its share of the processors. Rank 0 reads the standard input unless that is a terminal.";

unsafe extern "C" {
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn prctl(option: c_int, value: c_ulong) -> c_int;
    fn setpgid(pid: c_int, group: c_int) -> c_int;
    fn getppid() -> c_int;
    fn waitid(kind: c_int, id: u32, info: *mut c_void, options: c_int) -> c_int;
    fn sigemptyset(set: *mut c_void) -> c_int;
    fn sigaddset(set: *mut c_void, signal: c_int) -> c_int;
    fn pthread_sigmask(how: c_int, set: *const c_void, old: *mut c_void) -> c_int;
    fn sigtimedwait(set: *const c_void, info: *mut c_void, time: *const [i64; 2]) -> c_int;
}

const SIGHUP: c_int = 1;
const SIGINT: c_int = 2;
const SIGQUIT: c_int = 3;
const SIGKILL: c_int = 9;
const SIGUSR1: c_int = 10;
const SIGUSR2: c_int = 12;
const SIGTERM: c_int = 15;
const SIGCHLD: c_int = 17;
const SIGCONT: c_int = 18;

const PASSED_ON: [c_int; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGCONT];

/// Larger than `sigset_t` of any Linux C library.
#[repr(C, align(16))]
struct Signals([u8; 256]);

impl Signals {
    /// The signals that this program waits for.
    fn awaited() -> Signals {
        let mut set = Signals([0; 256]);
        // SAFETY: the set is large enough.
        unsafe {
            sigemptyset((&raw mut set).cast());
            for signal in PASSED_ON.into_iter().chain([SIGCHLD]) {
                sigaddset((&raw mut set).cast(), signal);
            }
        }
        set
    }
    /// Blocks them (SIG_BLOCK 0) or lets them through (SIG_UNBLOCK 1) in this thread.
    fn mask(&self, how: c_int) {
        // SAFETY: a set that lives through the call.
        unsafe { pthread_sigmask(how, (&raw const *self).cast(), core::ptr::null_mut()) };
    }
    /// The next of them, if one comes in time.
    fn next(&self, limit: Duration) -> Option<c_int> {
        let time = [limit.as_secs() as i64, i64::from(limit.subsec_nanos())];
        // SAFETY: a set and a time that live through the call.
        let signal = unsafe { sigtimedwait((&raw const *self).cast(), core::ptr::null_mut(), &raw const time) };
        (signal > 0).then_some(signal)
    }
}

struct Options {
    ranks: usize,
    prefix: bool,
    /// From the first failure to SIGKILL.
    grace: Duration,
    timeout: Option<u64>,
    program: Vec<String>,
}

/// Options that have a value, and what it is.
const VALUES: [(&str, &str); 5] = [
    ("-np", "a number of ranks"),
    ("--np", "a number of ranks"),
    ("-n", "a number of ranks"),
    ("--grace", "seconds"),
    ("--timeout", "seconds"),
];

/// Takes `--timeout=2` apart, and `-np3`; the value is `None` where it is not in the same argument.
fn split(argument: String) -> (String, Option<String>) {
    let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    for (name, _) in VALUES {
        match argument.strip_prefix(name) {
            Some(rest) if rest.starts_with('=') => return (name.into(), Some(rest[1..].into())),
            Some(rest) if !name.starts_with("--") && number(rest) => return (name.into(), Some(rest.into())),
            _ => {}
        }
    }
    (argument, None)
}

fn read_arguments() -> Result<Option<Options>, String> {
    let mut options = Options {
        ranks: runtime::num_procs(),
        prefix: false,
        grace: Duration::from_secs(4),
        timeout: None,
        program: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let (argument, given) = split(argument);
        let mut value = || {
            let what = VALUES.iter().find(|(name, _)| *name == argument).map_or("a value", |(_, what)| what);
            given.clone().or_else(|| arguments.next()).ok_or(format!("{argument} needs {what}"))
        };
        match argument.as_str() {
            "-h" | "--help" => {
                println!("{USAGE}");
                return Ok(None);
            }
            "--version" | "--check" => {
                if let Some(extra) = arguments.next() {
                    return Err(format!("{argument} takes nothing after it, and there is '{extra}'\n{USAGE}"));
                }
                match argument.as_str() {
                    "--check" => check(),
                    _ => println!("corten-run {}", env!("CARGO_PKG_VERSION")),
                }
                return Ok(None);
            }
            "-np" | "-n" | "--np" => {
                let text = value()?;
                options.ranks = text
                    .parse()
                    .ok()
                    .filter(|n| (1..=1000).contains(n))
                    .ok_or(format!("{argument} {text}: the number of ranks is a whole number from 1 to 1000"))?;
            }
            "-l" | "--prefix" => options.prefix = true,
            "--grace" => {
                let text = value()?;
                let seconds = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
                options.grace = seconds.ok_or(format!("--grace {text}: not a number of seconds"))?;
            }
            "--timeout" => {
                let text = value()?;
                let seconds = text.parse().ok().filter(|s| *s > 0);
                options.timeout = Some(seconds.ok_or(format!("--timeout {text}: not whole seconds from 1 on"))?);
            }
            "--" => {
                options.program.extend(arguments);
                break;
            }
            _ if argument.starts_with('-') => return Err(format!("unknown option {argument}\n{USAGE}")),
            _ => {
                options.program.push(argument);
                options.program.extend(arguments);
                break;
            }
        }
    }
    if options.program.is_empty() {
        return Err(format!("no program to run\n{USAGE}"));
    }
    Ok(Some(options))
}

fn check() {
    env::check();
    println!("version           {}", env!("CARGO_PKG_VERSION"));
    println!("instruction set   {}", runtime::isa_name());
    print!("{}", world::describe());
    match launch::find() {
        Ok(found) => println!("started as        {found}"),
        Err(e) => println!("started as        {}", e.text),
    }
    for var in env::ALL {
        if let Some(value) = var.get() {
            println!("{:<17} {value}", var.name);
        }
    }
}

/// Copies lines to our own output, each with the rank in front, in one write, until the pipe ends.
fn copy_lines(rank: usize, from: impl Read + Send + 'static, mut to: impl Write + Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut lines = BufReader::new(from);
        let mut line = Vec::new();
        while let Ok(1..) = lines.read_until(b'\n', &mut line) {
            let mut text = format!("[{rank}] ").into_bytes();
            text.append(&mut line);
            if text.last() != Some(&b'\n') {
                text.push(b'\n');
            }
            let _ = to.write_all(&text).and_then(|()| to.flush());
        }
    })
}

fn start(options: &Options, rank: usize, token: &str, writers: &mut Vec<JoinHandle<()>>) -> std::io::Result<Child> {
    let mut command = Command::new(&options.program[0]);
    command.args(&options.program[1..]);
    command.env(env::RANK.name, rank.to_string()).env(env::SIZE.name, options.ranks.to_string());
    command.env(env::JOB.name, token);
    let share = (runtime::num_procs() / options.ranks).max(1).to_string();
    let told = [&env::NUM_THREADS, &env::OPENBLAS_NUM_THREADS, &env::OMP_NUM_THREADS].iter().any(|v| v.get().is_some());
    if !told {
        command.env(env::NUM_THREADS.name, &share).env(env::OMP_NUM_THREADS.name, &share);
    }
    if let Some(seconds) = options.timeout {
        command.env(env::COMM_TIMEOUT.name, seconds.to_string());
    }
    if rank > 0 || std::io::stdin().is_terminal() {
        command.stdin(Stdio::null());
    }
    if options.prefix {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let parent = std::process::id();
    // SAFETY: between fork and exec only calls that are allowed there.
    unsafe {
        command.pre_exec(move || {
            setpgid(0, 0);
            // PR_SET_PDEATHSIG: this rank ends with the launcher. It may have ended before this line.
            prctl(1, SIGKILL as c_ulong);
            if getppid() as u32 != parent {
                return Err(std::io::Error::other("the launcher has ended"));
            }
            Signals::awaited().mask(1);
            Ok(())
        });
    }
    let mut child = command.spawn()?;
    if let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) {
        writers.push(copy_lines(rank, out, std::io::stdout()));
        writers.push(copy_lines(rank, err, std::io::stderr()));
    }
    Ok(child)
}

/// How a rank has ended, if it has. It stays a zombie: while it is there, its number is nobody else's, and neither is that
/// of its process group.
fn ended(child: &Child) -> Option<ExitStatus> {
    /// The beginning of `siginfo_t` of 64-bit Linux, as SIGCHLD has it.
    #[repr(C, align(16))]
    #[derive(Default)]
    struct Info {
        signal: c_int,
        error: c_int,
        code: c_int,
        _pad: c_int,
        pid: c_int,
        user: u32,
        status: c_int,
        _rest: [c_int; 25],
    }
    let mut info = Info::default();
    // SAFETY: a child of ours (P_PID), and room for what is known of it: WNOHANG | WEXITED | WNOWAIT.
    let code = unsafe { waitid(1, child.id(), (&raw mut info).cast(), 1 | 4 | 0x0100_0000) };
    if code != 0 || info.pid == 0 {
        return None;
    }
    // CLD_EXITED is 1; else a signal ended it.
    Some(ExitStatus::from_raw(if info.code == 1 { info.status << 8 } else { info.status }))
}

/// To the process group of a rank: the rank and all that it started.
fn signal_group(child: &Child, signal: c_int) {
    // SAFETY: plain numbers. The group cannot be another's: its leader, our child, is waited for only at the end.
    unsafe { kill(-(child.id() as c_int), signal) };
}

/// As a shell has it: 128 and the signal, or the exit code.
fn code_of(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128u8.wrapping_add(signal as u8),
        _ => 1,
    }
}

fn say(text: core::fmt::Arguments) {
    runtime::trace::say_as("corten-run", text);
}

fn main() -> ExitCode {
    let options = match read_arguments() {
        Ok(Some(options)) => options,
        Ok(None) => return ExitCode::SUCCESS,
        Err(text) => {
            say(format_args!("{text}"));
            return ExitCode::from(2);
        }
    };
    let signals = Signals::awaited();
    signals.mask(0);
    // PR_SET_CHILD_SUBREAPER: what ranks leave behind becomes our child and not init's.
    // SAFETY: plain numbers.
    unsafe { prctl(36, 1) };
    let token = sys::random_token();
    let mut ranks: Vec<(Child, Option<ExitStatus>)> = Vec::with_capacity(options.ranks);
    let mut writers = Vec::new();
    for rank in 0..options.ranks {
        match start(&options, rank, &token, &mut writers) {
            Ok(child) => ranks.push((child, None)),
            Err(e) => {
                say(format_args!("cannot run {}: {e}", options.program[0]));
                for (child, _) in &ranks {
                    signal_group(child, SIGKILL);
                }
                return ExitCode::from(if e.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 });
            }
        }
    }
    let code = watch(&options, &signals, &token, &mut ranks);
    for (child, _) in &mut ranks {
        signal_group(child, SIGKILL);
        // All have ended: no zombies for others to find.
        let _ = child.wait();
    }
    // The writers of prefixed lines see the end of their pipes now, unless something that left its group holds one.
    let deadline = Instant::now() + Duration::from_secs(10);
    while writers.iter().any(|writer| !writer.is_finished()) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    ExitCode::from(code)
}

/// Stays until all ranks have ended; returns our exit code.
fn watch(options: &Options, signals: &Signals, token: &str, ranks: &mut [(Child, Option<ExitStatus>)]) -> u8 {
    let mut sign = None;
    let mut failed: Option<(u8, Instant)> = None;
    // 0: nothing sent yet, 1: SIGTERM, 2: SIGKILL.
    let mut sent = 0;
    loop {
        for (rank, (child, known)) in ranks.iter_mut().enumerate() {
            if known.is_some() {
                continue;
            }
            let Some(status) = ended(child) else { continue };
            *known = Some(status);
            // Of the first only: those that follow it may do so because of it. Without a sign, timeouts tell.
            sign = sign.or_else(|| Ended::announce(token, rank as u32).ok());
            if !status.success() && failed.is_none() {
                let how = match status.signal() {
                    Some(signal) => format!("was ended by signal {signal}"),
                    None => format!("ended with exit code {}", code_of(status)),
                };
                say(format_args!("rank {rank} {how}"));
                failed = Some((code_of(status), Instant::now()));
            }
        }
        if ranks.iter().all(|(_, ended)| ended.is_some()) {
            return failed.map_or(0, |(code, _)| code);
        }
        if let Some((_, since)) = failed {
            let due = [(options.grace / 2, SIGTERM), (options.grace, SIGKILL)];
            if sent < 2 && since.elapsed() >= due[sent].0 {
                for (child, _) in ranks.iter().filter(|(_, ended)| ended.is_none()) {
                    signal_group(child, due[sent].1);
                    // A stopped process takes note of a signal only when it continues.
                    signal_group(child, SIGCONT);
                }
                sent += 1;
            }
        }
        let nap = if failed.is_some() { Duration::from_millis(20) } else { Duration::from_secs(1) };
        if let Some(signal) = signals.next(nap)
            && signal != SIGCHLD
        {
            for (child, _) in ranks.iter().filter(|(_, ended)| ended.is_none()) {
                signal_group(child, signal);
            }
        }
    }
}
