//! What a race says: the table, the means, CSV, Markdown and SVG. No measuring here.

use crate::case::Case;
use crate::limit::isa_name;
use std::fmt::Write;

/// One answer of a worker: the time of a call, the checksum of its result.
#[derive(Clone, Copy)]
pub struct Answer {
    pub seconds: f64,
    pub sum: f64,
    pub magnitude: f64,
}

/// Seconds of a call from which on a hopeless library is not asked again.
const LONG_CALL: f64 = 0.05;

/// A best time is news if it is shorter than the one before by this factor.
const NEWS: f64 = 0.99;

/// All answers to one case. The first library is ours.
pub struct Row {
    pub case: Case,
    /// The best answer of each library.
    best: Vec<Option<Answer>>,
    gave_up: Vec<bool>,
    /// Whether a library's best changed in this round.
    news: bool,
    /// GFLOPS of our own gemm of the same size.
    gemm: Option<f64>,
    /// GB/s that the machine can read at most at this footprint (levels 1 and 2; level 3 is held to `Race::fma`).
    pub limit: Option<f64>,
}

impl Row {
    pub fn new(case: Case, libs: usize) -> Row {
        Row { case, best: vec![None; libs], gave_up: vec![false; libs], news: false, gemm: None, limit: None }
    }

    pub fn add(&mut self, lib: usize, answer: Answer) {
        if self.best[lib].is_none_or(|b| answer.seconds < b.seconds) {
            self.news |= self.best[lib].is_none_or(|b| answer.seconds < NEWS * b.seconds);
            self.best[lib] = Some(answer);
        }
    }

    pub fn next_round(&mut self) {
        self.news = false;
    }

    /// Whether some library was faster in the last round than in all before.
    pub fn improved(&self) -> bool {
        self.news
    }

    pub fn add_gemm(&mut self, gemm: &Case, seconds: f64) {
        let rate = gemm.flops() / seconds * 1e-9;
        self.gemm = Some(self.gemm.map_or(rate, |g| g.max(rate)));
    }

    pub fn gave_up(&mut self, lib: usize) {
        self.gave_up[lib] = true;
    }

    /// Whether asking again would cost much and can no longer change who is first. Short calls are always asked
    /// again: one that looks slow may have been disturbed. Ours is always asked.
    pub fn hopeless(&self, lib: usize, factor: f64) -> bool {
        let fastest = self.best.iter().flatten().map(|b| b.seconds).fold(f64::INFINITY, f64::min);
        self.gave_up[lib]
            || lib > 0 && self.best[lib].is_some_and(|b| b.seconds > LONG_CALL && b.seconds > factor * fastest)
    }

    /// GFLOPS; of routines that only move data, GB/s.
    fn rate(&self, lib: usize) -> Option<f64> {
        let work = if self.moves_only() { self.case.bytes() } else { self.case.flops() };
        self.best[lib].map(|b| work / b.seconds * 1e-9)
    }

    fn moves_only(&self) -> bool {
        self.case.flops() == 0.0
    }

    fn unit(&self) -> &'static str {
        if self.moves_only() { "GB/s" } else { "GFLOPS" }
    }

    /// Our speed over that of the best peer. A wrong result wins nothing: neither a peer's nor ours.
    fn ratio(&self) -> Option<f64> {
        let ours = self.best[0].filter(|_| !self.disagrees(0))?.seconds;
        let peers = (1..self.best.len()).filter(|i| !self.disagrees(*i));
        let peer = peers.filter_map(|i| self.best[i]).map(|b| b.seconds).fold(f64::INFINITY, f64::min);
        peer.is_finite().then_some(peer / ours)
    }

    fn to_gemm(&self) -> Option<f64> {
        Some(self.rate(0)? / self.gemm?)
    }

    /// A library disagrees if its result differs from those of most others.
    fn disagrees(&self, lib: usize) -> bool {
        let Some(mine) = self.best[lib] else { return false };
        let returned = self.case.op.level == 1;
        let tolerance = match (self.case.prec.is_double(), returned) {
            (true, false) => 1e-11,
            (true, true) => 1e-9,
            (false, false) => 1e-5,
            (false, true) => 2e-3,
        };
        let others: Vec<&Answer> =
            self.best.iter().enumerate().filter(|(i, _)| *i != lib).filter_map(|(_, b)| b.as_ref()).collect();
        // Written so that a sum that is not a number differs from everything.
        let equal = |o: &Answer| (o.sum - mine.sum).abs() <= tolerance * o.magnitude.max(mine.magnitude);
        let differ = others.iter().filter(|o| !equal(o)).count();
        2 * differ > others.len()
    }
}

