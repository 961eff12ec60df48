//! One rank of the tests of the collectives: `comm_rank mode [arguments]`, started by `corten-run` or an MPI launcher.
//! Ends with 0 if everything was as it should be; a panic says what was not.

use corten_tests::comm::reference::{reduce, value, vector};
use corten_tests::comm::{self, *};
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

fn suite(w: World) {
    let World { me, p } = w;
    let mut seed = 1;
    // SAFETY: no arguments.
    unsafe {
        assert!(comm::local_rank() < comm::local_size() && comm::cross_rank() < comm::cross_size());
        assert_eq!(comm::process_set_size(0), p as c_int);
        assert_eq!(comm::process_set_rank(0), me as c_int);
    }
    for kind in TYPES {
        for op in [SUM, AVERAGE, MIN, MAX, PRODUCT] {
            for (pre, post) in [(1.0, 1.0), (0.5, 3.0)] {
                for n in [0, 1, 2, 3, 13, 33, 100, 1000, 5003, 33_001] {
                    if n > 1000 && (pre != 1.0 || op != SUM && op != AVERAGE) || n > 6000 && op != SUM {
                        continue;
                    }
                    seed += 1;
                    let what = format!("allreduce type {kind} op {op} n {n} pre {pre}");
                    let want = expected(kind, op, pre, post, seed, p, n);
                    let mut mine = vector(kind, seed, me, n);
                    let before = mine.clone();
                    let mut out = vec![0xa5u8; mine.len() + 64];
                    ok(allreduce_of(&mine, &mut out, kind, op, pre, post, 0), &what);
                    same(&out[..want.len()], &want, kind, &what);
                    assert!(out[want.len()..].iter().all(|b| *b == 0xa5), "{what}: wrote behind the end");
                    assert!(mine == before, "{what}: wrote to its input");
                    let at = mine.as_mut_ptr().cast::<c_void>();
                    // SAFETY: in place.
                    ok(unsafe { comm::allreduce(at, at, n, kind, op, pre, post, 0) }, &what);
                    same(&mine, &want, kind, &format!("{what}, in place"));
                }
            }
        }
    }
    // Lengths around the limits between the algorithms.
    for n in
        [5, 16, 17, 20, 21, 2047, 2048, 4096, 8191, 8192, 8193, 16384, 16385, 65536, 65537, 131_072, 200_001, 300_000]
    {
        seed += 1;
        let want = expected(F32, SUM, 1.0, 1.0, seed, p, n);
        let mine = vector(F32, seed, me, n);
        let mut out = vec![0; mine.len()];
        ok(allreduce_of(&mine, &mut out, F32, SUM, 1.0, 1.0, 0), "allreduce");
        same(&out, &want, F32, &format!("allreduce of {n}"));
        direct(w, seed, n, &want);
    }
    wire(w);
    adasum(w);
    grouped(w);
    gathers(w, &mut seed);
    scatters(w, &mut seed);
    for root in 0..p {
        for kind in TYPES {
            for n in [0, 1, 5, 100, 70_000, 300_001] {
                if n > 1000 && kind != U8 && kind != F64 {
                    continue;
                }
                seed += 1;
                let mut data = vector(kind, seed, me, n);
                let at = data.as_mut_ptr().cast();
                // SAFETY: n elements.
                ok(unsafe { comm::broadcast(at, n, kind, root as c_int, 0) }, "broadcast");
                same(&data, &vector(kind, seed, root, n), kind, &format!("broadcast of {n} type {kind} from {root}"));
            }
        }
    }
    for _ in 0..20 {
        // SAFETY: a number.
        ok(unsafe { comm::barrier(0) }, "barrier");
    }
    // NaN: a minimum or maximum of it is it.
    if p > 1 {
        for op in [MIN, MAX, SUM] {
            let mine = if me == p - 1 { f32::NAN } else { 1.0 };
            let mut out = [0; 4];
            ok(allreduce_of(&mine.to_ne_bytes(), &mut out, F32, op, 1.0, 1.0, 0), "NaN");
            assert!(f32::from_ne_bytes(out).is_nan(), "op {op} of a NaN");
        }
    }
}

/// Buffers of `alloc`: used where they are, and mixed with ordinary ones.
fn direct(w: World, seed: u64, n: usize, want: &[u8]) {
    let mine = vector(F32, seed, w.me, n);
    // SAFETY: blocks of so many bytes.
    unsafe {
        let a = comm::alloc(n * 4).cast::<u8>();
        let b = comm::alloc(n * 4).cast::<u8>();
        assert!(!a.is_null() && !b.is_null(), "{}", text());
        let (sa, sb) = (std::slice::from_raw_parts_mut(a, n * 4), std::slice::from_raw_parts_mut(b, n * 4));
        assert!(sa.iter().chain(&*sb).all(|x| *x == 0), "memory of alloc is zero");
        sa.copy_from_slice(&mine);
        ok(allreduce_of(sa, sb, F32, SUM, 1.0, 1.0, 0), "direct");
        same(sb, want, F32, &format!("direct allreduce of {n}"));
        assert!(*sa == mine[..]);
        let at = a.cast::<c_void>();
        ok(comm::allreduce(at, at, n, F32, SUM, 1.0, 1.0, 0), "direct in place");
        same(sa, want, F32, &format!("direct in-place allreduce of {n}"));
        // Only some ranks have such buffers.
        let mut plain = mine.clone();
        sa.copy_from_slice(&mine);
        let at = if w.me.is_multiple_of(2) { a.cast::<c_void>() } else { plain.as_mut_ptr().cast() };
        ok(comm::allreduce(at, at, n, F32, SUM, 1.0, 1.0, 0), "mixed");
        same(if w.me.is_multiple_of(2) { sa } else { &plain }, want, F32, &format!("mixed allreduce of {n}"));
        // Nobody may still be reading.
        ok(comm::barrier(0), "barrier");
        ok(comm::free(a.cast()), "free");
        ok(comm::free(b.cast()), "free");
        fails(comm::free(b.cast()), ARGUMENT, &["corten_alloc"], "free twice");
    }
}

