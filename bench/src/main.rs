//! corten-bench: races libcorten against the BLAS libraries that are installed.
//!
//! One worker process a library (two BLAS in one process would fight over symbols, threads and cores), asked
//! in turn, the rounds interleaved, so that a disturbance of the machine meets all of them alike. Workers that
//! are not asked are stopped: the spinning threads of one library must not take cores from the next.

mod case;
mod comm;
mod conv;
mod limit;
mod peers;
mod report;
mod sys;
mod worker;

use case::Case;
use peers::Lib;
use report::{Race, Row};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const USAGE: &str = "\
corten-bench: races libcorten against the BLAS libraries that are installed

  --threads N           threads of every library (default 1; with 1 the workers are pinned to one core)
  --callers N           N application threads call at once, each with operands of its own (default 1)
  --rounds R            interleaved rounds a case; the best counts (default 3); up to three times as
                        many where the last round still changed a library's best
  --batch MS            measured time that one answer rests on at least (default 20; 0 checks results only)
  --set NAME            short (default), level1, level2, level3, neighbours (odd sizes, transposes,
                        pads), batch, threads (sizes where a second thread begins to pay; see --own), performance
                        (that of docs/performance.md) or all; may be given several times
  --shapes CASE...      cases such as \"dgemm NT 500 500 64\", \"ztrsm LLNN 1000 1000\", \"ddot 1000 incx=2\";
                        @FILE reads one a line. Letters as in Fortran: side, uplo, trans, diag; then the
                        dimensions; then, if wanted, pad= (added to leading dimensions) incx= incy= beta=
  --lib NAME=PATH[:PREFIX[:SUFFIX]]...
                        one more library; NAME `corten` replaces ours
  --own N               our library held to N threads races, too, as corten-N
  --only NAME,...       of the peers, only these
  --no-find             do not look for installed peers
  --venv DIR            look for MKL and OpenBLAS wheels there (also CORTEN_BENCH_VENV) instead of in the
                        Python of the PATH
  --cpu N               the core to pin to with 1 thread (default: the last one allowed)
  --gap MS              pause between libraries with more threads (default 5)
  --csv FILE  --markdown FILE  --svg DIR
                        write the results there, too
  --list                show the libraries and the cases, measure nothing
  --conv ...            as the first argument: races convolutions against oneDNN; see bench/README.md
Our library is CORTEN_LIB or target/release/libcorten.so.
`corten-bench comm --help`: the collectives.";

/// A worker that says nothing for this long is taken for hung, ended and started anew.
const PATIENCE: Duration = Duration::from_secs(120);
/// A library this much slower than the best of the first round is not asked for further rounds of the case.
const HOPELESS: f64 = 8.0;

/// At most so many times the rounds that were asked for.
const MORE_ROUNDS: usize = 3;

/// How often the FMA limit is measured again during the race.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

struct Options {
    threads: usize,
    /// Application threads that call at once.
    callers: usize,
    rounds: usize,
    cases: Vec<Case>,
    libs: Vec<Lib>,
    cpu: Option<usize>,
    gap: Duration,
    /// Seconds that one answer rests on at least.
    batch: f64,
    csv: Option<PathBuf>,
    markdown: Option<PathBuf>,
    svg: Option<PathBuf>,
    list: bool,
}

