//! One rank of the tests of the collectives: `comm_rank mode [arguments]`, started by `corten-run` or an MPI launcher.
//! Ends with 0 if everything was as it should be; a panic says what was not.

mod blocking;
mod life;
mod named;

use blocking::*;
use corten_tests::comm::reference::{reduce, value, vector};
use corten_tests::comm::{self, *};
use life::*;
use named::*;
use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mode = arguments.first().map_or("suite", String::as_str);
    let number = |i: usize, default: usize| arguments.get(i).map_or(default, |a| a.parse().unwrap());
    match mode {
        "suite" => within(suite),
        "named" => within(named),
        "mismatch" => within(mismatch),
        "sets" => within(sets),
        "big" => within(|w| big(w, number(1, 100 << 20))),
        "soak" => within(|w| soak(w, number(1, 1000))),
        "cycles" => cycles(number(1, 500)),
        "fork" => within(fork),
        "alone" => alone(),
        "fault" => fault(&arguments[1..]),
        "late" => late(),
        "lonely" => within(lonely),
        "timeouts" => timeouts(start(), number(1, 1) == 1),
        "crossed" => crossed(start(), number(1, 0) == 1),
        "apart" => apart(start(), number(1, 0) == 1),
        "back-off" => within(backing_off),
        "waits" => within(waits),
        "ready" => ready(start()),
        "stall" => within(stall),
        "limits" => within(limits),
        "unnamed" => within(unnamed),
        "huge" => within(huge),
        "no-socket" => no_socket(number(1, 99)),
        "exit" => std::process::exit(number(1, 3) as i32),
        "sleep" => std::thread::sleep(Duration::from_secs(600)),
        "print" => println!("line one of {}\nline two", std::env::var("CORTEN_RANK").unwrap()),
        _ => panic!("unknown mode {mode}"),
    }
}

/// Where we are.
#[derive(Clone, Copy)]
struct World {
    me: usize,
    p: usize,
}

fn start() -> World {
    // SAFETY: no arguments.
    unsafe {
        ok(comm::init(), "init");
        assert_eq!(comm::is_initialized(), 1);
        if let Ok(machines) = std::env::var("CORTEN_TEST_MACHINES") {
            assert_eq!(comm::cross_size().to_string(), machines, "machines");
        }
        World { me: comm::rank() as usize, p: comm::size() as usize }
    }
}

fn within(f: impl FnOnce(World)) {
    f(start());
    // SAFETY: no arguments.
    unsafe {
        ok(comm::shutdown(), "shutdown");
        assert_eq!(comm::is_initialized(), 0);
    }
}

/// The machine of a rank: several are made by `CORTEN_SPLIT_NODES`, which cuts the ranks into even parts.
fn machine_of(r: usize, p: usize) -> usize {
    // SAFETY: no arguments.
    r * unsafe { comm::cross_size() } as usize / p
}

fn expected(kind: c_int, op: c_int, pre: f64, post: f64, seed: u64, p: usize, n: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(n * width(kind));
    let mut values = vec![0.0; p];
    let nodes: Vec<usize> = (0..p).map(|r| machine_of(r, p)).collect();
    for i in 0..n {
        for (r, v) in values.iter_mut().enumerate() {
            *v = value(kind, seed, r, i);
        }
        out.extend(reduce(kind, op, pre, post, &values, &nodes));
    }
    out
}

#[track_caller]
fn same(got: &[u8], want: &[u8], kind: c_int, what: &str) {
    if got == want {
        return;
    }
    let w = width(kind);
    let i = got.chunks(w).zip(want.chunks(w)).position(|(a, b)| a != b);
    let i = i.unwrap_or(0);
    panic!("{what}: element {i} of {} is {:?}, not {:?}", want.len() / w, &got[i * w..][..w], &want[i * w..][..w]);
}

fn allreduce_of(src: &[u8], dst: &mut [u8], kind: c_int, op: c_int, pre: f64, post: f64, set: c_int) -> c_int {
    let n = src.len() / width(kind);
    assert!(dst.len() >= src.len());
    // SAFETY: n elements on both sides.
    unsafe { comm::allreduce(src.as_ptr().cast(), dst.as_mut_ptr().cast(), n, kind, op, pre, post, set) }
}