/// f32 in 16 bits: what comes is the 16-bit result, widened.
fn wire(w: World) {
    for (flag, kind) in [(WIRE_BF16, BF16), (WIRE_F16, F16)] {
        for n in [1, 7, 40, 1000, 40_001] {
            for op in [SUM, AVERAGE, MAX] {
                let seed = 7000 + n as u64;
                // Values that the 16-bit type holds, so that the reference is that of the type.
                let wide = |bytes: &[u8]| -> Vec<u8> {
                    let one = |b: &[u8]| {
                        let bits = u16::from_ne_bytes([b[0], b[1]]);
                        if kind == BF16 { f32::from_bits(u32::from(bits) << 16) } else { wide_half(bits) }
                    };
                    bytes.chunks(2).flat_map(|b| one(b).to_ne_bytes()).collect()
                };
                let mine = wide(&vector(kind, seed, w.me, n));
                let want = wide(&expected(kind, op, 1.0, 1.0, seed, w.p, n));
                let mut out = vec![0; mine.len()];
                ok(allreduce_of(&mine, &mut out, F32, op | flag, 1.0, 1.0, 0), "wire");
                if w.p > 1 {
                    same(&out, &want, F32, &format!("wire type {kind} op {op} n {n}"));
                }
            }
        }
    }
}

fn wide_half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (e, f) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let size = if e == 0 { f * 2f64.powi(-24) } else { (1.0 + f / 1024.0) * 2f64.powi(e - 15) };
    (sign * size) as f32
}

fn adasum(w: World) {
    for n in [1usize, 10, 1000, 20_000] {
        let all: Vec<Vec<f64>> = (0..w.p).map(|r| (0..n).map(|i| value(F64, 99, r, i)).collect()).collect();
        let mut level = all.clone();
        while level.len() > 1 {
            let mut next = Vec::new();
            for pair in level.chunks(2) {
                let [a, b] = pair else {
                    next.push(pair[0].clone());
                    continue;
                };
                let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
                let (ab, aa, bb) = (dot(a, b), dot(a, a), dot(b, b));
                next.push((0..n).map(|i| (1.0 - ab / (2.0 * aa)) * a[i] + (1.0 - ab / (2.0 * bb)) * b[i]).collect());
            }
            level = next;
        }
        let mine: Vec<u8> = all[w.me].iter().flat_map(|x| x.to_ne_bytes()).collect();
        let mut out = vec![0; mine.len()];
        ok(allreduce_of(&mine, &mut out, F64, ADASUM, 1.0, 1.0, 0), "adasum");
        for (i, got) in out.chunks(8).enumerate() {
            let got = f64::from_ne_bytes(got.try_into().unwrap());
            assert!((got - level[0][i]).abs() <= 1e-11 * level[0][i].abs().max(1.0), "adasum {n} {i}: {got}");
        }
        equal_everywhere(w, &out);
        for kind in [F32, BF16, F16] {
            let mine = vector(kind, 99, w.me, n);
            let mut out = vec![0; mine.len()];
            ok(allreduce_of(&mine, &mut out, kind, ADASUM, 1.0, 1.0, 0), "adasum");
            equal_everywhere(w, &out);
        }
    }
    // Equal vectors: the average of them, which is the vector itself.
    let mine = vector(F64, 5, 0, 100);
    let mut out = vec![0; mine.len()];
    ok(allreduce_of(&mine, &mut out, F64, ADASUM, 1.0, 1.0, 0), "adasum");
    for (a, b) in out.chunks(8).zip(mine.chunks(8)) {
        let (a, b) = (f64::from_ne_bytes(a.try_into().unwrap()), f64::from_ne_bytes(b.try_into().unwrap()));
        assert!((a - b).abs() <= 1e-12 * b.abs(), "adasum of equal vectors: {a} {b}");
    }
}

/// The bytes of all ranks are the same.
fn equal_everywhere(w: World, bytes: &[u8]) {
    let mut all = vec![0u8; bytes.len() * w.p];
    let (src, dst) = (bytes.as_ptr().cast(), all.as_mut_ptr().cast());
    // SAFETY: so many bytes of each.
    ok(unsafe { comm::allgather(src, bytes.len(), dst, all.len(), std::ptr::null_mut(), U8, 0) }, "allgather");
    for (r, other) in all.chunks(bytes.len().max(1)).enumerate() {
        assert!(other == bytes, "rank {} and rank {r} have different bits", w.me);
    }
}

fn grouped(w: World) {
    let counts = [3usize, 0, 1, 700, 20_000, 5, 64_000, 1];
    let mine: Vec<Vec<u8>> = counts.iter().enumerate().map(|(t, n)| vector(F32, 300 + t as u64, w.me, *n)).collect();
    let mut out: Vec<Vec<u8>> = mine.iter().map(|m| vec![0; m.len()]).collect();
    let src: Vec<*const c_void> = mine.iter().map(|m| m.as_ptr().cast()).collect();
    let dst: Vec<*mut c_void> = out.iter_mut().map(|m| m.as_mut_ptr().cast()).collect();
    for op in [SUM, AVERAGE | WIRE_BF16] {
        let (n, c) = (counts.len(), counts.as_ptr());
        // SAFETY: as many buffers as counts.
        ok(unsafe { comm::grouped_allreduce(n, src.as_ptr(), dst.as_ptr(), c, F32, op, 1.0, 1.0, 0) }, "grouped");
        if op != SUM {
            continue;
        }
        for (t, n) in counts.iter().enumerate() {
            same(&out[t], &expected(F32, SUM, 1.0, 1.0, 300 + t as u64, w.p, *n), F32, &format!("grouped tensor {t}"));
        }
    }
}