pub struct Race {
    /// Name, and what the library says of itself.
    pub libs: Vec<(String, String)>,
    pub threads: usize,
    /// Application threads that called at once.
    pub callers: usize,
    pub rounds: usize,
    /// Measured FMA limit, f32 and f64.
    pub fma: [Option<f64>; 2],
    pub rows: Vec<Row>,
}

const CASE_WIDTH: usize = 32;

fn fixed(v: Option<f64>, digits: usize) -> String {
    v.map_or("-".into(), |v| format!("{v:.digits$}"))
}

fn percent(v: Option<f64>) -> String {
    v.map_or("-".into(), |v| format!("{:.0}%", 100.0 * v))
}

/// Three significant digits, in the units that people compare.
fn speed(v: Option<f64>) -> String {
    fixed(
        v,
        v.map_or(0, |v| {
            if v < 1.0 {
                3
            } else if v < 100.0 {
                2
            } else {
                1
            }
        }),
    )
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// The processor, as the kernel names it.
pub fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':').map(|(_, v)| v.trim().to_string()));
    model.unwrap_or_else(|| std::env::consts::ARCH.into())
}

impl Race {
    pub fn raise_limit(&mut self, seen: [Option<f64>; 2]) {
        for (limit, seen) in self.fma.iter_mut().zip(seen) {
            *limit = limit.zip(seen).map(|(a, b)| a.max(b));
        }
    }

    /// Our share of what the machine can do at most.
    fn share(&self, row: &Row) -> Option<f64> {
        let (work, limit) = match row.case.op.level {
            3 => (row.case.flops(), self.fma[usize::from(row.case.prec.is_double())]),
            _ => (row.case.bytes(), row.limit),
        };
        Some(work / row.best[0]?.seconds * 1e-9 / limit?)
    }

    /// `2 threads`, `2 threads, 8 callers`.
    fn setting(&self) -> String {
        let threads = if self.threads == 1 { "1 thread".into() } else { format!("{} threads", self.threads) };
        if self.callers == 1 { threads } else { format!("{threads}, {} callers at once", self.callers) }
    }

    /// What file names of this race end in.
    fn mark(&self) -> String {
        let callers = if self.callers == 1 { String::new() } else { format!("-c{}", self.callers) };
        format!("t{}{callers}", self.threads)
    }

    fn machine(&self) -> String {
        let [s, d] = self.fma.map(|f| fixed(f, 1));
        let (setting, rounds) = (self.setting(), self.rounds);
        format!(
            "{}, {setting}, best of {rounds} or more interleaved rounds; {} FMA limit: f32 {s}, f64 {d} GFLOPS",
            processor(),
            isa_name()
        )
    }

    /// What is printed before the first case.
    pub fn head(&self) -> String {
        let mut t = format!("{}\n", self.machine());
        for (name, id) in &self.libs {
            let _ = writeln!(t, "  {name:14} {id}");
        }
        let _ = writeln!(
            t,
            "GFLOPS (copy, swap: GB/s); ours/best: > 1 is ours ahead; /gemm: speed over our gemm of that size;"
        );
        let _ = writeln!(
            t,
            "limit: our share of the FMA limit (level 3) or of the read bandwidth at that footprint (levels 1, 2);"
        );
        let _ = writeln!(t, "!: a result that differs from those of the others");
        let _ = write!(t, "{:CASE_WIDTH$}", "case");
        for (name, _) in &self.libs {
            let _ = write!(t, " {:>11}", name.chars().take(11).collect::<String>());
        }
        t.push_str("  ours/best  /gemm  limit\n");
        t
    }

    pub fn line(&self, row: &Row) -> String {
        let mut t = format!("{:CASE_WIDTH$}", row.case);
        for i in 0..self.libs.len() {
            let mark = if row.disagrees(i) { "!" } else { "" };
            let _ = write!(t, " {:>11}", format!("{mark}{}", speed(row.rate(i))));
        }
        let _ =
            write!(t, " {:>10} {:>6} {:>6}", fixed(row.ratio(), 3), fixed(row.to_gemm(), 2), percent(self.share(row)));
        t
    }

