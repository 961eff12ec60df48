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

/// All answers to one case. The first library is ours.
pub struct Row {
    pub case: Case,
    /// The best answer of each library.
    best: Vec<Option<Answer>>,
    gave_up: Vec<bool>,
    /// GFLOPS of our own gemm of the same size.
    gemm: Option<f64>,
    /// GB/s that the machine can read at most at this footprint (levels 1 and 2; level 3 is held to `Race::fma`).
    pub limit: Option<f64>,
}

impl Row {
    pub fn new(case: Case, libs: usize) -> Row {
        Row { case, best: vec![None; libs], gave_up: vec![false; libs], gemm: None, limit: None }
    }

    pub fn add(&mut self, lib: usize, answer: Answer) {
        if self.best[lib].is_none_or(|b| answer.seconds < b.seconds) {
            self.best[lib] = Some(answer);
        }
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
fn processor() -> String {
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

    fn machine(&self) -> String {
        let [s, d] = self.fma.map(|f| fixed(f, 1));
        let threads = if self.threads == 1 { "1 thread".into() } else { format!("{} threads", self.threads) };
        let rounds = self.rounds;
        format!(
            "{}, {threads}, best of {rounds} interleaved rounds; {} FMA limit: f32 {s}, f64 {d} GFLOPS",
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
        t.push_str("\n| case |");
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
        t.push_str("\n| routine | cases | mean ours/best | least | ahead |\n|---|---:|---:|---:|---:|\n");
        for (name, cases, mean, least, ahead) in self.means() {
            let _ = writeln!(t, "| {name} | {cases} | {mean:.3} | {least:.3} | {ahead} |");
        }
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
                format!("{}-t{}.svg", name.replace(' ', "-").to_lowercase(), self.threads),
                self.curves(name, rows),
            ));
        }
        if self.rows.iter().any(|r| r.ratio().is_some()) {
            files.push((format!("ratio-t{}.svg", self.threads), self.bars()));
        }
        files
    }