fn gathers(w: World, seed: &mut u64) {
    let World { me, p } = w;
    for kind in TYPES {
        for base in [0usize, 1, 9, 1000, 50_000] {
            if base > 1000 && kind != F64 && kind != U8 {
                continue;
            }
            *seed += 1;
            // Different numbers, none for some.
            let n = |r: usize| if r % 3 == 2 { 0 } else { base * (r + 1) + r };
            let total: usize = (0..p).map(n).sum();
            let want: Vec<u8> = (0..p).flat_map(|r| vector(kind, *seed, r, n(r))).collect();
            let mine = vector(kind, *seed, me, n(me));
            let mut out = vec![0xa5u8; total * width(kind) + 16];
            let mut counts = vec![0usize; p];
            let what = format!("allgather type {kind} base {base}");
            // SAFETY: room for all.
            unsafe {
                let (src, dst) = (mine.as_ptr().cast(), out.as_mut_ptr().cast());
                ok(comm::allgather(src, n(me), dst, total, counts.as_mut_ptr(), kind, 0), &what);
            }
            same(&out[..want.len()], &want, kind, &what);
            assert!(out[want.len()..].iter().all(|b| *b == 0xa5), "{what}: wrote behind the end");
            assert_eq!(counts, (0..p).map(n).collect::<Vec<_>>());
            // In place.
            let start: usize = (0..me).map(n).sum::<usize>() * width(kind);
            let mut whole = vec![0u8; total * width(kind)];
            whole[start..start + mine.len()].copy_from_slice(&mine);
            // SAFETY: as above.
            unsafe {
                let dst = whole.as_mut_ptr();
                let src = dst.add(start).cast();
                ok(comm::allgather(src, n(me), dst.cast(), total, std::ptr::null_mut(), kind, 0), &what);
            }
            same(&whole, &want, kind, &format!("{what}, in place"));
        }
    }
}

fn scatters(w: World, seed: &mut u64) {
    let World { me, p } = w;
    for kind in TYPES {
        for op in [SUM, AVERAGE, MAX] {
            for n in [0, 1, 10, 1001, 60_011] {
                if n > 2000 && kind != F32 && kind != I64 {
                    continue;
                }
                *seed += 1;
                let what = format!("reducescatter type {kind} op {op} n {n}");
                let all = expected(kind, op, 1.0, 1.0, *seed, p, n);
                let even: Vec<usize> = (0..p).map(|k| n / p + usize::from(k < n % p)).collect();
                let mut uneven = vec![0; p];
                uneven[p - 1] = n;
                for counts in [None, Some(even.clone()), Some(uneven)] {
                    let list = counts.clone().unwrap_or(even.clone());
                    let start: usize = list[..me].iter().sum::<usize>() * width(kind);
                    let want = &all[start..start + list[me] * width(kind)];
                    let mut mine = vector(kind, *seed, me, n);
                    let mut out = vec![0xa5u8; want.len() + 16];
                    let c = counts.as_ref().map_or(std::ptr::null(), |c| c.as_ptr());
                    // SAFETY: n elements in, our block out.
                    unsafe {
                        let (src, dst) = (mine.as_ptr().cast(), out.as_mut_ptr().cast());
                        ok(comm::reducescatter(src, dst, n, c, kind, op, 1.0, 1.0, 0), &what);
                    }
                    same(&out[..want.len()], want, kind, &what);
                    assert!(out[want.len()..].iter().all(|b| *b == 0xa5), "{what}: wrote behind the end");
                    let at = mine.as_mut_ptr().cast::<c_void>();
                    // SAFETY: in place: our block lands at the front.
                    ok(unsafe { comm::reducescatter(at, at, n, c, kind, op, 1.0, 1.0, 0) }, &what);
                    same(&mine[..want.len()], want, kind, &format!("{what}, in place"));
                }
            }
        }
    }
    for kind in TYPES {
        for base in [0usize, 1, 3, 100, 30_000] {
            if base > 1000 && kind != I32 {
                continue;
            }
            *seed += 1;
            let n = |from: usize, to: usize| base * ((from + 2 * to) % 4) + to % 2;
            let block = |from: usize, to: usize| vector(kind, *seed + 1000 * to as u64, from, n(from, to));
            let mine: Vec<u8> = (0..p).flat_map(|k| block(me, k)).collect();
            let want: Vec<u8> = (0..p).flat_map(|r| block(r, me)).collect();
            let counts: Vec<usize> = (0..p).map(|k| n(me, k)).collect();
            let mut out = vec![0xa5u8; want.len() + 16];
            let mut came = vec![9usize; p];
            let what = format!("alltoall type {kind} base {base}");
            let room = want.len() / width(kind);
            // SAFETY: room for what comes.
            unsafe {
                let (src, dst) = (mine.as_ptr().cast(), out.as_mut_ptr().cast());
                ok(comm::alltoall(src, counts.as_ptr(), dst, room, came.as_mut_ptr(), kind, 0), &what);
            }
            same(&out[..want.len()], &want, kind, &what);
            assert!(out[want.len()..].iter().all(|b| *b == 0xa5), "{what}: wrote behind the end");
            assert_eq!(came, (0..p).map(|r| n(r, me)).collect::<Vec<_>>());
        }
    }
    *seed += 100_000;
}

