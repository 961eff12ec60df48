//! `corten-bench comm`: our allreduce next to `MPI_Allreduce` of the MPI that is found, or of two.
//!
//! Each is a job of its own ranks, started in turn, rounds interleaved; the best round counts. A rank's time is the mean
//! over a batch of calls; reported are the mean and the largest over the ranks. *Hot* calls work on the same untouched
//! buffers again and again, which flatters every library whose data then stays in cache; before a *dirty* one the
//! input is written anew, outside the measured time. The limit: an allreduce of p ranks must read and write 2pN bytes;
//! its share of what p ranks copy at the same time is the honest figure for shared memory (busbw, which is made for
//! networks, is given too).
//!
//! Then what training does: the gradients of ResNet-50, ours begun one by one as a backward pass would and fused on the
//! way, MPI's reduced one after the other; alone, and beside a computation of which every rank does the same amount, our
//! gradients begun in its course, MPI's reduced when it is done. What is given is by how much it becomes longer. And
//! sums of 16-bit floats against those of f32.

use crate::report::{Chart, processor};
use crate::sys::{Library, processor_times};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

pub const USAGE: &str = "\
corten-bench comm: our allreduce next to MPI_Allreduce

  --ranks N        (default 2)
  --rounds R       interleaved rounds; the best counts (default 3)
  --sizes LIST     bytes of a rank, as in 4,1024 (default: 4 to 64 MiB), or `none`
  --training no    without gradients and 16-bit floats
  --mpirun PATH    the launcher of the MPI to compare with (default: mpirun of the PATH); `none`: compare with nothing
  --mpi-lib PATH   its library (default: what the dynamic linker finds as libmpi.so.40 or libmpi.so.12)
                   both may be given again for a second MPI; what is faster of them is compared with
  --csv FILE  --markdown FILE  --svg DIR
Our library is CORTEN_LIB or target/release/libcorten.so; corten-run stands next to it.";

const SIZES: [usize; 9] = [4, 256, 1 << 10, 16 << 10, 128 << 10, 1 << 20, 8 << 20, 32 << 20, 64 << 20];

/// The libraries that can take part.
const OURS: [&str; 2] = ["corten", "zero-copy"];
const MPIS: [&str; 2] = ["mpi", "mpi 2"];

/// What one job says about one size and way.
#[derive(Clone, Copy)]
struct Time {
    mean: f64,
    most: f64,
}

/// Elements of which the types are compared.
const ELEMENTS: [usize; 5] = [10_000, 100_000, 300_000, 1_000_000, 10_000_000];
const TYPES: [(&str, c_int); 3] = [("f32", 0), ("bf16", 2), ("f16", 3)];

/// The computation beside which gradients are reduced takes about so long: a tenth of what a step of ResNet-50 on 16 images
/// takes one core.
const COMPUTATION: f64 = 0.5;

/// Sizes of the gradients of ResNet-50 in the order in which a backward pass has them: 161, of 25.6 million elements.
fn gradients() -> Vec<usize> {
    let mut sizes = vec![3 * 64 * 49, 64, 64];
    let mut channels = 64;
    for (blocks, width) in [(3, 64), (4, 128), (6, 256), (3, 512)] {
        for block in 0..blocks {
            let out = 4 * width;
            sizes.extend([channels * width, width, width, 9 * width * width, width, width, width * out, out, out]);
            if block == 0 {
                sizes.extend([channels * out, out, out]);
            }
            channels = out;
        }
    }
    sizes.extend([2048 * 1000, 1000]);
    sizes.reverse();
    sizes
}

fn best(a: Time, b: Time) -> Time {
    if a.mean <= b.mean { a } else { b }
}