    /// Routine, cases, geometric mean of the ratio, least ratio, cases in which we are not behind.
    fn means(&self) -> Vec<(String, usize, f64, f64, usize)> {
        let mut groups: Vec<(String, Vec<f64>)> = Vec::new();
        for row in &self.rows {
            let Some(ratio) = row.ratio() else { continue };
            let level = format!("level {}", row.case.op.level);
            for name in [row.case.routine(), level, "all".into()] {
                match groups.iter_mut().find(|g| g.0 == name) {
                    Some(g) => g.1.push(ratio),
                    None => groups.push((name, vec![ratio])),
                }
            }
        }
        // Routines in the order of the race, then the levels, then all.
        groups.sort_by_key(|(name, _)| (name == "all", name.starts_with("level")));
        let count = |v: &[f64]| v.iter().filter(|r| **r >= 1.0).count();
        let least = |v: &[f64]| v.iter().copied().fold(f64::INFINITY, f64::min);
        groups.into_iter().map(|(name, v)| (name, v.len(), geometric_mean(&v), least(&v), count(&v))).collect()
    }

    /// What is printed after the last case.
    pub fn tail(&self) -> String {
        let means = self.means();
        if means.is_empty() {
            return String::new();
        }
        let mut t =
            String::from("\nours over the best peer, geometric mean\nroutine       cases    mean   least   ahead\n");
        for (name, cases, mean, least, ahead) in means {
            let _ = writeln!(t, "{name:12} {cases:>6} {mean:>7.3} {least:>7.3} {ahead:>7}");
        }
        let wrong: Vec<String> = self.disagreements();
        if !wrong.is_empty() {
            let _ = writeln!(t, "results that differ from those of the others: {}", wrong.join("; "));
        }
        t
    }

    /// Whether our own result was in doubt anywhere.
    pub fn ours_in_doubt(&self) -> bool {
        self.rows.iter().any(|r| r.disagrees(0))
    }

    fn disagreements(&self) -> Vec<String> {
        let name = |i: usize| self.libs[i].0.as_str();
        self.rows
            .iter()
            .flat_map(|r| {
                (0..self.libs.len()).filter(|i| r.disagrees(*i)).map(move |i| format!("{} {}", name(i), r.case))
            })
            .collect()
    }