/// Named tensors: orders, fusion, kinds, errors, join.
fn named(w: World) {
    let World { me, p } = w;
    // Many tensors, submitted in another order on each rank.
    for round in 0..3u64 {
        let tensors = 60;
        let counts: Vec<usize> = (0..tensors).map(|t| [1, 17, 1000, 9_000, 3][t % 5] + t).collect();
        let kinds: Vec<c_int> = (0..tensors).map(|t| if t % 7 == 3 { F64 } else { F32 }).collect();
        let mut data: Vec<Vec<u8>> =
            (0..tensors).map(|t| vector(kinds[t], 50 + round * 100 + t as u64, me, counts[t])).collect();
        let mut handles = vec![0i64; tensors];
        for i in 0..tensors {
            let t = (i * 7 + me * 13) % tensors;
            let at = data[t].as_mut_ptr().cast::<c_void>();
            let tensor = name(&format!("gradient.{t}"));
            // SAFETY: the data stays where it is until it is waited for.
            let code = unsafe {
                comm::allreduce_async(
                    tensor.as_ptr(),
                    at,
                    at,
                    counts[t],
                    kinds[t],
                    AVERAGE,
                    1.0,
                    1.0,
                    0,
                    &mut handles[t],
                )
            };
            ok(code, "allreduce_async");
            if i % 20 == 19 {
                std::thread::sleep(Duration::from_millis((me as u64 * 3) % 7));
            }
        }
        for t in (0..tensors).rev() {
            // SAFETY: a number.
            unsafe {
                ok(comm::wait(handles[t], 60.0), "wait");
                assert_eq!(comm::poll(handles[t]), -1, "the handle is gone");
            }
            let want = expected(kinds[t], AVERAGE, 1.0, 1.0, 50 + round * 100 + t as u64, p, counts[t]);
            same(&data[t], &want, kinds[t], &format!("tensor {t}"));
        }
    }
    // Every kind at once, and blocking calls in between.
    let mut handles = [0i64; 6];
    let sum = vector(I32, 900, me, 5000);
    let mut sum_out = vec![0u8; sum.len()];
    let mut cast = vector(F16, 901, me, 777);
    let gather = vector(I64, 902, me, me + 1);
    let total: usize = (1..=p).sum();
    let mut gathered = vec![0u8; total * 8];
    let mut came = vec![0usize; p];
    let scatter = vector(F32, 903, me, 10 * p);
    let mut scattered = vec![0u8; 40];
    let give = vector(U8, 904, me, 3 * p);
    let threes = vec![3usize; p];
    let mut given = vec![0u8; 3 * p];
    let group: [Vec<u8>; 2] = [vector(F32, 905, me, 10), vector(F32, 906, me, 20)];
    let mut group_out = [vec![0u8; 40], vec![0u8; 80]];
    let group_in: Vec<*const c_void> = group.iter().map(|g| g.as_ptr().cast()).collect();
    let group_to: Vec<*mut c_void> = group_out.iter_mut().map(|g| g.as_mut_ptr().cast()).collect();
    let order: Vec<usize> = (0..6).map(|i| (i + me) % 6).collect();
    let null = std::ptr::null();
    for which in order {
        let n = name(["a", "b", "c", "d", "e", "f"][which]);
        let (n, h) = (n.as_ptr(), &raw mut handles[which]);
        // SAFETY: all buffers stay until they are waited for.
        let code = unsafe {
            match which {
                0 => comm::allreduce_async(
                    n,
                    sum.as_ptr().cast(),
                    sum_out.as_mut_ptr().cast(),
                    5000,
                    I32,
                    MAX,
                    1.0,
                    1.0,
                    0,
                    h,
                ),
                1 => comm::broadcast_async(n, cast.as_mut_ptr().cast(), 777, F16, (p - 1) as c_int, 0, h),
                2 => {
                    let to = gathered.as_mut_ptr().cast();
                    comm::allgather_async(n, gather.as_ptr().cast(), me + 1, to, total, came.as_mut_ptr(), I64, 0, h)
                }
                3 => {
                    let to = scattered.as_mut_ptr().cast();
                    comm::reducescatter_async(n, scatter.as_ptr().cast(), to, 10 * p, null, F32, SUM, 1.0, 1.0, 0, h)
                }
                4 => {
                    let (from, to) = (give.as_ptr().cast(), given.as_mut_ptr().cast());
                    comm::alltoall_async(n, from, threes.as_ptr(), to, 3 * p, std::ptr::null_mut(), U8, 0, h)
                }
                _ => {
                    let sizes = [10usize, 20];
                    let (from, to) = (group_in.as_ptr(), group_to.as_ptr());
                    comm::grouped_allreduce_async(n, 2, from, to, sizes.as_ptr(), F32, SUM, 1.0, 1.0, 0, h)
                }
            }
        };
        ok(code, "async");
    }
    // SAFETY: a number.
    ok(unsafe { comm::barrier(0) }, "barrier");
    for handle in handles {
        // SAFETY: a number.
        unsafe { ok(comm::wait(handle, 60.0), "wait") };
    }
    same(&sum_out, &expected(I32, MAX, 1.0, 1.0, 900, p, 5000), I32, "async max");
    same(&cast, &vector(F16, 901, p - 1, 777), F16, "async broadcast");
    same(&gathered, &(0..p).flat_map(|r| vector(I64, 902, r, r + 1)).collect::<Vec<_>>(), I64, "async allgather");
    assert_eq!(came, (1..=p).collect::<Vec<_>>());
    let all = expected(F32, SUM, 1.0, 1.0, 903, p, 10 * p);
    same(&scattered, &all[40 * me..40 * me + 40], F32, "async reducescatter");
    let want: Vec<u8> = (0..p).flat_map(|r| vector(U8, 904, r, 3 * p)[3 * me..3 * me + 3].to_vec()).collect();
    same(&given, &want, U8, "async alltoall");
    same(&group_out[0], &expected(F32, SUM, 1.0, 1.0, 905, p, 10), F32, "async group");
    same(&group_out[1], &expected(F32, SUM, 1.0, 1.0, 906, p, 20), F32, "async group");
    named_errors(w);
    crossing(w);
    join(w);
}

fn begin(tensor: &str, data: &mut [f32], n: usize, op: c_int, set: c_int) -> (c_int, i64) {
    let mut handle = 0;
    assert!(data.len() >= n);
    let (tensor, at) = (name(tensor), data.as_mut_ptr().cast::<c_void>());
    // SAFETY: the data stays until it is waited for.
    let code = unsafe { comm::allreduce_async(tensor.as_ptr(), at, at, n, F32, op, 1.0, 1.0, set, &mut handle) };
    (code, handle)
}