/// Runs the race.
pub fn run(args: &[String]) -> Result<(), String> {
    let (mut ranks, mut rounds) = (2usize, 3usize);
    let (mut sizes, mut with_training) = (SIZES.map(|n| n.to_string()).join(","), true);
    let (mut mpirun, mut mpi_lib) = (Vec::<PathBuf>::new(), Vec::<String>::new());
    let (mut csv, mut markdown, mut svg) = (None::<PathBuf>, None::<PathBuf>, None::<PathBuf>);
    let mut args = args.iter();
    while let Some(key) = args.next() {
        if key == "--help" || key == "-h" {
            println!("{USAGE}");
            return Ok(());
        }
        if !USAGE.lines().any(|line| line.split_whitespace().any(|word| word == key)) {
            return Err(format!("unknown argument {key:?}\n{USAGE}"));
        }
        let value = args.next().ok_or_else(|| format!("{key} takes a value"))?;
        let number = || value.parse::<usize>().ok().filter(|n| *n > 0).ok_or_else(|| format!("{key} takes a number"));
        match key.as_str() {
            "--ranks" => ranks = number()?,
            "--rounds" => rounds = number()?,
            "--sizes" => sizes = value.clone(),
            "--training" => with_training = value != "no",
            "--mpirun" => mpirun.push(value.into()),
            "--mpi-lib" => mpi_lib.push(value.clone()),
            "--csv" => csv = Some(value.into()),
            "--markdown" => markdown = Some(value.into()),
            "--svg" => svg = Some(value.into()),
            _ => return Err(format!("unknown argument {key:?}\n{USAGE}")),
        }
    }
    let library = match std::env::var_os("CORTEN_LIB") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/libcorten.so"),
    };
    let library = library.canonicalize().map_err(|e| format!("{}: {e}", library.display()))?;
    let own = library.with_file_name("corten-run");
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let count = ranks.to_string();
    match mpirun.len() {
        0 => mpirun.push("mpirun".into()),
        1 | 2 => {}
        n => return Err(format!("{n} launchers of MPI; two can be raced")),
    }
    let job = |which: &str| -> Result<String, String> {
        let mpi = MPIS.iter().position(|name| *name == which);
        let mut command = match mpi {
            Some(i) => {
                let mut c = Command::new(&mpirun[i]);
                // Asked of Open MPI only through its environment, so that other launchers are not disturbed.
                c.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
                c.env("OMPI_MCA_rmaps_base_oversubscribe", "1")
                    .env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
                c.args(["-n", &count]);
                c
            }
            None => {
                let mut c = Command::new(&own);
                c.args(["-np", &count]);
                c
            }
        };
        let role = if mpi.is_some() { "mpi" } else { which };
        let training = if with_training && which != "zero-copy" { "yes" } else { "no" };
        command.arg(&program).args(["--comm-rank", role, &sizes, training]).env("CORTEN_LIB", &library);
        if let Some(path) = mpi.and_then(|i| mpi_lib.get(i)) {
            command.env("CORTEN_BENCH_MPI", path);
        }
        let out = command.output().map_err(|e| format!("{command:?}: {e}"))?;
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        if out.status.success() && text.contains("copy") {
            return Ok(text);
        }
        Err(format!("{which}: {}", String::from_utf8_lossy(&out.stderr).lines().take(5).collect::<Vec<_>>().join("; ")))
    };
    let mut racers = OURS.to_vec();
    racers.extend(MPIS.iter().zip(&mpirun).filter(|(_, path)| path.as_os_str() != "none").map(|(name, _)| *name));
    let mut times = Times::new();
    // Other figures by library and name, the least of all rounds.
    let mut others: BTreeMap<(&'static str, String), f64> = BTreeMap::new();
    let (mut copy, mut names) = (0f64, BTreeMap::<&str, String>::new());
    for round in 0..rounds {
        for which in racers.clone() {
            let text = match job(which) {
                Ok(text) => text,
                Err(e) if MPIS.contains(&which) && round == 0 => {
                    eprintln!("left out: {e}");
                    racers.retain(|r| *r != which);
                    continue;
                }
                Err(e) => return Err(e),
            };
            for line in text.lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                let number = |i: usize| words.get(i).and_then(|w| w.parse::<f64>().ok()).unwrap_or(f64::NAN);
                match words.first() {
                    Some(&"copy") => copy = copy.max(number(1)),
                    Some(&"other") => {
                        let least = others.entry((which, words[1].to_string())).or_insert(f64::INFINITY);
                        *least = least.min(number(2));
                    }
                    Some(&"name") => {
                        names.insert(which, words[1..].join(" "));
                    }
                    Some(&"time") => {
                        let key = (number(1) as usize, words[2] == "dirty");
                        let time = Time { mean: number(3), most: number(4) };
                        let row = times.entry(key).or_default();
                        row.entry(which).and_modify(|old| *old = best(*old, time)).or_insert(time);
                    }
                    _ => {}
                }
            }
        }
    }
    println!("allreduce of f32 sums, {ranks} ranks; {ranks} ranks copy {:.1} GB/s (read + written)", copy * 1e-9);
    for (which, name) in &names {
        println!("{which}: {name}");
    }
    println!("     bytes  way    library      mean us    max us    algbw    busbw  limit  over mpi");
    let mut table = String::from("ranks,bytes,way,library,mean_us,max_us,algbw_gbs,busbw_gbs,limit_share,over_mpi\n");
    let p = ranks as f64;
    let mut page = format!(
        "{}, {ranks} ranks, allreduce of f32 sums, best of {rounds} interleaved rounds; {ranks} ranks copy {:.1} GB/s \
         (read + written)\n",
        processor(),
        copy * 1e-9
    );
    for (which, name) in &names {
        let _ = writeln!(page, "\n{which}: {name}");
    }
    page.push_str(
        "\n| bytes | buffers | library | mean us | max us | algbw GB/s | busbw GB/s | of copy limit | over mpi |\n",
    );
    page.push_str("|---:|---|---|---:|---:|---:|---:|---:|---:|\n");
    for ((bytes, dirty), row) in &times {
        for (library, t) in row {
            let algbw = *bytes as f64 / t.mean * 1e-9;
            let busbw = algbw * 2.0 * (p - 1.0) / p;
            let share = 2.0 * p * *bytes as f64 / t.mean / copy;
            let mpi = MPIS.iter().filter_map(|name| row.get(name)).map(|mpi| mpi.mean).fold(f64::NAN, f64::min);
            let ratio = mpi / t.mean;
            let way = if *dirty { "dirty" } else { "hot" };
            let (mean, most) = (t.mean * 1e6, t.most * 1e6);
            println!(
                "{bytes:>10}  {way:<5}  {library:<10} {mean:>9.2} {most:>9.2} {algbw:>8.2} {busbw:>8.2} {:>5.0}% {ratio:>8.2}x",
                100.0 * share
            );
            let _ = writeln!(
                page,
                "| {} | {way} | {library} | {mean:.2} | {most:.2} | {algbw:.2} | {busbw:.2} | {:.0}% | {ratio:.2} |",
                label(*bytes),
                100.0 * share
            );
            let _ = writeln!(
                table,
                "{ranks},{bytes},{way},{library},{mean:.3},{most:.3},{algbw:.3},{busbw:.3},{share:.3},{ratio:.3}"
            );
        }
    }
    if with_training {
        let text = training(&others);
        print!("\n{text}");
        let _ = write!(page, "\n{text}");
    }
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    files.extend(csv.map(|path| (path, table)));
    files.extend(markdown.map(|path| (path, page)));
    if let Some(dir) = svg {
        for dirty in [false, true] {
            let way = if dirty { "dirty" } else { "hot" };
            let chart = chart(&times, &racers, dirty, ranks, copy);
            files.push((dir.join(format!("allreduce-{way}-r{ranks}.svg")), chart));
        }
    }
    for (path, text) in files {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        }
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// What was measured of gradients and 16-bit floats, as a page of Markdown.
fn training(others: &BTreeMap<(&'static str, String), f64>) -> String {
    let of = |library: &'static str, what: &str| others.get(&(library, what.to_string())).copied().unwrap_or(f64::NAN);
    let mut text =
        String::from("| 161 gradients of ResNet-50, 102 MB | alone ms | beside 0.5 s of computation: longer |");
    text.push_str(" processor time |\n|---|---:|---:|---:|\n");
    let ways = [
        (OURS[0], "corten, begun one by one, fused"),
        (MPIS[0], "mpi, one after the other"),
        (MPIS[1], "mpi 2, one after the other"),
    ];
    for (library, how) in ways {
        let list = of(library, "list") * 1e3;
        let [longer, busier] = ["longer", "busier"].map(|what| of(library, what) * 100.0);
        if list.is_finite() {
            let _ = writeln!(text, "| {how} | {list:.1} | {longer:.1} % | {busier:.1} % |");
        }
    }
    text.push_str("\n| elements, sums | f32 us | bf16 us | f16 us | bf16 rate over f32 | f16 rate over f32 |\n");
    text.push_str("|---:|---:|---:|---:|---:|---:|\n");
    for n in ELEMENTS {
        let [f, b, h] = TYPES.map(|(name, _)| of("corten", &format!("{name}-{n}")) * 1e6);
        let _ = writeln!(text, "| {n} | {f:.1} | {b:.1} | {h:.1} | {:.2} | {:.2} |", f / b, f / h);
    }
    text
}

/// A number of bytes as people say it.
fn label(bytes: usize) -> String {
    match bytes {
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 => format!("{} KiB", b >> 10),
        b => format!("{b} B"),
    }
}

type Times = BTreeMap<(usize, bool), BTreeMap<&'static str, Time>>;

/// Bandwidth over size; the limit is what copying at the same time allows.
fn chart(times: &Times, racers: &[&'static str], dirty: bool, ranks: usize, copy: f64) -> String {
    let rows: Vec<(usize, &BTreeMap<&'static str, Time>)> =
        times.iter().filter(|(key, _)| key.1 == dirty).map(|(key, row)| (key.0, row)).collect();
    let line = |library: &'static str| {
        let points =
            rows.iter().filter_map(|(bytes, row)| Some((*bytes as f64, *bytes as f64 / row.get(library)?.mean * 1e-9)));
        (library.to_string(), points.collect())
    };
    let limit = copy / (2.0 * ranks as f64) * 1e-9;
    Chart {
        title: format!("allreduce, {ranks} ranks, {} buffers", if dirty { "dirtied" } else { "hot" }),
        subtitle: format!("{}, sums of f32; the limit is a copy of as many bytes", processor()),
        across: "bytes of a rank (logarithmic)",
        up: "algbw, GB/s",
        sizes: rows.iter().map(|(bytes, _)| (*bytes as f64, label(*bytes))).collect(),
        lines: racers.iter().map(|library| line(library)).collect(),
        ceiling: ("copy limit", rows.iter().map(|(bytes, _)| (*bytes as f64, limit)).collect()),
    }
    .svg()
}

type ReduceType = dyn Fn(*const f32, *mut f32, usize, c_int);
type ReduceList = dyn Fn(&mut [Vec<f32>], &dyn Fn());

/// One way to reduce, of either library.
struct Rank {
    me: usize,
    size: usize,
    reduce: Box<dyn Fn(*const f32, *mut f32, usize)>,
    reduce_f64: Box<dyn Fn(*const f64, *mut f64, usize, bool)>,
    /// Elements of a type of [`TYPES`], by its number; ours only.
    reduce_type: Option<Box<ReduceType>>,
    /// A list of tensors, in place, given in their order; `between` is called before each.
    reduce_list: Box<ReduceList>,
    alloc: Box<dyn Fn(usize) -> *mut f32>,
    end: Box<dyn Fn()>,
}

/// The main function of a rank: the library, the sizes, and whether to train.
pub fn rank(args: &[String]) -> Result<(), String> {
    let [which, sizes, training] = args else { return Err("--comm-rank library sizes yes|no".into()) };
    let rank = if which == "mpi" { mpi()? } else { ours(which == "zero-copy")? };
    let sizes: Vec<usize> = sizes.split(',').filter_map(|n| n.parse().ok()).filter(|n| *n >= 4).collect();
    measure(&rank, &sizes);
    if training == "yes" {
        measure_training(&rank);
    }
    (rank.end)();
    Ok(())
}

/// Mean and largest over the ranks.
fn over_ranks(rank: &Rank, seconds: f64) -> Time {
    let (mut sum, mut most) = (0.0, 0.0);
    (rank.reduce_f64)(&seconds, &mut sum, 1, false);
    (rank.reduce_f64)(&seconds, &mut most, 1, true);
    Time { mean: sum / rank.size as f64, most }
}

fn measure(rank: &Rank, sizes: &[usize]) {
    let most = SIZES[SIZES.len() - 1].max(sizes.iter().copied().max().unwrap_or(0));
    let (a, b) = ((rank.alloc)(most), (rank.alloc)(most));
    // SAFETY: both have that many bytes.
    let fill = |bytes: usize, value: f32| unsafe { std::slice::from_raw_parts_mut(a, bytes / 4) }.fill(value);
    fill(most, 1.0);
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(b, most / 4) }.fill(0.0);
    // What all ranks copy at the same time, read and written.
    let mut copy = 0f64;
    for _ in 0..5 {
        over_ranks(rank, 0.0);
        let start = Instant::now();
        // SAFETY: as above; the two do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(a, b, most / 4) };
        let time = over_ranks(rank, start.elapsed().as_secs_f64());
        copy = copy.max(2.0 * most as f64 * rank.size as f64 / time.mean);
    }
    if rank.me == 0 {
        println!("copy {copy}");
    }
    // The system takes a while to spread the ranks over the processors.
    for _ in 0..20_000 {
        (rank.reduce)(a, b, 1);
    }
    for &bytes in sizes {
        for dirty in [false, true] {
            let calls = (20_000_000 / bytes).clamp(4, 2000);
            let mut spent = 0.0;
            for call in 0..calls + calls / 10 + 1 {
                if dirty {
                    fill(bytes, call as f32);
                    over_ranks(rank, 0.0);
                }
                let start = Instant::now();
                (rank.reduce)(a, b, bytes / 4);
                let time = start.elapsed().as_secs_f64();
                if call > calls / 10 {
                    spent += time;
                }
            }
            let time = over_ranks(rank, spent / calls as f64);
            if rank.me == 0 {
                println!("time {bytes} {} {} {}", if dirty { "dirty" } else { "hot" }, time.mean, time.most);
            }
        }
    }
}

/// So many turns of arithmetic in the first-level cache, all of it in one thread.
#[inline(never)]
fn compute(turns: usize) {
    let mut x = [1f32; 256];
    for turn in 0..turns {
        let y = 1.0 / (2.0 + turn as f32);
        for v in &mut x {
            *v = *v * y + 0.5;
        }
        std::hint::black_box(&mut x);
    }
}

/// The largest over the ranks of what `f` takes, the least of some times.
fn least(rank: &Rank, times: usize, mut f: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..times {
        over_ranks(rank, 0.0);
        let start = Instant::now();
        f();
        least = least.min(over_ranks(rank, start.elapsed().as_secs_f64()).most);
    }
    least
}

fn measure_training(rank: &Rank) {
    let say = |what: &str, seconds: f64| {
        if rank.me == 0 {
            println!("other {what} {seconds}");
        }
    };
    let mut list: Vec<Vec<f32>> = gradients().into_iter().map(|n| vec![0f32; n]).collect();
    say("list", least(rank, 10, || (rank.reduce_list)(&mut list, &|| {})));
    // All ranks compute the same amount, cut into as many parts as there are tensors.
    compute(500_000);
    let start = Instant::now();
    compute(2_000_000);
    let (mine, mut all) = (COMPUTATION / list.len() as f64 * 2e6 / start.elapsed().as_secs_f64(), 0.0);
    (rank.reduce_f64)(&mine, &mut all, 1, false);
    let turns = (all / rank.size as f64) as usize;
    let parts = list.len();
    // In turn, so that both see the same machine. Time that passes says what the user sees, on a quiet machine. Processor
    // time says what it costs on any: that of all threads of a rank, less that of the computation itself, in its share.
    let (mut longer, mut busier) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let alone = least(rank, 1, || (0..parts).for_each(|_| compute(turns)));
        let inside = Cell::new(0.0);
        let [_, start] = processor_times();
        let both = least(rank, 1, || {
            (rank.reduce_list)(&mut list, &|| {
                let [start, _] = processor_times();
                compute(turns);
                inside.set(inside.get() + processor_times()[0] - start);
            });
        });
        let [_, end] = processor_times();
        longer.push(both / alone - 1.0);
        busier.push(over_ranks(rank, (end - start) / inside.get() - 1.0).mean);
    }
    for (what, values) in [("longer", &mut longer), ("busier", &mut busier)] {
        values.sort_by(f64::total_cmp);
        say(what, values[values.len() / 2]);
    }
    let Some(reduce) = &rank.reduce_type else { return };
    let most = ELEMENTS[ELEMENTS.len() - 1] * 4;
    let (a, b) = (plain(most), plain(most));
    // SAFETY: both have that many bytes, for which zeros are numbers of every type.
    unsafe {
        a.write_bytes(0, most / 4);
        b.write_bytes(0, most / 4);
    }
    for n in ELEMENTS {
        let calls = (20_000_000 / n).clamp(4, 500);
        // In turn, as above.
        let mut times = [f64::INFINITY; TYPES.len()];
        for _ in 0..5 {
            for ((_, number), time) in TYPES.iter().zip(&mut times) {
                let spent = least(rank, 1, || (0..calls).for_each(|_| reduce(a, b, n, *number)));
                *time = time.min(spent / calls as f64);
            }
        }
        for ((name, _), time) in TYPES.iter().zip(times) {
            say(&format!("{name}-{n}"), time);
        }
    }
}

