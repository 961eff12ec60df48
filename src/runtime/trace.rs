//! `CORTEN_VERBOSE`: a line on standard error for each traced call. Off, it costs one relaxed load.

use super::env;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

const UNREAD: u32 = u32::MAX;
/// 0 off, 1 a line a call.
static LEVEL: AtomicU32 = AtomicU32::new(UNREAD);

/// The time at which a call begins that is to be traced; `None` if none are.
#[inline(always)]
pub fn start() -> Option<Instant> {
    if LEVEL.load(Ordering::Relaxed) == 0 { None } else { start_if_wanted() }
}

#[cold]
#[inline(never)]
fn start_if_wanted() -> Option<Instant> {
    let level = match LEVEL.load(Ordering::Relaxed) {
        UNREAD => read(),
        level => level,
    };
    (level > 0).then(Instant::now)
}

fn read() -> u32 {
    env::check();
    let level = env::VERBOSE.number().unwrap_or(0).min(1) as u32;
    LEVEL.store(level, Ordering::Relaxed);
    level
}

/// Writes the line of one call that began at `start`.
#[cold]
#[inline(never)]
pub fn report(name: &str, sizes: &[(&str, isize)], flops: f64, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    let mut line = name.to_string();
    for (label, size) in sizes {
        line.push_str(&format!(" {label}={size}"));
    }
    line.push_str(&format!(
        " threads={} isa={} time={:.3}us gflops={:.2}",
        super::num_threads(),
        super::isa_name(),
        seconds * 1e6,
        if seconds > 0.0 { flops / seconds * 1e-9 } else { 0.0 }
    ));
    say(format_args!("{line}"));
}

/// A line on standard error, in one write: the lines of several ranks, which share a terminal, do not mix. A closed or
/// full standard error is no reason to stop the host program.
pub fn say(text: core::fmt::Arguments) {
    say_as("corten", text);
}

/// [`say`] in the name of another program than the host: the launcher.
pub fn say_as(who: &str, text: core::fmt::Arguments) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(format!("{who}: {text}\n").as_bytes());
}