fn named_errors(w: World) {
    let World { me, p } = w;
    let last = p - 1;
    let mut data = vec![1f32; 100];
    let mut other = vec![1f32; 100];
    if p > 1 {
        // A wrong size on one rank: the same error everywhere, for this tensor only.
        let (code, wrong) = begin("wrong size", &mut data, if me == last { 7 } else { 9 }, SUM, 0);
        ok(code, "begin");
        let (code, right) = begin("right", &mut other, 100, SUM, 0);
        ok(code, "begin");
        let parts = ["'wrong size'", "rank 0 has count 9", &format!("rank {last} has count 7")];
        // SAFETY: numbers.
        unsafe {
            fails(comm::wait(wrong, 60.0), MISMATCH, &parts, "wrong size");
            ok(comm::wait(right, 60.0), "right");
        }
        assert!(other.iter().all(|x| *x == p as f32) && data.iter().all(|x| *x == 1.0));
        let (code, wrong) = begin("wrong op", &mut data, 9, if me == last { MIN } else { SUM }, 0);
        ok(code, "begin");
        // SAFETY: a number.
        unsafe { fails(comm::wait(wrong, 60.0), MISMATCH, &["'wrong op'", "sum", "min", "rank 0"], "wrong op") };
        let mut handle = 0;
        let n = name("wrong kind");
        // SAFETY: the data stays.
        unsafe {
            let at = data.as_mut_ptr().cast::<c_void>();
            let code = if me == last {
                comm::broadcast_async(n.as_ptr(), at, 9, F32, 0, 0, &mut handle)
            } else {
                comm::allreduce_async(n.as_ptr(), at, at, 9, F32, SUM, 1.0, 1.0, 0, &mut handle)
            };
            ok(code, "begin");
            fails(comm::wait(handle, 60.0), MISMATCH, &["'wrong kind'", "allreduce", "broadcast"], "wrong kind");
        }
    }
    // The same name twice.
    let (code, first) = begin("twice", &mut data, 5, SUM, 0);
    ok(code, "begin");
    if me == 0 && p > 1 {
        // Rank 0 is ahead: nobody else has begun "held".
        let (code, held) = begin("held", &mut other, 5, SUM, 0);
        ok(code, "begin");
        let (code, _) = begin("held", &mut data, 5, SUM, 0);
        fails(code, ARGUMENT, &["'held'", "under way"], "the same name twice");
        // SAFETY: numbers.
        unsafe {
            assert_eq!(comm::poll(held), 0);
            fails(comm::wait(held, 0.05), TIMEOUT, &["not done"], "wait with a limit");
            ok(comm::barrier(0), "barrier");
            ok(comm::wait(held, 60.0), "held");
        }
    } else if p > 1 {
        // SAFETY: a number.
        ok(unsafe { comm::barrier(0) }, "barrier");
        let (code, held) = begin("held", &mut other, 5, SUM, 0);
        ok(code, "begin");
        // SAFETY: a number.
        ok(unsafe { comm::wait(held, 60.0) }, "held");
    }
    // SAFETY: numbers.
    unsafe {
        ok(comm::wait(first, 60.0), "twice");
        fails(comm::wait(first, 1.0), STATE, &["handle"], "a handle that is gone");
        assert_eq!(comm::poll(123_456_789), -1);
    }
}

/// Each rank begins with a name of its own, so that nothing is ready, and completes the others later.
fn crossing(w: World) {
    let World { me, p } = w;
    let mut data: Vec<Vec<f32>> = (0..p).map(|_| vec![1f32; 64]).collect();
    let mut handles = vec![0; p];
    let (code, handle) = begin(&format!("cross {me}"), &mut data[me], 64, SUM, 0);
    ok(code, "begin");
    handles[me] = handle;
    std::thread::sleep(Duration::from_millis(20 * (me as u64 % 3)));
    for k in 1..p {
        let t = (me + k) % p;
        let (code, handle) = begin(&format!("cross {t}"), &mut data[t], 64, SUM, 0);
        ok(code, "begin");
        handles[t] = handle;
        std::thread::sleep(Duration::from_millis(3));
    }
    for handle in handles {
        // SAFETY: a number.
        ok(unsafe { comm::wait(handle, 60.0) }, "crossing");
    }
    assert!(data.iter().flatten().all(|x| *x == p as f32));
}

/// Rank r has r+1 batches; who has no more joins.
fn join(w: World) {
    let World { me, p } = w;
    for batch in 0..=me {
        let mut data = vec![1f32; 1000];
        let (code, handle) = begin("batch", &mut data, 1000, SUM, 0);
        ok(code, "begin");
        // SAFETY: a number.
        ok(unsafe { comm::wait(handle, 60.0) }, "wait");
        // Those with at least batch+1 batches gave ones; an average would still divide by all.
        let there = (p - batch) as f32;
        assert!(data.iter().all(|x| *x == there), "batch {batch}: {} is not {there}", data[0]);
    }
    if me == p - 1 && p > 1 {
        // The others have joined: what zeros would change is refused.
        std::thread::sleep(Duration::from_millis(100));
        let mut data = vec![1f32; 10];
        let (code, handle) = begin("least", &mut data, 10, MIN, 0);
        ok(code, "begin");
        // SAFETY: a number.
        unsafe { fails(comm::wait(handle, 60.0), MISMATCH, &["'least'", "join"], "a minimum with a joined rank") };
    }
    let mut last = -1;
    // SAFETY: our own number.
    ok(unsafe { comm::join(&mut last) }, "join");
    assert_eq!(last, (p - 1) as c_int, "the last to join");
    // Life goes on.
    let mut data = vec![1f32; 10];
    let (code, handle) = begin("after", &mut data, 10, SUM, 0);
    ok(code, "begin");
    // SAFETY: a number.
    unsafe {
        ok(comm::wait(handle, 60.0), "after join");
        ok(comm::barrier(0), "after join");
    }
    assert!(data.iter().all(|x| *x == p as f32));
}