    pub fn csv(&self) -> String {
        let mut t = String::from(
            "case,routine,library,threads,seconds,gflops,gb_per_s,ours_over_best,ours_over_gemm,share_of_limit,disagrees\n",
        );
        let number = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.6}"));
        for row in &self.rows {
            for (i, (name, _)) in self.libs.iter().enumerate() {
                let Some(best) = row.best[i] else { continue };
                let (flops, bytes) = (row.case.flops() / best.seconds * 1e-9, row.case.bytes() / best.seconds * 1e-9);
                let ours = |v: Option<f64>| if i == 0 { number(v) } else { String::new() };
                let _ = writeln!(
                    t,
                    "{},{},{name},{},{:e},{flops:.6},{bytes:.6},{},{},{},{}",
                    row.case,
                    row.case.routine(),
                    self.threads,
                    best.seconds,
                    ours(row.ratio()),
                    ours(row.to_gemm()),
                    ours(self.share(row)),
                    u8::from(row.disagrees(i)),
                );
            }
        }
        t
    }

    pub fn markdown(&self) -> String {
        let mut t = format!("{}\n\n", self.machine());
        for (name, id) in &self.libs {
            let _ = writeln!(t, "- {name}: {}", if id.is_empty() { "says no version" } else { id });
        }
        t.push_str("\n| routine | cases | mean ours/best | least | ahead |\n|---|---:|---:|---:|---:|\n");
        for (name, cases, mean, least, ahead) in self.means() {
            let _ = writeln!(t, "| {name} | {cases} | {mean:.3} | {least:.3} | {ahead} |");
        }
        t.push_str("\n<details><summary>All cases</summary>\n\n| case |");
        self.libs.iter().for_each(|(name, _)| {
            let _ = write!(t, " {name} |");
        });
        t.push_str(" unit | ours/best | ours/gemm | of limit |\n|---|");
        t.push_str(&"---:|".repeat(self.libs.len()));
        t.push_str("---|---:|---:|---:|\n");
        for row in &self.rows {
            let _ = write!(t, "| `{}` |", row.case);
            for i in 0..self.libs.len() {
                let _ = write!(t, " {}{} |", if row.disagrees(i) { "!" } else { "" }, speed(row.rate(i)));
            }
            let (ratio, gemm, share) = (fixed(row.ratio(), 3), fixed(row.to_gemm(), 2), percent(self.share(row)));
            let _ = writeln!(t, " {} | {ratio} | {gemm} | {share} |", row.unit());
        }
        t.push_str("\n</details>\n");
        t
    }

    /// File names and contents: speed over size for every routine with three sizes or more, and the ratios.
    pub fn plots(&self) -> Vec<(String, String)> {
        let mut families: Vec<(String, Vec<&Row>)> = Vec::new();
        for row in self.rows.iter().filter(|r| r.case.size().is_some()) {
            match families.iter_mut().find(|f| f.0 == row.case.family()) {
                Some(f) => f.1.push(row),
                None => families.push((row.case.family(), vec![row])),
            }
        }
        let mut files = Vec::new();
        for (name, rows) in families.iter_mut().filter(|f| f.1.len() > 2) {
            rows.sort_by_key(|r| r.case.size());
            files.push((
                format!("{}-{}.svg", name.replace(' ', "-").to_lowercase(), self.mark()),
                self.curves(name, rows),
            ));
        }
        if self.rows.iter().any(|r| r.ratio().is_some()) {
            files.push((format!("ratio-{}.svg", self.mark()), self.bars()));
        }
        files
    }

    /// Speed over size, one line a library, with the machine's limit where one was measured.
    fn curves(&self, name: &str, rows: &[&Row]) -> String {
        let size = |r: &Row| r.case.size().unwrap_or(1) as f64;
        let ceiling: Vec<(f64, f64)> = rows.iter().filter_map(|r| Some((size(r), self.limit_in_unit(r)?))).collect();
        let lines = self
            .libs
            .iter()
            .enumerate()
            .map(|(i, (lib, _))| (lib.clone(), rows.iter().filter_map(|r| Some((size(r), r.rate(i)?))).collect()));
        Chart {
            title: format!("{name}: speed over size"),
            subtitle: format!(
                "{}, {}, best of {} or more interleaved rounds",
                processor(),
                self.setting(),
                self.rounds
            ),
            across: match rows[0].case.op.dims {
                [_] if rows[0].case.op.level == 1 => "length n of the vectors (logarithmic)",
                _ => "order n of the square operands (logarithmic)",
            },
            up: rows[0].unit(),
            sizes: rows.iter().map(|r| (size(r), r.case.size().unwrap_or(1).to_string())).collect(),
            lines: lines.collect(),
            ceiling: (if rows[0].case.op.level == 3 { "FMA limit" } else { "read limit" }, ceiling),
        }
        .svg()
    }

    /// The machine's limit in the unit that the row is plotted in.
    fn limit_in_unit(&self, row: &Row) -> Option<f64> {
        if row.case.op.level == 3 {
            return self.fma[usize::from(row.case.prec.is_double())];
        }
        let bandwidth = row.limit?;
        Some(if row.moves_only() { bandwidth } else { bandwidth * row.case.flops() / row.case.bytes() })
    }

    /// Our speed over the best peer's: a bar a case, or a routine where there are many; right of the line we are ahead.
    fn bars(&self) -> String {
        let cases: Vec<(String, f64, f64, f64)> =
            self.rows.iter().filter_map(|r| Some((r.case.to_string(), r.ratio()?, 0.0, 0.0))).collect();
        let many = cases.len() > MOST_BARS;
        let bars = if many { self.spans() } else { cases };
        let (w, left, right, top, pitch) = (780.0, 250.0, 70.0, 92.0, 18.0);
        let h = top + pitch * bars.len() as f64 + 46.0;
        // A logarithmic axis: twice as fast and half as fast are equally far from the line.
        let (low, high) = (0.5f64, 2.0f64);
        let x = |v: f64| left + (v.clamp(low, high) / low).ln() / (high / low).ln() * (w - left - right);
        let setting = self.setting();
        let mut t = svg_open(
            w,
            h,
            &format!("Speed over that of the best peer, {setting}"),
            &format!(
                "{}, best of {} or more interleaved rounds; {}",
                processor(),
                self.rounds,
                if many { "geometric mean of each routine, thin line: least to most" } else { "one bar a case" }
            ),
        );
        let bottom = h - 40.0;
        for v in [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0] {
            let (x, strong) = (x(v), v == 1.0);
            let color = if strong { "#333" } else { "#e4e4e4" };
            let _ = writeln!(t, "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" stroke=\"{color}\"/>", top - 8.0);
            for y in [top - 14.0, bottom + 16.0] {
                let _ = writeln!(t, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>", trim(v));
            }
        }
        let middle = x(1.0);
        for (x, anchor, text) in [(middle - 8.0, "end", "\u{2190} behind"), (middle + 8.0, "start", "ahead \u{2192}")] {
            let _ = writeln!(
                t,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"#666\">{text}</text>",
                bottom + 32.0
            );
        }
        for (i, (name, ratio, least, most)) in bars.iter().enumerate() {
            let y = top + pitch * i as f64;
            let color = if *ratio >= 1.0 { COLORS[0] } else { "#8a8a8a" };
            let (from, to) = (x(ratio.min(1.0)), x(ratio.max(1.0)));
            let _ = writeln!(
                t,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 10.0,
                y + 12.5,
                escape(name)
            );
            let _ = writeln!(
                t,
                "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\"/>",
                y + 3.0,
                (to - from).max(1.0),
                pitch - 6.0
            );
            if many {
                let (a, b, y) = (x(*least), x(*most), y + pitch / 2.0);
                let _ = writeln!(t, "<path d=\"M{a:.1} {y:.1}H{b:.1}\" stroke=\"#333\" stroke-width=\"1\"/>");
            }
            let _ = writeln!(t, "<text x=\"{:.1}\" y=\"{:.1}\">{ratio:.2}</text>", w - right + 12.0, y + 12.5);
        }
        t.push_str("</svg>\n");
        t
    }

    /// Routine, geometric mean, least and most of the ratio.
    fn spans(&self) -> Vec<(String, f64, f64, f64)> {
        let most = |name: &str| {
            let of = self.rows.iter().filter(|r| r.case.routine() == name).filter_map(Row::ratio);
            of.fold(0.0, f64::max)
        };
        let routines = self.means().into_iter().filter(|m| m.0 != "all" && !m.0.starts_with("level"));
        routines
            .map(|(name, _, mean, least, _)| {
                let most = most(&name);
                (name, mean, least, most)
            })
            .collect()
    }
}