fn options(args: &[String]) -> Result<Option<Options>, String> {
    let mut o = Options {
        threads: 1,
        callers: 1,
        rounds: 3,
        cases: Vec::new(),
        libs: Vec::new(),
        cpu: None,
        gap: Duration::from_millis(5),
        batch: 20e-3,
        csv: None,
        markdown: None,
        svg: None,
        list: false,
    };
    let (mut given, mut find, mut only, mut own) = (Vec::new(), true, None, None);
    let mut venv = std::env::var_os("CORTEN_BENCH_VENV").map(PathBuf::from);
    let mut i = 0;
    while i < args.len() {
        let key = args[i].as_str();
        i += 1;
        let values = args[i..].iter().take_while(|a| !a.starts_with("--")).count();
        let values = &args[i..i + values];
        i += values.len();
        let one = || match values {
            [v] => Ok(v.as_str()),
            _ => Err(format!("{key} takes one value")),
        };
        let number = || one()?.parse::<usize>().map_err(|_| format!("{key} takes a number"));
        let none = || if values.is_empty() { Ok(()) } else { Err(format!("{key} takes no value: {values:?}")) };
        match key {
            "--threads" => o.threads = number()?.max(1),
            "--callers" => o.callers = number()?.max(1),
            "--rounds" => o.rounds = number()?.max(1),
            "--cpu" => o.cpu = Some(number()?),
            "--gap" => o.gap = Duration::from_millis(number()? as u64),
            "--batch" => o.batch = number()? as f64 * 1e-3,
            "--set" => o.cases.extend(case::set(one()?).ok_or_else(|| format!("no set {values:?}"))?),
            "--shapes" => {
                for text in values {
                    shapes(text, &mut o.cases)?;
                }
            }
            "--lib" => {
                for text in values {
                    given.push(Lib::parse(text)?);
                }
            }
            "--own" => own = Some(number()?.max(1)),
            "--only" => only = Some(one()?.split(',').map(str::to_string).collect::<Vec<_>>()),
            "--no-find" => none().map(|()| find = false)?,
            "--venv" => venv = Some(one()?.into()),
            "--csv" => o.csv = Some(one()?.into()),
            "--markdown" => o.markdown = Some(one()?.into()),
            "--svg" => o.svg = Some(one()?.into()),
            "--list" => none().map(|()| o.list = true)?,
            "--help" | "-h" => {
                println!("{USAGE}");
                return Ok(None);
            }
            _ => return Err(format!("unknown argument {key:?}; --help shows the known ones")),
        }
    }
    if o.cases.is_empty() {
        o.cases = case::set("short").unwrap_or_default();
    }
    if let Some(dir) = venv.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(format!("{}: no such directory to look for MKL and OpenBLAS in", dir.display()));
    }
    if let Some(lib) = given.iter().find(|l| l.path.components().count() > 1 && !l.path.exists()) {
        return Err(format!("{}: no such file for the library {}", lib.path.display(), lib.name));
    }
    let ours = match given.iter().position(|l| l.name == "corten") {
        Some(at) => given.remove(at),
        None => peers::ours()?,
    };
    o.libs.push(ours);
    let found = if find { peers::installed(venv.as_deref()) } else { Vec::new() };
    // A library given by path replaces the one of its name that was found.
    o.libs.extend(found.into_iter().filter(|f| given.iter().all(|g| g.name != f.name)));
    o.libs.extend(given);
    if let Some(threads) = own {
        let name = format!("corten-{threads}");
        o.libs.push(Lib { name, threads: Some(threads), ..o.libs[0].clone() });
    }
    if let Some(only) = only {
        if let Some(missing) = only.iter().find(|n| o.libs.iter().all(|l| l.name != **n)) {
            let names: Vec<&str> = o.libs.iter().map(|l| l.name.as_str()).collect();
            return Err(format!(
                "--only {missing}: no such library; there are {} (--venv says where MKL and OpenBLAS are, --lib names others)",
                names.join(", ")
            ));
        }
        let mut first = true;
        o.libs.retain(|l| std::mem::take(&mut first) || only.contains(&l.name));
    }
    Ok(Some(o))
}

/// One case, or with `@FILE` those of a file; lines that are empty or start with `#` are skipped.
fn shapes(text: &str, cases: &mut Vec<Case>) -> Result<(), String> {
    let Some(path) = text.strip_prefix('@') else {
        cases.push(Case::parse(text)?);
        return Ok(());
    };
    let file = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    for line in file.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        cases.push(Case::parse(line).map_err(|e| format!("{path}: {e}"))?);
    }
    Ok(())
}

/// A worker process and its answers.
struct Worker {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    /// Stopped while another worker is asked.
    stops: bool,
}