/// Blocking calls about which the ranks disagree: the same text everywhere, and the next call works.
fn mismatch(w: World) {
    let World { me, p } = w;
    let odd = me == p - 1 && p > 1;
    let last = format!("rank {}", p - 1);
    let mut data = vec![0u8; 1 << 20];
    let mut out = vec![0u8; 1 << 20];
    let (d, o) = (data.as_mut_ptr().cast::<c_void>(), out.as_mut_ptr().cast::<c_void>());
    let mut count = 0;
    let mut check = |code: c_int, parts: &[&str]| {
        if p > 1 {
            let mut all = vec!["rank 0", &last];
            all.extend(parts);
            fails(code, MISMATCH, &all, &format!("mismatch {count}"));
            let mut words = text().into_bytes();
            words.resize(300, b' ');
            equal_everywhere(w, &words);
        }
        count += 1;
        let mine = vector(F32, count, me, 1000);
        let mut sum = vec![0; mine.len()];
        ok(allreduce_of(&mine, &mut sum, F32, SUM, 1.0, 1.0, 0), "the call after a mismatch");
        same(&sum, &expected(F32, SUM, 1.0, 1.0, count, p, 1000), F32, "the call after a mismatch");
    };
    let pick = |usual: usize, odd_one: usize| if odd { odd_one } else { usual };
    // SAFETY: all sizes fit a megabyte.
    unsafe {
        for (a, b) in [(10, 12), (10, 100_000), (100_000, 10), (50_000, 50_001), (0, 1)] {
            let parts = [format!("count {a}"), format!("count {b}")];
            let code = comm::allreduce(d, o, pick(a, b), F32, SUM, 1.0, 1.0, 0);
            check(code, &[&parts[0], &parts[1]]);
        }
        check(comm::allreduce(d, o, 10, if odd { I32 } else { F32 }, SUM, 1.0, 1.0, 0), &["type f32", "type i32"]);
        let code = comm::allreduce(d, o, 10, F32, if odd { MAX } else { SUM }, 1.0, 1.0, 0);
        check(code, &["operation sum", "operation max"]);
        check(comm::allreduce(d, o, 10, F32, SUM, if odd { 2.0 } else { 1.0 }, 1.0, 0), &["prescale factor 1", "2"]);
        check(comm::allreduce(d, o, 10, F32, SUM, 1.0, if odd { 0.5 } else { 1.0 }, 0), &["postscale factor", "0.5"]);
        check(comm::allreduce(d, o, 10, F32, if odd { WIRE_F16 } else { WIRE_BF16 }, 1.0, 1.0, 0), &["bf16", "f16"]);
        let root = pick(0, p - 1) as c_int;
        check(comm::broadcast(d, 10, F32, root, 0), &["root 0", &format!("root {}", p - 1)]);
        check(comm::broadcast(d, pick(10, 11), F32, 0, 0), &["count 10", "count 11"]);
        let code = if odd { comm::barrier(0) } else { comm::allreduce(d, o, 10, F32, SUM, 1.0, 1.0, 0) };
        check(code, &["allreduce", "barrier"]);
        let null = std::ptr::null();
        let code = comm::reducescatter(d, o, pick(100, 101), null, F32, SUM, 1.0, 1.0, 0);
        check(code, &["reducescatter"]);
        let code = comm::allgather(d, 10, o, pick(10 * p, 10 * p - 1), std::ptr::null_mut(), F32, 0);
        if p > 1 {
            fails(code, MISMATCH, &[&last, "room"], "allgather without room");
        }
        check_next(w);
        let tens = vec![10usize; p];
        let code = comm::alltoall(d, tens.as_ptr(), o, pick(10 * p, 3), std::ptr::null_mut(), F32, 0);
        if p > 1 {
            fails(code, MISMATCH, &[&last, "room for 3"], "alltoall without room");
        }
        check_next(w);
        let sizes = [pick(10, 20), pick(20, 10)];
        let (from, to) = ([d.cast_const(), d.cast_const()], [o, o.wrapping_byte_add(400)]);
        let code = comm::grouped_allreduce(2, from.as_ptr(), to.as_ptr(), sizes.as_ptr(), F32, SUM, 1.0, 1.0, 0);
        check(code, &["sizes"]);
        // A bad argument on one rank: it gets that, the others learn that it did not take part.
        let code = comm::allreduce(d, o, 10, if odd { 77 } else { F32 }, SUM, 1.0, 1.0, 0);
        if odd {
            fails(code, ARGUMENT, &["type is 77"], "bad type");
        } else if p > 1 {
            fails(code, MISMATCH, &["bad argument", &last], "another's bad type");
        }
        check_next(w);
        let code = comm::allreduce(if odd { null } else { d.cast() }.cast(), o, 10, F32, SUM, 1.0, 1.0, 0);
        if odd {
            fails(code, ARGUMENT, &["in is null"], "null");
        }
        check_next(w);
        // Arguments that are wrong everywhere.
        fails(comm::allreduce(d, o, 10, F32, 9, 1.0, 1.0, 0), ARGUMENT, &["op is 9"], "bad op");
        fails(comm::allreduce(d, o, 10, I32, ADASUM, 1.0, 1.0, 0), ARGUMENT, &["adasum", "i32"], "adasum of i32");
        fails(comm::allreduce(d, o, 10, F64, WIRE_F16, 1.0, 1.0, 0), ARGUMENT, &["wire", "f64"], "wire of f64");
        fails(comm::allreduce(d, o, 10, F32, SUM, f64::NAN, 1.0, 0), ARGUMENT, &["NaN"], "NaN factor");
        fails(comm::allreduce(d, o, usize::MAX, F32, SUM, 1.0, 1.0, 0), ARGUMENT, &["memory"], "too many");
        fails(comm::broadcast(d, 10, F32, p as c_int, 0), ARGUMENT, &["root is"], "bad root");
        fails(comm::broadcast(d, 10, F32, -1, 0), ARGUMENT, &["root is -1"], "bad root");
        fails(comm::allreduce(d, o, 10, F32, SUM, 1.0, 1.0, 99), ARGUMENT, &["process set 99"], "bad set");
        fails(comm::allreduce(d, o, 10, F32, SUM, 1.0, 1.0, -1), ARGUMENT, &["set is -1"], "bad set");
        check_next(w);
    }
}

fn check_next(w: World) {
    let mine = vector(F64, 11, w.me, 100);
    let mut sum = vec![0; mine.len()];
    ok(allreduce_of(&mine, &mut sum, F64, SUM, 1.0, 1.0, 0), "the next call");
    same(&sum, &expected(F64, SUM, 1.0, 1.0, 11, w.p, 100), F64, "the next call");
}