/// Values over sizes, one line a library, ours first, with a dashed line for a limit.
pub struct Chart<'a> {
    pub title: String,
    pub subtitle: String,
    /// What the sizes are, and the unit of the values.
    pub across: &'a str,
    pub up: &'a str,
    /// The sizes from small to large, with what is written at them.
    pub sizes: Vec<(f64, String)>,
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
    pub ceiling: (&'a str, Vec<(f64, f64)>),
}

impl Chart<'_> {
    pub fn svg(&self) -> String {
        let (w, h, left, top, right, bottom) = (780.0, 470.0, 72.0, 66.0, 150.0, 62.0);
        let (first, last) = (self.sizes[0].0.ln(), self.sizes[self.sizes.len() - 1].0.ln());
        let all = self.lines.iter().map(|l| &l.1).chain([&self.ceiling.1]);
        let most = all.flatten().map(|point| point.1).fold(1e-6, f64::max);
        let step = tick(most / 6.0);
        let high = (most / step).ceil() * step;
        let x = |v: f64| left + (v.ln() - first) / (last - first).max(1e-9) * (w - left - right);
        let y = |v: f64| h - bottom - v / high * (h - top - bottom);
        let mut t = svg_open(w, h, &self.title, &self.subtitle);
        for i in 0..=(high / step).round() as usize {
            let v = step * i as f64;
            let (y, label) = (y(v), trim(v));
            let _ = writeln!(t, "<path d=\"M{left} {y:.1}H{:.1}\" stroke=\"#e4e4e4\"/>", w - right);
            let _ =
                writeln!(t, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", left - 8.0, y + 4.0);
        }
        // Sizes that would overlap the label before them stay unlabelled.
        let mut free = f64::NEG_INFINITY;
        for (size, label) in &self.sizes {
            let x = x(*size);
            let _ = writeln!(t, "<path d=\"M{x:.1} {:.1}v5\" stroke=\"#888\"/>", h - bottom);
            let half = 3.6 * label.len() as f64;
            if x - half > free + 5.0 {
                let _ = writeln!(
                    t,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                    h - bottom + 19.0
                );
                free = x + half;
            }
        }
        let _ =
            writeln!(t, "<path d=\"M{left} {top}V{:.1}H{:.1}\" fill=\"none\" stroke=\"#888\"/>", h - bottom, w - right);
        let middle = (left + w - right) / 2.0;
        let (what, unit) = (self.across, self.up);
        let _ = writeln!(t, "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{what}</text>", h - 16.0);
        let at = (top + h - bottom) / 2.0;
        let _ = writeln!(
            t,
            "<text x=\"22\" y=\"{at:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 22 {at:.1})\">{unit}</text>"
        );
        let mut labels: Vec<(f64, String, &str, usize)> = Vec::new();
        let line = |points: &[(f64, f64)]| -> String {
            points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
        };
        let place = |points: &[(f64, f64)]| -> Vec<(f64, f64)> { points.iter().map(|p| (x(p.0), y(p.1))).collect() };
        let ceiling = place(&self.ceiling.1);
        if let Some(end) = ceiling.last() {
            let points = line(&ceiling);
            let _ =
                writeln!(t, "<polyline points=\"{points}\" fill=\"none\" stroke=\"#666\" stroke-dasharray=\"6 4\"/>");
            labels.push((end.1, self.ceiling.0.into(), "#666", usize::MAX));
        }
        // Ours is drawn last, on top of the others.
        for (i, (lib, values)) in self.lines.iter().enumerate().rev() {
            let points = place(values);
            let Some(end) = points.last() else { continue };
            let color = COLORS[i % COLORS.len()];
            let width = if i == 0 { 3.0 } else { 1.8 };
            let list = line(&points);
            let _ = writeln!(
                t,
                "<polyline points=\"{list}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"/>"
            );
            for (x, y) in &points {
                t.push_str(&marker(i, *x, *y, color));
            }
            labels.push((end.1, escape(lib), color, i));
        }
        // Names stand at the ends of their lines, moved down where they would overlap, up where they would leave.
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free = top;
        for label in &mut labels {
            label.0 = label.0.max(free);
            free = label.0 + 17.0;
        }
        let mut floor = h - bottom;
        for label in labels.iter_mut().rev() {
            label.0 = label.0.min(floor);
            floor = label.0 - 17.0;
        }
        for (y, name, color, i) in labels {
            let x = w - right + 12.0;
            let dash = if i == usize::MAX { " stroke-dasharray=\"6 4\"" } else { "" };
            let width = if i == 0 { 3.0 } else { 1.8 };
            let _ = writeln!(t, "<path d=\"M{x:.1} {y:.1}h22\" stroke=\"{color}\" stroke-width=\"{width}\"{dash}/>");
            if i != usize::MAX {
                t.push_str(&marker(i, x + 11.0, y, color));
            }
            let weight = if i == 0 { " font-weight=\"bold\"" } else { "" };
            let _ =
                writeln!(t, "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{color}\"{weight}>{name}</text>", x + 28.0, y + 4.0);
        }
        t.push_str("</svg>\n");
        t
    }
}