impl Worker {
    fn start(lib: Option<&Lib>, o: &Options, mkl_layer: &str) -> Result<Worker, String> {
        let exe = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut command = Command::new(exe);
        let text = |s: Option<&String>| s.cloned().unwrap_or_default();
        let path = lib.map(|l| l.path.to_string_lossy().into_owned());
        let threads = lib.and_then(|l| l.threads).unwrap_or(o.threads);
        let cpu = if o.threads == 1 && o.callers == 1 { o.cpu.or_else(|| sys::allowed_cpus().pop()) } else { None };
        command
            .arg("--worker")
            .args([text(path.as_ref()), text(lib.map(|l| &l.prefix)), text(lib.map(|l| &l.suffix))])
            .args([cpu.map_or("-".into(), |c| c.to_string()), threads.to_string(), o.batch.to_string()])
            .arg(o.callers.to_string());
        for name in ["CORTEN", "OPENBLAS", "GOTO", "OMP", "MKL", "BLIS"] {
            command.env(format!("{name}_NUM_THREADS"), threads.to_string());
        }
        // With fewer threads than asked for, a race with two threads would be one of unequals.
        command.env("MKL_DYNAMIC", "FALSE").env("OMP_DYNAMIC", "FALSE");
        command.env("MKL_THREADING_LAYER", mkl_layer).env("MKL_INTERFACE_LAYER", "LP64");
        // A wheel's library finds its companions (MKL its OpenMP runtime) next to itself.
        if let Some(dir) = lib.and_then(|l| l.path.parent()) {
            let mut path = dir.as_os_str().to_owned();
            if let Some(old) = std::env::var_os("LD_LIBRARY_PATH") {
                path.push(":");
                path.push(old);
            }
            command.env("LD_LIBRARY_PATH", path);
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|e| format!("cannot start: {e}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipe to the worker".into());
        };
        let (send, answers) = channel();
        std::thread::spawn(move || {
            // Lines without the mark were printed by the library itself.
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix('=')
                    && send.send(answer.to_string()).is_err()
                {
                    break;
                }
            }
        });
        Ok(Worker { child, input, answers, stops: o.threads > 1 || o.callers > 1 })
    }

    fn ask(&mut self, question: &str) -> Result<String, String> {
        if self.stops {
            sys::set_stopped(&self.child, false);
        }
        writeln!(self.input, "{question}").map_err(|_| "the worker ended".to_string())?;
        let answer = self.answers.recv_timeout(PATIENCE).map_err(|e| match e {
            std::sync::mpsc::RecvTimeoutError::Timeout => "no answer".to_string(),
            std::sync::mpsc::RecvTimeoutError::Disconnected => "the worker ended".to_string(),
        });
        if self.stops {
            sys::set_stopped(&self.child, true);
        }
        answer
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A library in the race: its worker, and how MKL's threads had to be set up for it to answer.
struct Racer {
    lib: Lib,
    worker: Worker,
    mkl_layer: &'static str,
    id: String,
}

impl Racer {
    /// Starts the worker and makes it compute once. Only MKL reads the layer; the retries cost nothing else.
    fn start(lib: &Lib, o: &Options) -> Result<Racer, String> {
        let layers: &[&'static str] = match (lib.path.to_string_lossy().contains("mkl"), o.threads) {
            (false, _) => &["INTEL"],
            (true, 1) => &["INTEL", "GNU", "SEQUENTIAL"],
            (true, _) => &["INTEL", "GNU", "TBB"],
        };
        let mut why = String::new();
        for &mkl_layer in layers {
            let mut worker = Worker::start(Some(lib), o, mkl_layer)?;
            match worker.ask("id").and_then(|id| worker.ask("time dgemm NN 4 4 4").map(|a| (id, a))) {
                Ok((id, answer)) if !answer.starts_with("none") => {
                    return Ok(Racer { lib: lib.clone(), worker, mkl_layer, id });
                }
                Ok((_, answer)) => why = answer.trim_start_matches("none ").to_string(),
                Err(e) => why = e,
            }
        }
        Err(why)
    }

    /// Seconds and checksum of a case. A worker that dies of it is started anew, for the cases to come.
    fn time(&mut self, case: &Case, o: &Options) -> Result<report::Answer, String> {
        let answer = match self.worker.ask(&format!("time {case}")) {
            Ok(answer) => answer,
            Err(e) => {
                self.worker = Worker::start(Some(&self.lib), o, self.mkl_layer)?;
                return Err(e);
            }
        };
        if let Some(reason) = answer.strip_prefix("none") {
            return Err(reason.trim().to_string());
        }
        let numbers: Vec<f64> = answer.split(' ').filter_map(|n| n.parse().ok()).collect();
        let [seconds, sum, magnitude] = numbers[..] else { return Err(format!("answered {answer:?}")) };
        Ok(report::Answer { seconds, sum, magnitude })
    }
}

/// One line on standard error that follows the race; on a terminal it is overwritten, else printed now and then.
struct Progress {
    start: Instant,
    last: Instant,
    terminal: bool,
}

impl Progress {
    fn show(&mut self, done: usize, of: usize, case: &Case) {
        let spent = self.start.elapsed().as_secs_f64();
        let left = if done == 0 {
            String::new()
        } else {
            format!(", about {:.0} s left", spent / done as f64 * (of - done) as f64)
        };
        let text = format!("[{}/{of}] {case} ({spent:.0} s{left})", done + 1);
        if self.terminal {
            eprint!("\r{text}\x1b[K");
        } else if self.last.elapsed() > Duration::from_secs(5) {
            self.last = Instant::now();
            eprintln!("{text}");
        }
    }

    fn clear(&self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }
}

/// Lines to standard output, as long as somebody reads them.
fn say<T: std::fmt::Display>(lines: impl Iterator<Item = T>) {
    let mut out = std::io::stdout().lock();
    for line in lines {
        if writeln!(out, "{line}").is_err() {
            break;
        }
    }
}

fn run(args: &[String]) -> Result<(), String> {
    let Some(o) = options(args)? else { return Ok(()) };
    if o.list {
        say(o.libs.iter().map(|l| format!("{:14} {}", l.name, l.path.display())));
        say(o.cases.iter());
        return Ok(());
    }
    let mut racers = Vec::new();
    for (i, lib) in o.libs.iter().enumerate() {
        match Racer::start(lib, &o) {
            Ok(racer) => racers.push(racer),
            Err(e) if i == 0 => return Err(format!("{}: {e}", lib.path.display())),
            Err(e) => eprintln!("left out: {} ({}): {e}", lib.name, lib.path.display()),
        }
    }
    let mut gauge = Worker::start(None, &o, "INTEL")?;
    let mut measure = |question: String| gauge.ask(&question).map(|a| a.parse::<f64>().ok());
    let first = [measure("fma s".into())?, measure("fma d".into())?];
    let mut race = Race {
        libs: racers.iter().map(|r| (r.lib.name.clone(), r.id.clone())).collect(),
        threads: o.threads,
        callers: o.callers,
        rounds: o.rounds,
        fma: first,
        rows: Vec::new(),
    };
    print!("{}", race.head());
    let mut read: HashMap<usize, Option<f64>> = HashMap::new();
    let now = Instant::now();
    let mut looked = now;
    let mut progress = Progress { start: now, last: now, terminal: std::io::stderr().is_terminal() };
    for (done, case) in o.cases.iter().enumerate() {
        progress.show(done, o.cases.len(), case);
        let mut row = Row::new(case.clone(), racers.len());
        let gemm = case.same_size_gemm();
        // A disturbance may last for several rounds: where the last one still brought news, there are more.
        let mut round = 0;
        while round < o.rounds || round < MORE_ROUNDS * o.rounds && o.rounds > 1 && row.improved() {
            round += 1;
            row.next_round();
            for (i, racer) in racers.iter_mut().enumerate() {
                if row.hopeless(i, HOPELESS) {
                    continue;
                }
                match racer.time(case, &o) {
                    Ok(answer) => row.add(i, answer),
                    Err(e) => {
                        // A missing routine is said by the dash in the table; anything else deserves words.
                        if !e.starts_with("has no") {
                            progress.clear();
                            eprintln!("{}: {case}: {e}", racer.lib.name);
                        }
                        row.gave_up(i);
                    }
                }
                if let (0, Some(gemm)) = (i, &gemm)
                    && let Ok(answer) = racer.time(gemm, &o)
                {
                    row.add_gemm(gemm, answer.seconds);
                }
                if o.threads > 1 || o.callers > 1 {
                    std::thread::sleep(o.gap);
                }
            }
        }
        // The clock of a shared machine moves: the limit is the most that was seen in the whole run.
        if looked.elapsed() > LOOK_AGAIN {
            race.raise_limit([measure("fma s".into())?, measure("fma d".into())?]);
            looked = Instant::now();
        }
        if case.op.level < 3 {
            let bytes = case.footprint() as usize;
            row.limit = match read.get(&bytes) {
                Some(known) => *known,
                None => *read.entry(bytes).or_insert(measure(format!("read {bytes}"))?),
            };
        }
        progress.clear();
        println!("{}", race.line(&row));
        race.rows.push(row);
    }
    print!("{}", race.tail());
    race.raise_limit([measure("fma s".into())?, measure("fma d".into())?]);
    let [s, d] = [0, 1].map(|i| race.fma[i].zip(first[i]).map_or(0.0, |(most, first)| 100.0 * (most / first - 1.0)));
    let spent = progress.start.elapsed().as_secs_f64();
    eprintln!("{spent:.0} s; the FMA limit rose by {s:.1}% (f32) and {d:.1}% (f64) after the first look");
    let write = |path: &Path, text: String| -> Result<(), String> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        }
        std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
    };
    if let Some(path) = &o.csv {
        write(path, race.csv())?;
    }
    if let Some(path) = &o.markdown {
        write(path, race.markdown())?;
    }
    if let Some(dir) = &o.svg {
        for (name, svg) in race.plots() {
            write(&dir.join(name), svg)?;
        }
    }
    if race.ours_in_doubt() {
        return Err("our own results differ from those of the others".into());
    }
    Ok(())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.split_first() {
        Some((first, rest)) if first == "--worker" => worker::main(rest),
        Some((first, rest)) if first == "comm" => comm::run(rest),
        Some((first, rest)) if first == "--comm-rank" => comm::rank(rest),
        Some((first, rest)) if first == "--conv" => conv::run(rest),
        Some((first, rest)) if first == "--conv-worker" => conv::worker(rest),
        _ => run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("corten-bench: {e}");
            ExitCode::FAILURE
        }
    }
}