fn sets(w: World) {
    let World { me, p } = w;
    let add = |list: &[c_int]| {
        let mut set = -1;
        // SAFETY: a list of that length.
        ok(unsafe { comm::process_set_add(list.as_ptr(), list.len() as c_int, &mut set) }, "process_set_add");
        set
    };
    let evens: Vec<c_int> = (0..p as c_int).filter(|r| r % 2 == 0).collect();
    let odds: Vec<c_int> = (0..p as c_int).filter(|r| r % 2 == 1).collect();
    let reverse: Vec<c_int> = (0..p as c_int).rev().collect();
    let mut lists = vec![(add(&evens), evens)];
    if !odds.is_empty() {
        lists.push((add(&odds), odds));
    }
    lists.push((add(&reverse), reverse));
    for (set, list) in &lists {
        // SAFETY: numbers.
        unsafe {
            assert_eq!(comm::process_set_size(*set), list.len() as c_int);
            let mine = list.iter().position(|r| *r == me as c_int).map_or(-1, |i| i as c_int);
            assert_eq!(comm::process_set_rank(*set), mine);
        }
    }
    // Disjoint sets at the same time, and named tensors of several sets at once.
    for round in 0..50u64 {
        for (set, list) in &lists {
            let mine = vector(F32, round, me, 500);
            let mut out = vec![0; mine.len()];
            let code = allreduce_of(&mine, &mut out, F32, SUM, 1.0, 1.0, *set);
            if !list.contains(&(me as c_int)) {
                fails(code, ARGUMENT, &["not in process set"], "not a member");
                continue;
            }
            ok(code, "allreduce on a set");
            // In the order of the set's list.
            let mut want = Vec::new();
            for i in 0..500 {
                let values: Vec<f64> = list.iter().map(|r| value(F32, round, *r as usize, i)).collect();
                let nodes: Vec<usize> = list.iter().map(|r| machine_of(*r as usize, p)).collect();
                want.extend(reduce(F32, SUM, 1.0, 1.0, &values, &nodes));
            }
            same(&out, &want, F32, "allreduce on a set");
        }
        let mut data: Vec<Vec<f32>> = lists.iter().map(|_| vec![1f32; 100]).collect();
        let mut handles = Vec::new();
        for (i, (set, list)) in lists.iter().enumerate() {
            if list.contains(&(me as c_int)) {
                let (code, handle) = begin(&format!("on set {i}"), &mut data[i], 100, SUM, *set);
                ok(code, "begin");
                handles.push((i, handle));
            }
        }
        for (i, handle) in handles.iter().rev() {
            // SAFETY: a number.
            ok(unsafe { comm::wait(*handle, 60.0) }, "wait");
            assert!(data[*i].iter().all(|x| *x == lists[*i].1.len() as f32));
        }
    }
    // SAFETY: lists of that length.
    unsafe {
        let mut set = -1;
        for bad in [&[0, 0][..], &[-1], &[p as c_int]] {
            let code = comm::process_set_add(bad.as_ptr(), bad.len() as c_int, &mut set);
            fails(code, ARGUMENT, &["different ranks below"], "bad list");
        }
        if p > 1 {
            let code = comm::process_set_add([me as c_int].as_ptr(), 1, &mut set);
            fails(code, MISMATCH, &["process sets"], "different lists");
        }
        fails(comm::process_set_remove(0), ARGUMENT, &["process set 0"], "remove all");
        // A list that is there already is no new set: of one rank, the even ones are all.
        for (set, _) in lists.iter().filter(|(set, _)| *set != 0) {
            ok(comm::process_set_remove(*set), "remove");
            assert_eq!(comm::process_set_size(*set), -1);
        }
        ok(comm::barrier(0), "barrier");
    }
}

/// Much data: 100 MB and more, exact.
fn big(w: World, bytes: usize) {
    let n = bytes / 4;
    let at = |r: usize, i: usize| ((i * 7 + r * 3) % 1000) as f32;
    let mut data: Vec<f32> = (0..n).map(|i| at(w.me, i)).collect();
    let p = data.as_mut_ptr().cast::<c_void>();
    // SAFETY: in place.
    ok(unsafe { comm::allreduce(p, p, n, F32, SUM, 1.0, 1.0, 0) }, "allreduce of much");
    for (i, x) in data.iter().enumerate() {
        let want: f32 = (0..w.p).map(|r| at(r, i)).sum();
        assert_eq!(*x, want, "element {i} of {n}");
    }
}