/// More cases than this are charted by routine.
const MOST_BARS: usize = 60;

/// Ours first; distinct for people who do not see red and green apart.
const COLORS: [&str; 8] = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#000000"];

/// A mark of a library's own: colour is not the only thing that tells lines apart.
fn marker(i: usize, x: f64, y: f64, color: &str) -> String {
    let r = if i == 0 { 4.0 } else { 3.2 };
    match i % 4 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\" fill=\"{color}\"/>\n"),
        1 => {
            let (a, b, side) = (x - r, y - r, 2.0 * r);
            format!("<rect x=\"{a:.1}\" y=\"{b:.1}\" width=\"{side}\" height=\"{side}\" fill=\"{color}\"/>\n")
        }
        2 => {
            let (top, base) = (y - 1.3 * r, y + r);
            let (a, b) = (x - 1.2 * r, x + 1.2 * r);
            format!("<path d=\"M{x:.1} {top:.1}L{b:.1} {base:.1}H{a:.1}Z\" fill=\"{color}\"/>\n")
        }
        _ => {
            let d = 1.35 * r;
            format!("<path d=\"M{:.1} {y:.1}l{d} {d}l{d} -{d}l-{d} -{d}Z\" fill=\"{color}\"/>\n", x - d)
        }
    }
}

fn svg_open(w: f64, h: f64, title: &str, subtitle: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"16\" y=\"26\" font-size=\"17\" font-weight=\"bold\">{}</text>\n\
         <text x=\"16\" y=\"45\" fill=\"#666\">{}</text>\n",
        escape(title),
        escape(subtitle)
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The next distance between ticks that people read easily: 1, 2, 2.5 or 5 times a power of ten.
fn tick(v: f64) -> f64 {
    let power = 10f64.powf(v.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= v).unwrap_or(v)
}

fn trim(v: f64) -> String {
    let text = format!("{v:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(seconds: f64, sum: f64) -> Answer {
        Answer { seconds, sum, magnitude: 10.0 }
    }

    fn race() -> Race {
        let mut rows = Vec::new();
        for (n, ours, peer) in [(10, 1e-6, 2e-6), (20, 2e-6, 1e-6), (40, 1e-6, 1e-6)] {
            let mut row = Row::new(Case::parse(&format!("dgemm NN {n} {n} {n}")).unwrap(), 3);
            row.add(0, answer(ours, 1.0));
            row.add(1, answer(peer, 1.0));
            row.add(2, answer(1e-1, if n == 20 { f64::NAN } else { 1.0 }));
            rows.push(row);
        }
        let libs = ["corten", "a", "b"].map(|n| (n.to_string(), String::new())).to_vec();
        Race { libs, threads: 1, callers: 1, rounds: 1, fma: [None, Some(100.0)], rows }
    }

    #[test]
    fn ratios_and_means() {
        let race = race();
        assert_eq!(race.rows[0].ratio(), Some(2.0));
        let means = race.means();
        assert_eq!(means[0].0, "dgemm");
        assert!((means[0].2 - 1.0).abs() < 1e-12);
        assert_eq!((means[0].1, means[0].3, means[0].4), (3, 0.5, 2));
        assert_eq!(means.len(), 3);
        assert!((race.share(&race.rows[0]).unwrap() - 2000.0 / 1e-6 * 1e-9 / 100.0).abs() < 1e-12);
    }

    #[test]
    fn who_disagrees_and_who_is_hopeless() {
        let race = race();
        assert!(!race.rows[0].disagrees(2));
        assert!(race.rows[1].disagrees(2), "a result that is not a number");
        assert_eq!(race.disagreements(), ["b dgemm NN 20 20 20"]);
        let mut row = Row::new(Case::parse("ddot 10").unwrap(), 3);
        [(0, 1e-6, 1.0), (1, 1e-9, 2.0), (2, 2e-6, 1.0)].into_iter().for_each(|(i, t, sum)| row.add(i, answer(t, sum)));
        assert_eq!(row.ratio(), Some(2.0), "a wrong result is not the best");
        assert!(!race.ours_in_doubt());
        row.next_round();
        row.add(0, answer(0.995e-6, 1.0));
        assert!(!row.improved(), "half a percent is no news");
        row.add(2, answer(1e-6, 1.0));
        assert!(row.improved());
        assert!(race.rows[0].hopeless(2, 8.0) && !race.rows[0].hopeless(1, 8.0) && !race.rows[1].hopeless(0, 1.5));
    }

    #[test]
    fn files() {
        let race = race();
        assert_eq!(race.csv().lines().count(), 1 + 9);
        assert!(race.csv().contains("dgemm NN 10 10 10,dgemm,corten,1,"));
        assert!(race.markdown().contains("| `dgemm NN 20 20 20` |"));
        let names: Vec<String> = race.plots().into_iter().map(|p| p.0).collect();
        assert_eq!(names, ["dgemm-nn-t1.svg", "ratio-t1.svg"]);
        assert_eq!((tick(7.3), tick(0.21)), (10.0, 0.25));
        assert_eq!(trim(2.50), "2.5");
    }
}