    /// Speed over size, one line a library.
    fn curves(&self, name: &str, rows: &[&Row]) -> String {
        let (w, h, left, top, right, bottom) = (720.0, 420.0, 60.0, 40.0, 130.0, 45.0);
        let size = |r: &Row| r.case.size().unwrap_or(1) as f64;
        let (first, last) = (size(rows[0]).ln(), size(rows[rows.len() - 1]).ln());
        let top_rate = rows.iter().flat_map(|r| (0..self.libs.len()).filter_map(|i| r.rate(i))).fold(0.0, f64::max);
        // The FMA limit belongs into the picture where it is the limit.
        let limit =
            (rows[0].case.op.level == 3).then_some(self.fma[usize::from(rows[0].case.prec.is_double())]).flatten();
        let high = step_up(top_rate.max(limit.unwrap_or(0.0)).max(1e-6));
        let x = |v: f64| left + (v.ln() - first) / (last - first).max(1e-9) * (w - left - right);
        let y = |v: f64| h - bottom - v / high * (h - top - bottom);
        let title = format!(
            "{name}, {} over size, {} thread{}",
            rows[0].unit(),
            self.threads,
            if self.threads == 1 { "" } else { "s" }
        );
        let mut t = svg_open(w, h, &title);
        for i in 0..=5 {
            let v = high * i as f64 / 5.0;
            let (y, label) = (y(v), trim(v));
            let _ = writeln!(t, "<path d=\"M{left} {y:.1}H{:.1}\" stroke=\"#ddd\"/>", w - right);
            let _ =
                writeln!(t, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", left - 6.0, y + 4.0);
        }
        // Sizes that would overlap the label before them stay unlabelled.
        let mut free = f64::NEG_INFINITY;
        for row in rows {
            let (x, label) = (x(size(row)), row.case.size().unwrap_or(1).to_string());
            let _ = writeln!(t, "<path d=\"M{x:.1} {:.1}v4\" stroke=\"#888\"/>", h - bottom);
            if x - free > 4.0 * label.len() as f64 + 4.0 {
                let _ = writeln!(
                    t,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                    h - bottom + 18.0
                );
                free = x + 4.0 * label.len() as f64;
            }
        }
        let mut labels: Vec<(f64, String, &str)> = Vec::new();
        if let Some(limit) = limit {
            let y = y(limit);
            let _ =
                writeln!(t, "<path d=\"M{left} {y:.1}H{:.1}\" stroke=\"#555\" stroke-dasharray=\"5 4\"/>", w - right);
            labels.push((y, "FMA limit".into(), "#555"));
        }
        for (i, (lib, _)) in self.libs.iter().enumerate() {
            let points: Vec<(f64, f64)> = rows.iter().filter_map(|r| Some((x(size(r)), y(r.rate(i)?)))).collect();
            let Some(end) = points.last() else { continue };
            let color = COLORS[i % COLORS.len()];
            let list: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let width = if i == 0 { 3 } else { 2 };
            let list = list.join(" ");
            let _ =
                writeln!(t, "<polyline points=\"{list}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>");
            for (x, y) in &points {
                let _ = writeln!(t, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{width}\" fill=\"{color}\"/>");
            }
            labels.push((end.1, escape(lib), color));
        }
        // Names stand at the ends of their lines, moved down where they would overlap.
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free = f64::NEG_INFINITY;
        for (y, name, color) in labels {
            let y = y.max(free);
            free = y + 14.0;
            let _ =
                writeln!(t, "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{color}\">{name}</text>", w - right + 8.0, y + 4.0);
        }
        t.push_str("</svg>\n");
        t
    }

    /// Our speed over the best peer's, a bar a case; right of the line we are ahead.
    fn bars(&self) -> String {
        let rows: Vec<(&Row, f64)> = self.rows.iter().filter_map(|r| Some((r, r.ratio()?))).collect();
        let (w, left, right, top, pitch) = (760.0, 250.0, 60.0, 50.0, 16.0);
        let h = top + pitch * rows.len() as f64 + 20.0;
        // Beyond twice as fast the bar is cut; its figure is not.
        let most = rows.iter().map(|r| r.1).fold(1.2, f64::max).min(2.0);
        let scale = (w - left - right) / most;
        let threads = format!("{} thread{}", self.threads, if self.threads == 1 { "" } else { "s" });
        let mut t = svg_open(w, h, &format!("ours over the best peer, {threads}"));
        for (i, (row, ratio)) in rows.iter().enumerate() {
            let y = top + pitch * i as f64;
            let color = if *ratio >= 1.0 { COLORS[0] } else { "#bbb" };
            let length = ratio.min(most) * scale;
            let _ = writeln!(
                t,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                y + 11.0,
                escape(&row.case.to_string())
            );
            let _ = writeln!(
                t,
                "<rect x=\"{left}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"{:.1}\" fill=\"{color}\"/>",
                y + 2.0,
                pitch - 4.0
            );
            let _ = writeln!(t, "<text x=\"{:.1}\" y=\"{:.1}\">{ratio:.2}</text>", w - right + 8.0, y + 11.0);
        }
        let _ = writeln!(t, "<path d=\"M{:.1} {}V{:.1}\" stroke=\"#000\"/>", left + scale, top - 6.0, h - 14.0);
        t.push_str("</svg>\n");
        t
    }
}

/// Ours first; distinct for people who do not see red and green apart.
const COLORS: [&str; 8] = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#000000"];

fn svg_open(w: f64, h: f64, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"12\" y=\"22\" font-size=\"15\">{}</text>\n",
        escape(title)
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The next round number: 1, 2 or 5 times a power of ten, in steps fine enough to fill the picture.
fn step_up(v: f64) -> f64 {
    let power = 10f64.powf(v.log10().floor());
    [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= v).unwrap_or(v)
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
        Race { libs, threads: 1, rounds: 1, fma: [None, Some(100.0)], rows }
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
        assert_eq!(step_up(32.9), 40.0);
        assert_eq!(trim(2.50), "2.5");
    }
}
