//! The blocking operations, all types and sizes, process sets and a mixture of everything, against the reference.

use crate::*;

pub fn suite(w: World) {
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
    for n in [
        5, 16, 17, 20, 21, 511, 512, 513, 2047, 2048, 4096, 4097, 8191, 8192, 8193, 16384, 16385, 65536, 65537,
        131_072, 200_001, 300_000,
    ] {
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
pub fn direct(w: World, seed: u64, n: usize, want: &[u8]) {
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
pub fn wire(w: World) {
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

pub fn wide_half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (e, f) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let size = if e == 0 { f * 2f64.powi(-24) } else { (1.0 + f / 1024.0) * 2f64.powi(e - 15) };
    (sign * size) as f32
}

pub fn adasum(w: World) {
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
pub fn equal_everywhere(w: World, bytes: &[u8]) {
    let mut all = vec![0u8; bytes.len() * w.p];
    let (src, dst) = (bytes.as_ptr().cast(), all.as_mut_ptr().cast());
    // SAFETY: so many bytes of each.
    ok(unsafe { comm::allgather(src, bytes.len(), dst, all.len(), std::ptr::null_mut(), U8, 0) }, "allgather");
    for (r, other) in all.chunks(bytes.len().max(1)).enumerate() {
        assert!(other == bytes, "rank {} and rank {r} have different bits", w.me);
    }
}

pub fn grouped(w: World) {
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

pub fn gathers(w: World, seed: &mut u64) {
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

pub fn scatters(w: World, seed: &mut u64) {
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

pub fn sets(w: World) {
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
            ok(unsafe { comm::wait(*handle, 300.0) }, "wait");
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
            let parts = ["process sets", "rank 0 adds ranks [0]", "rank 1 adds ranks [1]"];
            fails(code, MISMATCH, &parts, "different lists");
            // One adds, another removes; one names a set that is not there.
            let code = match me {
                0 => comm::process_set_remove(lists[0].0),
                _ => comm::process_set_add([0].as_ptr(), 1, &mut set),
            };
            let removes = format!("rank 0 removes set {}", lists[0].0);
            fails(code, MISMATCH, &[&removes, "rank 1 adds ranks [0]"], "different changes");
            for none in [77, -3] {
                let code = comm::process_set_remove(if me == 0 { none } else { lists[0].0 });
                match me {
                    0 => fails(code, ARGUMENT, &[&none.to_string()], "a set that is not there"),
                    _ => fails(code, MISMATCH, &["rank 0 has a bad argument", &none.to_string()], "another's bad set"),
                }
            }
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
pub fn big(w: World, bytes: usize) {
    let n = bytes / 4;
    let at = |r: usize, i: usize| ((i * 7 + r * 3) % 1000) as f32;
    let mut data: Vec<f32> = (0..n).map(|i| at(w.me, i)).collect();
    let p = data.as_mut_ptr().cast::<c_void>();
    // Apart, where results go past the caches; they begin and end within a line of cache, and nothing around is touched.
    let mut out = vec![-1f32; n + 2];
    // SAFETY: n elements from the second on.
    ok(unsafe { comm::allreduce(p, out[1..].as_mut_ptr().cast(), n, F32, SUM, 1.0, 1.0, 0) }, "much, apart");
    assert_eq!((out[0], out[n + 1]), (-1.0, -1.0), "around the result");
    // SAFETY: in place.
    ok(unsafe { comm::allreduce(p, p, n, F32, SUM, 1.0, 1.0, 0) }, "allreduce of much");
    for (i, (x, y)) in data.iter().zip(&out[1..]).enumerate() {
        let want: f32 = (0..w.p).map(|r| at(r, i)).sum();
        assert_eq!((*x, *y), (want, want), "element {i} of {n}");
    }
}

/// Random operations of random sizes, blocking and named, all checked.
pub fn soak(w: World, rounds: usize) {
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
                ok(unsafe { comm::wait(handle, 300.0) }, "soak wait");
                if !want.is_empty() {
                    same(&out, &want, kind, "soak named");
                }
            }
        }
    }
}