fn plain(bytes: usize) -> *mut f32 {
    let layout = std::alloc::Layout::from_size_align(bytes, 4096).expect("a size and a power of two");
    // SAFETY: not of size zero.
    unsafe { std::alloc::alloc(layout) }.cast()
}

/// A function of a library.
///
/// # Safety
/// `F` is its type.
unsafe fn function<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    let p = library.symbol(name).ok_or_else(|| format!("no symbol {name}"))?;
    assert_eq!(size_of::<F>(), size_of::<*const c_void>());
    // SAFETY: a function pointer has the size of a pointer; the type is the caller's promise.
    Ok(unsafe { std::mem::transmute_copy(&p) })
}

fn ours(zero_copy: bool) -> Result<Rank, String> {
    type Allreduce = unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, f64, f64, c_int) -> c_int;
    type Begin = unsafe extern "C" fn(
        *const c_char,
        *const c_void,
        *mut c_void,
        usize,
        c_int,
        c_int,
        f64,
        f64,
        c_int,
        *mut i64,
    ) -> c_int;
    let path = std::env::var("CORTEN_LIB").map_err(|_| "CORTEN_LIB is not set")?;
    let library = Library::open(&path)?;
    // SAFETY: the types of corten.h.
    let (init, number, allreduce, alloc, begin, wait) = unsafe {
        (
            function::<unsafe extern "C" fn() -> c_int>(&library, "corten_init")?,
            |name: &str| function::<unsafe extern "C" fn() -> c_int>(&library, name),
            function::<Allreduce>(&library, "corten_allreduce")?,
            function::<unsafe extern "C" fn(usize) -> *mut c_void>(&library, "corten_alloc")?,
            function::<Begin>(&library, "corten_allreduce_async")?,
            function::<unsafe extern "C" fn(i64, f64) -> c_int>(&library, "corten_wait")?,
        )
    };
    let (rank, size, end) = (number("corten_rank")?, number("corten_size")?, number("corten_shutdown")?);
    // SAFETY: no arguments.
    if unsafe { init() } != 0 {
        return Err("corten_init failed".into());
    }
    // SAFETY: no arguments.
    let (me, size) = unsafe { (rank() as usize, size() as usize) };
    let check = |code: c_int| assert_eq!(code, 0, "allreduce failed");
    Ok(Rank {
        me,
        size,
        // SAFETY: the caller's buffers have so many elements.
        reduce: Box::new(move |a, b, n| check(unsafe { allreduce(a.cast(), b.cast(), n, 0, 0, 1.0, 1.0, 0) })),
        reduce_f64: Box::new(move |a, b, n, max| {
            // SAFETY: as above; types and operations as numbered in corten.h.
            check(unsafe { allreduce(a.cast(), b.cast(), n, 1, if max { 3 } else { 0 }, 1.0, 1.0, 0) })
        }),
        reduce_type: Some(Box::new(move |a, b, n, number| {
            // SAFETY: as above.
            check(unsafe { allreduce(a.cast(), b.cast(), n, number, 0, 1.0, 1.0, 0) })
        })),
        reduce_list: Box::new(move |list, between| {
            let mut handles = vec![0i64; list.len()];
            for (i, (tensor, handle)) in list.iter_mut().zip(&mut handles).enumerate() {
                between();
                let name = CString::new(format!("gradient {i}")).expect("no zero byte");
                let (at, n) = (tensor.as_mut_ptr().cast::<c_void>(), tensor.len());
                // SAFETY: the tensors stay where they are until they are waited for below.
                check(unsafe { begin(name.as_ptr(), at, at, n, 0, 0, 1.0, 1.0, 0, handle) });
            }
            for handle in handles {
                // SAFETY: a number.
                check(unsafe { wait(handle, 600.0) });
            }
        }),
        // SAFETY: a size.
        alloc: Box::new(move |bytes| if zero_copy { unsafe { alloc(bytes) }.cast() } else { plain(bytes) }),
        end: Box::new(move || {
            // SAFETY: no arguments.
            unsafe { end() };
        }),
    })
}