/// Random operations of random sizes, blocking and named, all checked.
fn soak(w: World, rounds: usize) {
    let World { me, p } = w;
    let mut state = 12345u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    type Pending = (i64, Vec<u8>, Vec<u8>, c_int);
    let mut pending: Vec<Pending> = Vec::new();
    for round in 0..rounds {
        let which = random(9);
        let kind = TYPES[random(8)];
        let n = [random(8), random(100), random(2000), random(20_000)][random(100) / 40 + usize::from(random(50) == 0)];
        let n = if random(1000) == 0 { n + 100_000 } else { n };
        let seed = random(1 << 30) as u64;
        let root = random(p);
        let op = [SUM, AVERAGE, MIN, MAX][random(4)];
        let mine = vector(kind, seed, me, n);
        // The reference of the whole is slow; a few elements of it say as much.
        let sample: Vec<usize> = (0..4).map(|k| if n == 0 { 0 } else { (k * 7919 + round) % n }).collect();
        let check = |out: &[u8], what: &str| {
            for &i in sample.iter().filter(|_| n > 0) {
                let values: Vec<f64> = (0..p).map(|r| value(kind, seed, r, i)).collect();
                let nodes: Vec<usize> = (0..p).map(|r| machine_of(r, p)).collect();
                let want = reduce(kind, op, 1.0, 1.0, &values, &nodes);
                let got = &out[i * width(kind)..][..width(kind)];
                assert!(got == want, "round {round} {what} type {kind} op {op} n {n}: element {i}");
            }
        };
        match which {
            0..=3 => {
                let mut out = vec![0; mine.len()];
                ok(allreduce_of(&mine, &mut out, kind, op, 1.0, 1.0, 0), "soak");
                check(&out, "allreduce");
            }
            4 => {
                let mut data = mine.clone();
                // SAFETY: n elements.
                ok(unsafe { comm::broadcast(data.as_mut_ptr().cast(), n, kind, root as c_int, 0) }, "soak");
                same(&data, &vector(kind, seed, root, n), kind, "soak broadcast");
            }
            5 => {
                let mut all = vec![0; mine.len() * p];
                // SAFETY: room for all.
                unsafe {
                    let (src, dst) = (mine.as_ptr().cast(), all.as_mut_ptr().cast());
                    ok(comm::allgather(src, n, dst, n * p, std::ptr::null_mut(), kind, 0), "soak");
                }
                let theirs = &all[root * mine.len()..][..mine.len()];
                same(theirs, &vector(kind, seed, root, n), kind, "soak allgather");
            }
            _ => {
                let mut out = mine.clone();
                let mut handle = 0;
                let tensor = name(&format!("soak {round}"));
                let at = out.as_mut_ptr().cast::<c_void>();
                // SAFETY: the vector's memory stays where it is.
                unsafe {
                    let code = comm::allreduce_async(tensor.as_ptr(), at, at, n, kind, SUM, 1.0, 1.0, 0, &mut handle);
                    ok(code, "soak");
                }
                let want = if n < 50 { expected(kind, SUM, 1.0, 1.0, seed, p, n) } else { Vec::new() };
                pending.push((handle, out, want, kind));
            }
        }
        if pending.len() > 20 || round + 1 == rounds {
            for (handle, out, want, kind) in pending.drain(..) {
                // SAFETY: a number.
                ok(unsafe { comm::wait(handle, 120.0) }, "soak wait");
                if !want.is_empty() {
                    same(&out, &want, kind, "soak named");
                }
            }
        }
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn cycles(rounds: usize) {
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
            ok(unsafe { comm::wait(handle, 60.0) }, "wait");
        }
        assert!(data.iter().all(|x| *x == (w.p as f32).powi(if round % 3 == 0 { 2 } else { 1 })));
        // SAFETY: no arguments.
        ok(unsafe { comm::shutdown() }, "shutdown");
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
fn fork(w: World) {
    let (code, handle) = {
        let data: &'static mut [f32] = vec![1f32; 10].leak();
        begin("before", data, 10, SUM, 0)
    };
    ok(code, "begin");
    // SAFETY: a number.
    ok(unsafe { comm::wait(handle, 60.0) }, "wait");
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
fn alone() {
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
fn limits(w: World) {
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
fn unnamed(w: World) {
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
fn huge(w: World) {
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
fn no_socket(victim: usize) {
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
    let began = Instant::now();
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
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    // SAFETY: no arguments.
    assert_eq!(unsafe { comm::is_initialized() }, 0);
    println!("rank {me} was told: {}", text());
}

/// One rank comes late; the others wait for it without harm.
fn late() {
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
fn stall(w: World) {
    let (mut data, mut other) = (vec![1f32; 10], vec![1f32; 10]);
    let slow = || {
        if w.me == 1 {
            std::thread::sleep(Duration::from_millis(2500));
        }
    };
    slow();
    let (code, handle) = begin("slow", &mut data, 10, SUM, 0);
    ok(code, "begin");
    // SAFETY: a number.
    ok(unsafe { comm::wait(handle, 60.0) }, "wait");
    let mut both = Vec::new();
    for tensor in if w.me == 1 { ["b", "a"] } else { ["a", "b"] } {
        let at = if tensor == "a" { &mut data } else { &mut other };
        let (code, handle) = begin(tensor, at, 10, SUM, 0);
        ok(code, "begin");
        both.push(handle);
        if w.me == 1 {
            slow();
        } else {
            // SAFETY: a number.
            ok(unsafe { comm::wait(handle, 60.0) }, "wait");
        }
    }
    if w.me == 1 {
        for handle in both {
            // SAFETY: a number.
            ok(unsafe { comm::wait(handle, 60.0) }, "wait");
        }
    }
}

/// `fault phase how victim`: rank `victim` ends or stops in a phase; the others must say so, soon.
fn fault(arguments: &[String]) {
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
    let began = Instant::now();
    let named_victim = format!("rank {victim}");
    if phase == "init" {
        // SAFETY: no arguments.
        let code = unsafe { comm::init() };
        assert!(code == PEER || code == TIMEOUT, "init: {code} {}", text());
        assert!(text().contains(&named_victim), "init: {}", text());
        assert!(began.elapsed() < Duration::from_secs(12), "init took {:?}", began.elapsed());
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
        ok(unsafe { comm::wait(handle, 60.0) }, "wait");
        if w.me == victim {
            die();
        }
        let (code, handle) = begin("second", data, 10, SUM, 0);
        let began = Instant::now();
        // SAFETY: a number.
        let code = if code == 0 { unsafe { comm::wait(handle, 60.0) } } else { code };
        assert!(code == PEER || code == TIMEOUT, "async: {code} {}", text());
        assert!(text().contains(&named_victim), "async: {}", text());
        assert!(began.elapsed() < Duration::from_secs(12), "async took {:?}", began.elapsed());
    } else if phase == "quiet" || phase == "join" {
        // All threads sleep, each rank waiting for another: the victim for a tensor of its own, or in join.
        let data: &'static mut [f32] = vec![1f32; 10].leak();
        if w.me == victim {
            // SAFETY: our own end, from another thread.
            std::thread::spawn({
                let how = how.clone();
                move || {
                    std::thread::sleep(Duration::from_millis(600));
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
                unsafe { comm::wait(handle, 60.0) };
            }
            // A stopped rank that goes on finds out that it was given up.
            std::process::exit(0);
        }
        let (code, mut handle) = begin("of the others", data, 10, SUM, 0);
        ok(code, "begin");
        if phase == "join" {
            // The joined rank gives zeros; then it is gone.
            // SAFETY: a number.
            ok(unsafe { comm::wait(handle, 60.0) }, "wait");
            std::thread::sleep(Duration::from_millis(900));
            let (code, next) = begin("after", data, 10, SUM, 0);
            ok(code, "begin");
            handle = next;
        }
        let began = Instant::now();
        // SAFETY: a number.
        let code = unsafe { comm::wait(handle, 60.0) };
        assert!(code == PEER || code == TIMEOUT, "{phase}: {code} {}", text());
        assert!(text().contains(&named_victim), "{phase}: {}", text());
        let bound = if how == "stop" { 6 } else { 2 };
        assert!(began.elapsed() < Duration::from_secs(bound), "{phase} took {:?}", began.elapsed());
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
        assert!(began.elapsed() < Duration::from_secs(60), "no error");
    };
    assert!(code == PEER || code == TIMEOUT, "{code} {}", text());
    assert!(text().contains(&named_victim), "{}", text());
    println!("survivor {me}: {}", text());
    // At once from now on, and shutdown and a new start are not in the way of each other.
    let began = Instant::now();
    assert_ne!(sum(10), 0);
    // SAFETY: no arguments.
    ok(unsafe { comm::shutdown() }, "shutdown");
    assert!(began.elapsed() < Duration::from_secs(1), "after the failure: {:?}", began.elapsed());
}
