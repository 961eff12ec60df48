//! What a reduction should give, element by element, from the definition in docs/collectives.md: in the order of the
//! ranks, 16-bit floats in f32 with one rounding at the end, integers wrapping, averages of integers toward zero,
//! scaled integers in f64.

use super::*;

/// A float rounded to `digits` binary digits of fraction and a least exponent, to nearest even: the definition, in f64.
fn rounded(x: f64, digits: i32, least: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = x.abs().log2().floor() as i32;
    // log2 may be off by one next to a power of two.
    let exponent = if 2f64.powi(exponent + 1) <= x.abs() { exponent + 1 } else { exponent };
    let exponent = if 2f64.powi(exponent) > x.abs() { exponent - 1 } else { exponent };
    let unit = 2f64.powi(exponent.max(least) - digits);
    (x / unit).round_ties_even() * unit
}

/// A number as a type holds it; overflow to infinity for floats, saturation for integers.
pub fn held(kind: c_int, x: f64) -> f64 {
    match kind {
        F32 => x as f32 as f64,
        F64 => x,
        BF16 => rounded(x, 7, -126),
        F16 => {
            let r = rounded(x, 10, -14);
            if r.abs() > 65504.0 { r.signum() * f64::INFINITY } else { r }
        }
        I8 => x as i8 as f64,
        U8 => x as u8 as f64,
        I32 => x as i32 as f64,
        _ => x as i64 as f64,
    }
}

/// The bytes of a number that the type holds.
pub fn bytes(kind: c_int, x: f64) -> Vec<u8> {
    match kind {
        F32 => (x as f32).to_ne_bytes().to_vec(),
        F64 => x.to_ne_bytes().to_vec(),
        BF16 => (((x as f32).to_bits() >> 16) as u16).to_ne_bytes().to_vec(),
        F16 => half(x).to_ne_bytes().to_vec(),
        I8 => (x as i8).to_ne_bytes().to_vec(),
        U8 => (x as u8).to_ne_bytes().to_vec(),
        I32 => (x as i32).to_ne_bytes().to_vec(),
        _ => (x as i64).to_ne_bytes().to_vec(),
    }
}

/// The half that is exactly this number.
fn half(x: f64) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let x = x.abs();
    if x.is_infinite() {
        return sign | 0x7c00;
    }
    if x < 2f64.powi(-14) {
        return sign | (x * 2f64.powi(24)) as u16;
    }
    let exponent = (x as f32).to_bits() as i32 >> 23;
    let exponent = exponent - 127;
    let fraction = ((x / 2f64.powi(exponent) - 1.0) * 1024.0) as u16;
    sign | ((exponent + 15) as u16) << 10 | fraction
}

fn is_float(kind: c_int) -> bool {
    kind <= F16
}

/// In what a type's values are added.
fn work(kind: c_int, x: f64) -> f64 {
    if kind == F64 { x } else { x as f32 as f64 }
}

fn join(op: c_int, a: f64, b: f64) -> f64 {
    match op {
        SUM | AVERAGE => a + b,
        MIN => {
            if b < a {
                b
            } else {
                a
            }
        }
        MAX => {
            if b > a {
                b
            } else {
                a
            }
        }
        _ => a * b,
    }
}

/// The reduction of one element of all ranks, as the type holds it; `nodes` are the machines of the ranks. Over several
/// machines, what comes out of each (rounded to the type) is folded in their order; except for averages and scaled
/// values of integers, which need more bits and are folded in one go.
pub fn reduce(kind: c_int, op: c_int, pre: f64, post: f64, values: &[f64], nodes: &[usize]) -> Vec<u8> {
    let p = values.len();
    let exact = !is_float(kind) && (pre != 1.0 || post != 1.0 || op == AVERAGE);
    let mut groups: Vec<Vec<f64>> = Vec::new();
    let machines = nodes.iter().max().map_or(1, |n| n + 1);
    for machine in 0..machines {
        let of_it: Vec<f64> = (0..p).filter(|r| nodes[*r] == machine).map(|r| values[r]).collect();
        if !of_it.is_empty() {
            groups.push(of_it);
        }
    }
    if exact {
        groups = vec![values.to_vec()];
    }
    if is_float(kind) {
        let w = |x| work(kind, x);
        let (pre, post) = (w(pre), w(post));
        let several = groups.len() > 1;
        let of_machine = |values: &Vec<f64>| {
            let scaled = |v: f64| if pre == 1.0 { v } else { w(v * pre) };
            let all = values[1..].iter().fold(scaled(values[0]), |acc, v| w(join(op, acc, scaled(*v))));
            if several { held(kind, all) } else { all }
        };
        let parts: Vec<f64> = groups.iter().map(of_machine).collect();
        let mut acc = parts[1..].iter().fold(parts[0], |acc, v| w(join(op, acc, *v)));
        if post != 1.0 {
            acc = w(acc * post);
        }
        if op == AVERAGE {
            acc = w(acc / p as f64);
        }
        return bytes(kind, held(kind, acc));
    }
    if pre != 1.0 || post != 1.0 {
        let mut acc = values[0] * pre;
        for v in &values[1..] {
            acc = join(op, acc, v * pre);
        }
        acc *= post;
        if op == AVERAGE {
            acc /= p as f64;
        }
        return bytes(kind, held(kind, acc));
    }
    let mut acc = values[0] as i128;
    for v in &values[1..] {
        let v = *v as i128;
        acc = match op {
            SUM | AVERAGE => acc + v,
            MIN => acc.min(v),
            MAX => acc.max(v),
            _ => acc.wrapping_mul(v) as i64 as i128,
        };
    }
    if op == AVERAGE {
        acc = acc as i64 as i128 / p as i128;
    }
    match kind {
        I8 => (acc as i8).to_ne_bytes().to_vec(),
        U8 => (acc as u8).to_ne_bytes().to_vec(),
        I32 => (acc as i32).to_ne_bytes().to_vec(),
        _ => (acc as i64).to_ne_bytes().to_vec(),
    }
}

/// A value for rank r, element i of test `seed`, exactly as the type holds it: uneven numbers, both signs, many sizes.
pub fn value(kind: c_int, seed: u64, r: usize, i: usize) -> f64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (r as u64) << 40 ^ i as u64;
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    match kind {
        U8 => (x % 256) as f64,
        I8 => (x % 256) as f64 - 128.0,
        I32 => (x as i32) as f64,
        // f64 holds them.
        I64 => ((x >> 11) as i64 - (1 << 52)) as f64,
        _ => {
            let unit = (x >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            held(kind, unit * 2f64.powi((x % 12) as i32 - 6))
        }
    }
}

pub fn vector(kind: c_int, seed: u64, r: usize, n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| bytes(kind, value(kind, seed, r, i))).collect()
}