fn mpi() -> Result<Rank, String> {
    type Allreduce = unsafe extern "C" fn(*const c_void, *mut c_void, c_int, usize, usize, usize) -> c_int;
    let library = match std::env::var("CORTEN_BENCH_MPI") {
        Ok(path) => Library::open(&path)?,
        Err(_) => Library::open("libmpi.so.40").or_else(|_| Library::open("libmpi.so.12"))?,
    };
    // Handles: addresses of Open MPI's variables, or MPICH's numbers.
    let handle = |name: &str, number: usize| library.symbol(name).map_or(number, |p| p as usize);
    let world = handle("ompi_mpi_comm_world", 0x4400_0000);
    // MPI_IN_PLACE is 1 in Open MPI, -1 in MPICH.
    let in_place = if library.symbol("ompi_mpi_comm_world").is_some() { 1 } else { usize::MAX };
    let (float, double) = (handle("ompi_mpi_float", 0x4c00_040a), handle("ompi_mpi_double", 0x4c00_080b));
    let (sum, max) = (handle("ompi_mpi_op_sum", 0x5800_0003), handle("ompi_mpi_op_max", 0x5800_0001));
    // SAFETY: the types of the MPI standard, handles being words.
    let (init, rank, size, allreduce, end, version) = unsafe {
        (
            function::<unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int>(&library, "MPI_Init")?,
            function::<unsafe extern "C" fn(usize, *mut c_int) -> c_int>(&library, "MPI_Comm_rank")?,
            function::<unsafe extern "C" fn(usize, *mut c_int) -> c_int>(&library, "MPI_Comm_size")?,
            function::<Allreduce>(&library, "MPI_Allreduce")?,
            function::<unsafe extern "C" fn() -> c_int>(&library, "MPI_Finalize")?,
            function::<unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int>(&library, "MPI_Get_library_version")?,
        )
    };
    let (mut me, mut ranks, mut len) = (0, 0, 0);
    let mut text = vec![0u8; 8193];
    // SAFETY: room for the longest version; numbers.
    unsafe {
        init(std::ptr::null_mut(), std::ptr::null_mut());
        rank(world, &mut me);
        size(world, &mut ranks);
        version(text.as_mut_ptr().cast(), &mut len);
    }
    if me == 0 {
        let text = String::from_utf8_lossy(&text[..len.max(0) as usize]).into_owned();
        println!("name {}", text.split(['\n', ',']).next().unwrap_or("").trim_end_matches('\0'));
    }
    Ok(Rank {
        me: me as usize,
        size: ranks as usize,
        reduce: Box::new(move |a, b, n| {
            // SAFETY: the caller's buffers have so many elements.
            unsafe { allreduce(a.cast(), b.cast(), n as c_int, float, sum, world) };
        }),
        reduce_f64: Box::new(move |a, b, n, most| {
            // SAFETY: as above.
            unsafe { allreduce(a.cast(), b.cast(), n as c_int, double, if most { max } else { sum }, world) };
        }),
        reduce_type: None,
        reduce_list: Box::new(move |list, between| {
            list.iter().for_each(|_| between());
            for tensor in list {
                let (at, n) = (tensor.as_mut_ptr().cast(), tensor.len() as c_int);
                // SAFETY: as above; in place.
                unsafe { allreduce(in_place as *const c_void, at, n, float, sum, world) };
            }
        }),
        alloc: Box::new(plain),
        end: Box::new(move || {
            // SAFETY: no arguments.
            unsafe { end() };
        }),
    })
}
