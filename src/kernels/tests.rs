//! Every kernel of every instruction set that this machine has, against the definition, on small integers: sums of
//! products of those are exact in every type, so the comparison is for equality.

use super::simd::{RealSimd, Simd};
use super::solve::Diagonal;
use super::*;
use crate::matrix::Uplo;
use crate::scalar::Real;

/// Small integers in a fixed order that looks random.
struct Numbers(u64);
impl Numbers {
    fn next<T: Scalar>(&mut self) -> T {
        let mut part = || {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            T::Real::from_f64(((self.0 >> 40) % 7) as f64 - 3.0)
        };
        let re = T::from_real(part());
        if !T::IS_COMPLEX {
            return re;
        }
        re + imaginary::<T>().scale(part())
    }
    fn vec<T: Scalar>(&mut self, n: usize) -> Vec<T> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// The imaginary unit, made without naming the complex type: two reals in memory.
fn imaginary<T: Scalar>() -> T {
    assert!(T::IS_COMPLEX);
    let parts = [T::Real::ZERO, T::Real::ONE];
    // SAFETY: a complex scalar is two reals, `repr(C)`.
    unsafe { core::ptr::read_unaligned(parts.as_ptr().cast::<T>()) }
}

/// What a write outside its bounds would change.
fn marker<T: Scalar>() -> T {
    T::from_real(T::Real::from_f64(-777.0))
}

fn levels() -> impl Iterator<Item = &'static Table> {
    Isa::ALL.into_iter().filter(|&isa| isa <= cpu::detected()).map(table)
}

