//! Every kernel of every instruction set that this machine has, against the definition, on small integers: sums of
//! products of those are exact in every type, so the comparison is for equality.

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
            let alpha = numbers.next::<T>();
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
                let (als, aps, bls, bps) = (als as isize, aps as isize, bls as isize, bps as isize);
                // SAFETY: all buffers have the sizes that the contract asks for.
                unsafe {
                    kernel.pack_a(m, k, a.as_ptr(), als, aps, conj, pa.as_mut_ptr());
                    kernel.pack_b(n, k, b.as_ptr(), bls, bps, conj, pb.as_mut_ptr());
                }
                let in_place = !conj || !T::IS_COMPLEX;
                let mut sources_a = vec![Source::panels(pa.as_ptr(), k, mr)];
                let mut sources_b = vec![Source::panels(pb.as_ptr(), k, nr)];
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
                    for &from_a in &sources_a {
                        for &from_b in &sources_b {
                            let mut c = if beta == T::ZERO { vec![poison; ld * n] } else { old.clone() };
                            for j in 0..n {
                                c[j * ld + m..(j + 1) * ld].fill(marker());
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
                        }
                    }
                }
            }
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
                for lanes in [1, mr / 2, mr].into_iter().filter(|&lanes| lanes > 0) {
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
                                if lanes == mr {
                                    let mut here = vec![marker::<T>(); (mr + 1) * n];
                                    for (i, &v) in b.iter().enumerate() {
                                        here[i / mr * (mr + 1) + i % mr] = v;
                                    }
                                    on(here.as_mut_ptr(), mr + 1, false);
                                    for (i, &v) in here.iter().enumerate() {
                                        let (j, l) = (i / (mr + 1), i % (mr + 1));
                                        assert!(v == if l < mr { x[j * mr + l] } else { marker() }, "in place");
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
        let x: [Vec<T>; 4] = core::array::from_fn(|_| numbers.vec(n));
        let y = numbers.vec::<T>(n);
        let alpha: [T; 4] = core::array::from_fn(|_| numbers.next());
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
        let pointers = [x[0].as_ptr(), x[1].as_ptr(), x[2].as_ptr(), x[3].as_ptr()];
        for conj in [false, true] {
            let dot = |v: &[T]| (0..n).fold(T::ZERO, |sum, i| sum + v[i].conj_if(conj) * y[i]);
            let axpy = |terms: usize| -> Vec<T> {
                (0..n).map(|i| (0..terms).fold(y[i], |sum, l| sum + alpha[l] * x[l][i].conj_if(conj))).collect()
            };
            // SAFETY: all vectors have n elements.
            unsafe {
                assert_eq!(on(&|p| kernel.axpy(n, alpha[0], pointers[0], conj, p)), axpy(1), "{name} axpy n={n}");
                let (two, p2) = ([alpha[0], alpha[1]], [pointers[0], pointers[1]]);
                assert_eq!(on(&|p| kernel.axpy2(n, two, p2, conj, p)), axpy(2), "{name} axpy2 n={n}");
                assert_eq!(on(&|p| kernel.axpy4(n, alpha, pointers, conj, p)), axpy(4), "{name} axpy4 n={n}");
                assert_eq!(kernel.dot(n, pointers[0], conj, y.as_ptr()), dot(&x[0]), "{name} dot n={n}");
                assert_eq!(kernel.dot1(n, pointers[0], conj, y.as_ptr()), dot(&x[0]), "{name} dot1 n={n}");
                let four = kernel.dot4(n, pointers, conj, y.as_ptr());
                assert_eq!(four.to_vec(), x.iter().map(|v| dot(v)).collect::<Vec<_>>(), "{name} dot4 n={n}");
                for conj_dot in [false, true] {
                    let sum = core::cell::Cell::new(T::ZERO);
                    let out = on(&|p| {
                        let a = pointers[0];
                        sum.set(kernel.axpy_dot(n, a, conj, alpha[0], p, conj_dot, pointers[1]));
                    });
                    let want = (0..n).fold(T::ZERO, |sum, i| sum + x[0][i].conj_if(conj_dot) * x[1][i]);
                    assert_eq!((out, sum.get()), (axpy(1), want), "{name} axpy_dot n={n}");
                    let sums = core::cell::Cell::new([T::ZERO; 4]);
                    let out = on(&|p| {
                        sums.set(kernel.axpy_dot4(n, pointers, conj, alpha, p, conj_dot, pointers[1]));
                    });
                    let want: [T; 4] = core::array::from_fn(|l| {
                        (0..n).fold(T::ZERO, |sum, i| sum + x[l][i].conj_if(conj_dot) * x[1][i])
                    });
                    assert_eq!((out, sums.get()), (axpy(4), want), "{name} axpy_dot4 n={n}");
                }
            }
        }
        let map = |f: &dyn Fn(usize) -> T| (0..n).map(f).collect::<Vec<T>>();
        // SAFETY: as above.
        unsafe {
            assert_eq!(on(&|p| kernel.scal(n, beta, p)), map(&|i| beta * y[i]), "{name} scal n={n}");
            assert_eq!(on(&|p| kernel.scal_real(n, s, p)), map(&|i| y[i].scale(s)), "{name} scal_real n={n}");
            let axpby = |i: usize| alpha[0] * x[0][i] + beta * y[i];
            assert_eq!(on(&|p| kernel.axpby(n, alpha[0], pointers[0], beta, p)), map(&axpby), "{name} axpby n={n}");
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
            let most = y.iter().fold(T::Real::ZERO, |most, v| if v.abs1() > most { v.abs1() } else { most });
            assert_eq!(kernel.max_abs1(n, y.as_ptr()), most, "{name} max_abs1 n={n}");
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
    panels_survive_packing: check_panels;
    triangles_are_solved_and_multiplied: check_triangles;
    lines_compute_their_definition_at_every_length: check_lines;
}