fn each_type(mut f: impl FnMut(&'static Table)) {
    let mut seen = 0;
    for table in levels() {
        f(table);
        seen += 1;
    }
    assert!(seen >= 1);
}

/// Blocks of every small size (all register tiles, whole and part), each operand packed and in place.
fn check_blocks<T: Scalar>(kernels: &Kernels<T>) {
    let kernel = kernels.gemm;
    let (mr, nr) = (kernel.mr(), kernel.nr());
    let mut numbers = Numbers(1);
    for m in (1..=mr + 1).chain([2 * mr - 1, 3 * mr]) {
        for n in (1..=13).chain([2 * nr, 3 * nr + 1]) {
            let k = (m * 5 + n) % 23;
            let (a, b) = (numbers.vec::<T>(m * k.max(1)), numbers.vec::<T>(k.max(1) * n));
            let alpha = if (m + n).is_multiple_of(3) { T::ONE } else { numbers.next::<T>() };
            let conj = (m + n).is_multiple_of(2);
            // A by columns and by rows, B by rows and by columns
            for (als, bls) in [(1, 1), (k.max(1), k.max(1)), (1, k.max(1))] {
                let aps = if als == 1 { m } else { 1 };
                let bps = if bls == 1 { n } else { 1 };
                let sum = |i: usize, j: usize| {
                    let term = |p: usize| a[i * als + p * aps].conj_if(conj) * b[j * bls + p * bps].conj_if(conj);
                    (0..k).fold(T::ZERO, |sum, p| sum + term(p))
                };
                let mut pa = vec![marker::<T>(); m.next_multiple_of(mr) * k];
                let mut pb = vec![marker::<T>(); n.next_multiple_of(nr) * k];
                let narrow = m.next_multiple_of(kernel.lanes());
                let mut pn = vec![marker::<T>(); narrow * k];
                let (als, aps, bls, bps) = (als as isize, aps as isize, bls as isize, bps as isize);
                // SAFETY: all buffers have the sizes that the contract asks for.
                unsafe {
                    kernel.pack_a(m, k, a.as_ptr(), als, aps, conj, pa.as_mut_ptr());
                    kernel.pack_b(n, k, b.as_ptr(), bls, bps, conj, pb.as_mut_ptr());
                    kernel.pack_narrow(m, k, a.as_ptr(), als, aps, conj, pn.as_mut_ptr());
                }
                let in_place = !conj || !T::IS_COMPLEX;
                let mut sources_a = vec![Source::panels(pa.as_ptr(), k, mr)];
                let mut sources_b = vec![Source::panels(pb.as_ptr(), k, nr)];
                if !T::IS_COMPLEX {
                    sources_a.push(Source::in_place(pn.as_ptr(), 1, narrow as isize));
                } else if m <= mr {
                    sources_a.push(Source::panels(pn.as_ptr(), k, narrow));
                }
                if in_place && als == 1 {
                    sources_a.push(Source::in_place(a.as_ptr(), 1, aps));
                }
                if in_place {
                    sources_b.push(Source::in_place(b.as_ptr(), bls, bps));
                }
                let ld = m + 3;
                let old = numbers.vec::<T>(ld * n);
                let poison = T::from_real(T::Real::from_f64(f64::NAN));
                for beta in [T::ZERO, T::ONE, numbers.next::<T>()] {
                    if m * n <= 12 {
                        let a = Strided { ptr: a.as_ptr(), lane: als, step: aps, conj };
                        let b = Strided { ptr: b.as_ptr(), lane: bls, step: bps, conj };
                        let mut c = if beta == T::ZERO { vec![poison; ld * n] } else { old.clone() };
                        for j in 0..n {
                            c[j * ld + m..(j + 1) * ld].fill(marker());
                        }
                        // SAFETY: as above.
                        unsafe { kernel.tiny(m, n, k, alpha, a, b, beta, c.as_mut_ptr(), ld as isize) };
                        for (j, column) in c.chunks(ld).enumerate() {
                            for i in 0..m {
                                let was = if beta == T::ZERO { T::ZERO } else { beta * old[j * ld + i] };
                                assert_eq!(column[i], alpha * sum(i, j) + was, "{} tiny {m}x{n}x{k}", kernels.name);
                            }
                            assert!(column[m..].iter().all(|&x| x == marker()), "{} tiny", kernels.name);
                        }
                    }
                    for &from_a in &sources_a {
                        for &from_b in &sources_b {
                            let mut c = if beta == T::ZERO { vec![poison; ld * n] } else { old.clone() };
                            for j in 0..n {
                                c[j * ld + m..(j + 1) * ld].fill(marker());
                            }
                            let mut one = c.clone();
                            let in_place = !from_a.packed && !from_b.packed;
                            let single = in_place && m <= kernels.single.0 && n <= kernels.single.1;
                            if single {
                                let to = one.as_mut_ptr();
                                // SAFETY: as above.
                                unsafe {
                                    kernel.single(n, &Tile::first(m, k, alpha, from_a, from_b, beta, to, ld as isize))
                                };
                            }
                            // SAFETY: as above.
                            unsafe { kernel.block(m, n, k, alpha, from_a, from_b, beta, c.as_mut_ptr(), ld as isize) };
                            for j in 0..n {
                                for i in 0..m {
                                    let was = if beta == T::ZERO { T::ZERO } else { beta * old[j * ld + i] };
                                    assert_eq!(
                                        c[j * ld + i],
                                        alpha * sum(i, j) + was,
                                        "{} {m}x{n}x{k} ({i},{j}) beta={beta:?} packed {} {}",
                                        kernels.name,
                                        from_a.packed,
                                        from_b.packed
                                    );
                                }
                                assert!(c[j * ld + m..(j + 1) * ld].iter().all(|&x| x == marker()), "{}", kernels.name);
                            }
                            assert!(!single || one == c, "{} {m}x{n}x{k} as a single tile", kernels.name);
                        }
                    }
                }
            }
        }
    }
}

/// Tiles of dot products, whole and not, in one piece and in several.
fn check_dots<T: Scalar>(kernels: &Kernels<T>) {
    let mut numbers = Numbers(4);
    for k in [1, 3, 16, 37, 2500] {
        for m in [1, 2, 4, 5, 11] {
            for n in [1, 2, 3, 4, 5, 6, 7, 16] {
                let (x_lane, y_lane) = (k + 1, k + 2);
                let (x, y) = (numbers.vec::<T>(m * x_lane), numbers.vec::<T>(n * y_lane));
                let len = 2 * (m + 1) * (n + 1);
                let (old, alpha) = (numbers.vec::<T>(len), numbers.next::<T>());
                // Rows at a distance, columns one behind the other, rows one behind the other.
                let layouts = [(2, 2 * m), (1, m + 1), (n + 1, 1)];
                for (beta, (rs, cs)) in [T::ZERO, T::ONE + T::ONE].into_iter().flat_map(|b| layouts.map(|l| (b, l))) {
                    let poison = T::from_real(T::Real::from_f64(f64::NAN));
                    let mut c = if beta == T::ZERO { vec![poison; len] } else { old.clone() };
                    let (from_x, from_y) = ((x.as_ptr(), x_lane as isize), (y.as_ptr(), y_lane as isize));
                    // SAFETY: m lanes of x, n of y, and C.
                    unsafe {
                        let strides = (rs as isize, cs as isize);
                        kernels.gemm.dots(m, n, k, alpha, from_x, from_y, beta, c.as_mut_ptr(), strides)
                    };
                    for j in 0..n {
                        for i in 0..m {
                            let sum = (0..k).fold(T::ZERO, |s, p| s + x[i * x_lane + p] * y[j * y_lane + p]);
                            let at = rs * i + cs * j;
                            let was = if beta == T::ZERO { T::ZERO } else { beta * old[at] };
                            assert_eq!(c[at], alpha * sum + was, "{} {m}x{n}x{k} ({i},{j})", kernels.name);
                        }
                    }
                }
            }
        }
    }
}

/// Lines turned into columns, of every small size, with nothing else touched.
fn check_turn<T: Scalar>(kernels: &Kernels<T>) {
    let mut numbers = Numbers(7);
    for lanes in (1..=19).chain([33, 40]) {
        for k in (1..=19).chain([31, 50]) {
            let (ss, ds) = (k + (k + lanes) % 3, lanes + lanes % 4);
            let src = numbers.vec::<T>(lanes * ss);
            let mut dst = vec![marker::<T>(); k * ds];
            // SAFETY: lanes lines of k elements, and k of lanes elements.
            unsafe { kernels.gemm.turn(lanes, k, src.as_ptr(), ss as isize, dst.as_mut_ptr(), ds as isize) };
            for (p, line) in dst.chunks(ds).enumerate() {
                for (l, &x) in line[..lanes].iter().enumerate() {
                    assert_eq!(x, src[l * ss + p], "{} {lanes} x {k} ({l},{p})", kernels.name);
                }
                assert!(line[lanes..].iter().all(|&x| x == marker()), "{} {lanes} x {k}", kernels.name);
            }
        }
    }
}

/// Rows become columns.
fn check_columns<V: RealSimd>(name: &str) {
    let numbers: Vec<V::T> = (0..8 * V::LANES).map(|i| V::T::from_f64(i as f64)).collect();
    let mut out = vec![V::T::ZERO; V::LANES];
    let mut check = |columns: [V; 8], n: usize| {
        for (c, column) in columns.into_iter().enumerate().take(n) {
            // SAFETY: as many numbers as a register has lanes.
            unsafe { column.store(out.as_mut_ptr()) };
            let wanted: Vec<V::T> = (0..V::LANES).map(|l| numbers[l * n + c]).collect();
            assert_eq!(out, wanted, "{name}: column {c} of {n}");
        }
    };
    // SAFETY: eight registers of numbers.
    unsafe {
        let rows: [V; 8] = core::array::from_fn(|i| V::load(numbers.as_ptr().add(i * V::LANES)));
        check(V::columns::<2>(rows), 2);
        check(V::columns::<3>(rows), 3);
        check(V::columns::<5>(rows), 5);
        check(V::columns::<7>(rows), 7);
    }
}

/// Four sums at once are those of each, bit for bit, of numbers whose sum depends on the order.
fn check_sums<V: Simd<T: Real>>(name: &str) {
    let at = |i: usize| V::T::from_f64(1.0 / (i as f64 * 1.37 + 0.7) * if i.is_multiple_of(3) { 1e4 } else { 1.0 });
    let numbers: Vec<V::T> = (0..4 * V::LANES).map(at).collect();
    // SAFETY: as many numbers as four registers have lanes.
    let (four, each) = unsafe {
        let all: [V; 4] = core::array::from_fn(|i| V::load(numbers.as_ptr().add(i * V::LANES)));
        (V::sum4(all), all.map(|v| v.sum()))
    };
    assert_eq!(four, each, "{name}");
}

#[test]
fn sums_and_columns() {
    check_sums::<generic::Lanes<f32, 8>>("generic");
    #[cfg(target_arch = "x86_64")]
    {
        if Isa::Avx2 <= cpu::detected() {
            check_sums::<avx2::F32x8>("avx2 f32");
            check_columns::<avx2::F32x8>("avx2 f32");
            check_sums::<avx2::F64x4>("avx2 f64");
            check_columns::<avx2::F64x4>("avx2 f64");
        }
        if Isa::Avx512 <= cpu::detected() {
            check_sums::<avx512::F32x16>("avx512 f32");
            check_columns::<avx512::F32x16>("avx512 f32");
            check_sums::<avx512::F64x8>("avx512 f64");
            check_columns::<avx512::F64x8>("avx512 f64");
        }
    }
}

/// A panel packed and unpacked is what it was, whatever the strides.
fn check_panels<T: Scalar>(kernels: &Kernels<T>) {
    let kernel = kernels.gemm;
    let (mr, nr) = (kernel.mr(), kernel.nr());
    let mut numbers = Numbers(2);
    for n in [1, 2, nr, nr + 1, 3 * nr - 1, 20] {
        for lanes in 1..=mr {
            for (ls, ps) in [(1, lanes as isize), (n as isize, 1), (2 * n as isize, 2)] {
                let b = numbers.vec::<T>(2 * lanes * n);
                let mut panel = vec![T::ZERO; mr * n];
                let mut x = vec![marker::<T>(); b.len()];
                // SAFETY: all buffers have the sizes that the contract asks for.
                unsafe {
                    kernel.pack_a(lanes, n, b.as_ptr(), ls, ps, false, panel.as_mut_ptr());
                    kernel.unpack_a(lanes, n, panel.as_ptr(), x.as_mut_ptr(), ls, ps);
                }
                for l in 0..lanes {
                    for p in 0..n {
                        let at = l * ls as usize + p * ps as usize;
                        assert_eq!(x[at], b[at], "{} unpack n={n} lanes={lanes}", kernels.name);
                    }
                }
            }
        }
    }
}

/// A solved panel times the triangle gives back the right-hand sides; a multiplied one is exact, the numbers are small
/// integers. Elements on the wrong side of the diagonal are poison.
fn check_triangles<T: Scalar>(kernels: &Kernels<T>) {
    let kernel = kernels.gemm;
    let (mr, nr) = (kernel.mr(), kernel.nr());
    let mut numbers = Numbers(4);
    let nan = T::from_real(T::Real::from_f64(f64::NAN));
    let two = T::ONE + T::ONE;
    for n in [1, 2, nr - 1, nr, nr + 1, 2 * nr, 3 * nr - 1] {
        for uplo in [Uplo::Upper, Uplo::Lower] {
            let inside = |l: usize, j: usize| if uplo == Uplo::Upper { l <= j } else { l >= j };
            let full: Vec<T> = (0..n * n).map(|i| if i % (n + 1) == 0 { two } else { numbers.next() }).collect();
            for diagonal in [Diagonal::Unit, Diagonal::Stored, Diagonal::Inverse, Diagonal::Divisor] {
                // U by the layout's description, element by element.
                let mut u = vec![nan; solve::panels(n, nr)];
                for j in 0..n {
                    let j0 = j / nr * nr;
                    let rows = if uplo == Uplo::Upper { 0..n.min(j0 + nr) } else { j0..n };
                    for (at, l) in rows.enumerate() {
                        let x = if l == j && diagonal == Diagonal::Inverse { T::ONE / two } else { full[l * n + j] };
                        if inside(l, j) && !(l == j && diagonal == Diagonal::Unit) {
                            u[solve::offset(n, nr, uplo, j0) + at * nr + j - j0] = x;
                        }
                    }
                }
                // The kernel's own packing fills in the same elements, from either order of storage.
                for (ls, ps) in [(1, n as isize), (n as isize, 1)] {
                    let mut from = vec![nan; n * n];
                    for (l, j) in (0..n).flat_map(|l| (0..n).map(move |j| (l, j))) {
                        if inside(l, j) && !(l == j && diagonal == Diagonal::Unit) {
                            from[j * ls as usize + l * ps as usize] = full[l * n + j];
                        }
                    }
                    let mut packed = vec![nan; u.len()];
                    let triangle = Triangle { n, u: packed.as_ptr(), uplo, diagonal };
                    // SAFETY: an n x n matrix, and room for the packed triangle.
                    unsafe { kernel.pack_triangle(triangle, from.as_ptr(), ls, ps, false, packed.as_mut_ptr()) };
                    for (x, y) in packed.iter().zip(&u) {
                        assert!(x == y || y.abs1().is_nan(), "{} pack n={n} {uplo:?} {diagonal:?}", kernels.name);
                    }
                }
                let entry =
                    |l: usize, j: usize| if l == j && diagonal == Diagonal::Unit { T::ONE } else { full[l * n + j] };
                let widths = [1, mr / 2, kernel.lanes(), kernel.lanes() + 1, mr - 1, mr];
                for lanes in widths.into_iter().filter(|&lanes| (1..=mr).contains(&lanes)) {
                    for alpha in [T::ONE, numbers.next()] {
                        let b = numbers.vec::<T>(lanes * n);
                        let mut panel = vec![T::ZERO; mr * n];
                        let mut x = vec![marker::<T>(); b.len()];
                        let solving = diagonal != Diagonal::Stored;
                        let mut run = |solving: bool| {
                            // SAFETY: all buffers have the sizes that the contract asks for.
                            unsafe {
                                kernel.pack_a(lanes, n, b.as_ptr(), 1, lanes as isize, false, panel.as_mut_ptr());
                                let u = Triangle { n, u: u.as_ptr(), uplo, diagonal };
                                let on = |x: *mut T, step: usize, packed: bool| {
                                    let rows = Rows { x, step: step as isize, lanes, packed };
                                    if solving { kernel.solve(u, alpha, rows) } else { kernel.multiply(u, alpha, rows) }
                                };
                                on(panel.as_mut_ptr(), mr, true);
                                kernel.unpack_a(lanes, n, panel.as_ptr(), x.as_mut_ptr(), 1, lanes as isize);
                                let any = !T::IS_COMPLEX && (lanes == kernel.lanes() || kernel.has_masks());
                                if lanes == mr || any {
                                    let mut here = vec![marker::<T>(); (lanes + 1) * n];
                                    for (i, &v) in b.iter().enumerate() {
                                        here[i / lanes * (lanes + 1) + i % lanes] = v;
                                    }
                                    on(here.as_mut_ptr(), lanes + 1, false);
                                    for (i, &v) in here.iter().enumerate() {
                                        let (j, l) = (i / (lanes + 1), i % (lanes + 1));
                                        assert!(v == if l < lanes { x[j * lanes + l] } else { marker() }, "in place");
                                    }
                                }
                            }
                            x.clone()
                        };
                        let at = format!("{} n={n} lanes={lanes} {uplo:?} {diagonal:?} {alpha:?}", kernels.name);
                        if solving {
                            let x = run(true);
                            for (j, l) in (0..n).flat_map(|j| (0..lanes).map(move |l| (j, l))) {
                                let (mut sum, mut size) = (T::ZERO, T::Real::ONE);
                                for p in (0..n).filter(|&p| inside(p, j)) {
                                    sum += x[p * lanes + l] * entry(p, j);
                                    size += x[p * lanes + l].abs1() * entry(p, j).abs1();
                                }
                                let residual = (sum - alpha * b[j * lanes + l]).abs1();
                                let bound = size * T::Real::EPSILON * T::Real::from_f64(4.0 * (n + 4) as f64);
                                assert!(residual <= bound, "solve {at} ({l},{j})");
                            }
                        }
                        if matches!(diagonal, Diagonal::Unit | Diagonal::Stored) {
                            let x = run(false);
                            for (j, l) in (0..n).flat_map(|j| (0..lanes).map(move |l| (j, l))) {
                                let mut sum = T::ZERO;
                                for p in (0..n).filter(|&p| inside(p, j)) {
                                    sum += b[p * lanes + l] * entry(p, j);
                                }
                                assert_eq!(x[j * lanes + l], alpha * sum, "multiply {at} ({l},{j})");
                            }
                        }
                    }
                }
            }
        }
    }
}

fn check_lines<T: Scalar>(kernels: &Kernels<T>) {
    let kernel = kernels.lines;
    let mut numbers = Numbers(3);
    for n in (0..70).chain([127, 128, 129, 300]) {
        let x: [Vec<T>; 1] = [numbers.vec(n)];
        let y = numbers.vec::<T>(n);
        let alpha = numbers.next::<T>();
        let beta = numbers.next::<T>();
        let (c, s) = (T::Real::from_f64(2.0), T::Real::from_f64(-3.0));
        let name = kernels.name;
        // The result of an operation on a copy of y that has a marker behind it.
        let on = |f: &dyn Fn(*mut T)| {
            let mut out = y.clone();
            out.push(marker());
            f(out.as_mut_ptr());
            assert_eq!(out.pop(), Some(marker()), "{name} n={n}");
            out
        };
        let from = x[0].as_ptr();
        for conj in [false, true] {
            let dot = (0..n).fold(T::ZERO, |sum, i| sum + x[0][i].conj_if(conj) * y[i]);
            let axpy: Vec<T> = (0..n).map(|i| y[i] + alpha * x[0][i].conj_if(conj)).collect();
            // SAFETY: all vectors have n elements.
            unsafe {
                assert_eq!(on(&|p| kernel.axpy(n, alpha, from, conj, p)), axpy, "{name} axpy n={n}");
                assert_eq!(kernel.dot(n, from, conj, y.as_ptr()), dot, "{name} dot n={n}");
            }
        }
        let map = |f: &dyn Fn(usize) -> T| (0..n).map(f).collect::<Vec<T>>();
        // SAFETY: as above.
        unsafe {
            assert_eq!(on(&|p| kernel.scal(n, beta, p)), map(&|i| beta * y[i]), "{name} scal n={n}");
            assert_eq!(on(&|p| kernel.scal_real(n, s, p)), map(&|i| y[i].scale(s)), "{name} scal_real n={n}");
            let axpby = |i: usize| alpha * x[0][i] + beta * y[i];
            assert_eq!(on(&|p| kernel.axpby(n, alpha, from, beta, p)), map(&axpby), "{name} axpby n={n}");
            assert_eq!(on(&|p| kernel.copy(n, from, p)), x[0], "{name} copy n={n}");
            let mut other = x[0].clone();
            assert_eq!(on(&|p| kernel.swap(n, other.as_ptr().cast_mut(), p)), x[0], "{name} swap n={n}");
            assert_eq!(other, y, "{name} swap n={n}");
            other = x[0].clone();
            let rotated = on(&|p| kernel.rot(n, other.as_ptr().cast_mut(), p, c, s));
            assert_eq!(rotated, map(&|i| y[i].scale(c) - x[0][i].scale(s)), "{name} rot n={n}");
            assert_eq!(other, map(&|i| x[0][i].scale(c) + y[i].scale(s)), "{name} rot n={n}");
            let sum = y.iter().fold(T::Real::ZERO, |sum, v| sum + v.abs1());
            assert_eq!(kernel.asum(n, y.as_ptr()), sum, "{name} asum n={n}");
            let squares = y.iter().fold(T::Real::ZERO, |sum, v| sum + v.re() * v.re() + v.im() * v.im());
            assert_eq!(kernel.sum_squares(n, y.as_ptr()), squares.to_f64(), "{name} sum_squares n={n}");
            if n > 0 {
                let most = (1..n).fold(0, |best, i| if y[i].abs1() > y[best].abs1() { i } else { best });
                assert_eq!(kernel.iamax(n, y.as_ptr()), most, "{name} iamax n={n}");
            }
        }
    }
}

/// A NaN anywhere but at the front is not the largest, wherever the largest stands.
fn check_iamax<T: Scalar>(kernels: &Kernels<T>) {
    let nan = T::from_real(T::Real::from_f64(f64::NAN));
    for n in (1..70).chain([1023, 1024, 1025, 3000]) {
        for at in [0, n / 3, n / 2, n - 1] {
            let mut x = vec![T::ONE; n];
            if n > 1 {
                x[1..].fill(nan);
            }
            x[at] = T::ONE + T::ONE;
            // SAFETY: n elements, of which the first is not NaN.
            assert_eq!(unsafe { kernels.lines.iamax(n, x.as_ptr()) }, at, "{} n={n}", kernels.name);
        }
    }
}

/// Matrices of level 2 in all storages, with NaN wherever nothing is stored: a kernel that reads outside its lines, or lets
/// a zero times a NaN in, shows it.
fn check_sweeps<T: Scalar>(kernels: &Kernels<T>) {
    use crate::matrix::{Axis, Layout, Uplo};
    let kernel = kernels.lines;
    let nan = T::from_real(T::Real::from_f64(f64::NAN));
    let mut numbers = Numbers(4);
    let element = |a: &Lines<T>, i: usize, j: usize| {
        let (line, at) = if a.axis() == Axis::Cols { (j, i) } else { (i, j) };
        let (lo, values) = a.line(line);
        if at < lo || at >= lo + values.len() { T::ZERO } else { values.get(at - lo).conj_if(a.is_conj()) }
    };
    // Writes small numbers into what a view stores; everything else stays NaN.
    let mut filled = |lines: &dyn Fn(*const T) -> Lines<'static, T>| {
        let mut data = vec![nan; 64 * 64];
        let view = lines(data.as_ptr());
        for j in 0..view.lines() {
            let (_, line) = view.line(j);
            let at = (line.ptr() as usize - data.as_ptr() as usize) / size_of::<T>();
            for k in 0..line.len() {
                data[at + k] = numbers.next();
            }
        }
        data
    };
    let vector = |n: usize, seed: u64| Numbers(seed).vec::<T>(n);
    let alpha = vector(1, 5)[0] + T::ONE + T::ONE + T::ONE + T::ONE;
    for (m, n) in [(1, 1), (2, 3), (5, 4), (8, 8), (9, 17), (17, 9), (3, 40), (40, 3), (33, 34), (37, 50), (50, 37)] {
        for (kl, ku) in [(usize::MAX, 0), (0, 0), (1, 2), (2, 0), (7, 9), (9, 40)] {
            for (transposed, conj) in [(false, false), (false, true), (true, false), (true, true)] {
                let view = |p: *const T| {
                    // SAFETY: the buffer has room for the largest of them.
                    let a = unsafe {
                        if kl == usize::MAX {
                            Lines::full(p, m, n, m + 1, Layout::ColMajor)
                        } else {
                            Lines::band(p, m, n, kl, ku, kl + ku + 2, Layout::ColMajor)
                        }
                    };
                    let a = if transposed { a.t() } else { a };
                    if conj { a.conj() } else { a }
                };
                let data = filled(&|p| view(p));
                let a = view(data.as_ptr());
                let (x, y) = (vector(a.cols(), 6), vector(a.rows(), 7));
                let want: Vec<T> = (0..a.rows())
                    .map(|i| y[i] + alpha * (0..a.cols()).fold(T::ZERO, |sum, j| sum + element(&a, i, j) * x[j]))
                    .collect();
                for cut in [0, a.rows() / 2] {
                    let mut got = y.clone();
                    // Lines of few vectors are only ever computed whole.
                    let cut = if a.rows() < 64 && !transposed && kl == usize::MAX { 0 } else { cut };
                    // SAFETY: matrix and vectors as they were made.
                    unsafe {
                        if cut > 0 {
                            kernel.mv(alpha, &a, x.as_ptr(), got.as_mut_ptr(), 0, cut);
                        }
                        kernel.mv(alpha, &a, x.as_ptr(), got.as_mut_ptr(), cut, a.rows());
                    }
                    assert_eq!(got, want, "{} mv {m}x{n} kl={kl} ku={ku} t={transposed} c={conj}", kernels.name);
                }
            }
        }
        for (uplo, transposed) in [(Uplo::Upper, false), (Uplo::Upper, true), (Uplo::Lower, false), (Uplo::Lower, true)]
        {
            for k in [usize::MAX, usize::MAX - 1, 0, 1, 2, 5, 11, 60] {
                let view = |p: *const T| {
                    // SAFETY: as above.
                    let a = unsafe {
                        match k {
                            usize::MAX => Lines::triangle(p, n, n + 1, uplo, Layout::ColMajor),
                            k if k == usize::MAX - 1 => Lines::packed(p, n, uplo, Layout::ColMajor),
                            _ => Lines::triangle_band(p, n, k, (k + 2).min(63), uplo, Layout::ColMajor),
                        }
                    };
                    if transposed { a.t() } else { a }
                };
                if k < 64 && (k + 2) * n > 64 * 64 {
                    continue;
                }
                let data = filled(&|p| view(p));
                let at = format!("{} n={n} {uplo:?} k={k} t={transposed}", kernels.name);
                let a = view(data.as_ptr());
                let (x, y) = (vector(n, 8), vector(n, 9));
                for hermitian in [false, true] {
                    let whole = |i: usize, j: usize| {
                        let stored = (if transposed { i > j } else { i < j }) == (uplo == Uplo::Upper);
                        let v = if i == j || stored { element(&a, i, j) } else { element(&a, j, i).conj_if(hermitian) };
                        if i == j && hermitian { T::from_real(v.re()) } else { v }
                    };
                    let want: Vec<T> = (0..n)
                        .map(|i| y[i] + alpha * (0..n).fold(T::ZERO, |sum, j| sum + whole(i, j) * x[j]))
                        .collect();
                    let mut got = y.clone();
                    // SAFETY: as above.
                    unsafe { kernel.sym_mv(alpha, &a, hermitian, x.as_ptr(), got.as_mut_ptr(), 0, n) };
                    assert_eq!(got, want, "sym_mv {at} hermitian={hermitian}");
                }
                for diag in [Diag::Stored, Diag::Unit] {
                    let value =
                        |i: usize, j: usize| if i == j && diag == Diag::Unit { T::ONE } else { element(&a, i, j) };
                    let want: Vec<T> =
                        (0..n).map(|i| (0..n).fold(T::ZERO, |sum, j| sum + value(i, j) * x[j])).collect();
                    let mut got = x.clone();
                    // SAFETY: as above.
                    unsafe { kernel.tri_mv(&a, diag, got.as_mut_ptr()) };
                    assert_eq!(got, want, "tri_mv {at} {diag:?}");
                    if diag == Diag::Unit && n <= 9 {
                        // Integers all the way: the solution is x again.
                        // SAFETY: as above.
                        unsafe { kernel.tri_sv(&a, diag, got.as_mut_ptr()) };
                        assert_eq!(got, x, "tri_sv {at}");
                    }
                }
                if k < usize::MAX - 1 {
                    continue;
                }
                for (beta, hermitian) in [(None, false), (None, true), (Some(alpha), false), (Some(alpha), true)] {
                    let mut written = data.clone();
                    let y = if beta.is_some() { &y } else { &x };
                    let p = written.as_mut_ptr();
                    // SAFETY: as above.
                    unsafe {
                        kernel.rank_update(alpha, beta, x.as_ptr(), y.as_ptr(), hermitian, &view(p), 0, n);
                    }
                    let new = view(written.as_ptr());
                    for i in 0..n {
                        for j in 0..n {
                            let stored = i == j || (if transposed { i > j } else { i < j }) == (uplo == Uplo::Upper);
                            let first = alpha * x[i] * y[j].conj_if(hermitian);
                            let second = beta.map_or(T::ZERO, |b| b * y[i] * x[j].conj_if(hermitian));
                            let mut want = element(&a, i, j) + first + second;
                            if i == j && hermitian {
                                want = T::from_real(want.re());
                            }
                            if stored {
                                assert_eq!(element(&new, i, j), want, "rank_update {at} ({i}, {j})");
                            }
                        }
                    }
                    let same = |(old, new): (&T, &T)| old.abs1().is_nan() == new.abs1().is_nan();
                    assert!(data.iter().zip(&written).all(same), "rank_update {at} wrote outside");
                }
            }
        }
        let (x, y) = (vector(m, 10), vector(n, 11));
        let mut data = vec![T::ONE; (m + 1) * n];
        // SAFETY: as above.
        unsafe {
            let p = data.as_mut_ptr();
            kernel.ger(m, n, alpha, x.as_ptr(), true, y.as_ptr(), 1, false, p, m as isize + 1);
        }
        for j in 0..n {
            for i in 0..=m {
                let want = if i < m { alpha * x[i].conj() * y[j] + T::ONE } else { T::ONE };
                assert_eq!(data[j * (m + 1) + i], want, "{} ger {m}x{n}", kernels.name);
            }
        }
    }
}

macro_rules! for_all_types {
    ($($name:ident: $check:ident;)*) => {$(
        #[test]
        fn $name() {
            each_type(|t| {
                $check(&t.f32);
                $check(&t.f64);
                $check(&t.c32);
                $check(&t.c64);
            });
        }
    )*};
}
for_all_types! {
    blocks_compute_their_definition_at_every_size: check_blocks;
    dots_compute_their_definition: check_dots;
    lines_turn_into_columns: check_turn;
    panels_survive_packing: check_panels;
    triangles_are_solved_and_multiplied: check_triangles;
    lines_compute_their_definition_at_every_length: check_lines;
    largest_magnitudes_are_found_among_nans: check_iamax;
    sweeps_compute_their_definition_in_every_storage: check_sweeps;
}
