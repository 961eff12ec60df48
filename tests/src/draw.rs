//! Drawing random operands: sizes, strides, matrices of every kind and shape.

use crate::library::foreign;
use crate::problem::{Arg, Order, Problem, SLACK, Solve, Want};
use crate::rng::Rng;
use crate::scalar::{Product, Scalar, Z, product};
use std::collections::VecDeque;

/// How large the problems of a run are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Up to about 70, zero and one included.
    Usual,
    /// Odd sizes up to about 300: several blocks and tails in each direction.
    Large,
    /// Sizes past every block size, for the fast oracle.
    Huge,
    /// From 256 on, where the triangles of level 2 are cut: in two, in halves of halves, in four.
    Cut,
    /// Two by two at most: for calls that must cost nothing.
    Tiny,
    /// Each dimension either a few or up to 200: few rows, columns or steps of many.
    Slender,
    /// Five to seven: for operands that are stretched over the address space.
    Few,
}

/// A source of random choices. Options (trans, uplo, ...) are not random: they
/// are the digits of `combo`, so that a driver can walk through all of them.
pub struct Draw {
    pub rng: Rng,
    pub order: Order,
    pub size: Size,
    combo: u64,
    /// Product of the number of options seen: how many combos there are.
    pub combos: u64,
    /// Only finite, non-zero alpha and beta: for tests that compare bits.
    pub plain: bool,
    /// Coefficients to be used first, in the order of the arguments.
    pub preset: VecDeque<Z>,
}

impl Draw {
    pub fn new(seed: u64, order: Order, size: Size, combo: u64) -> Draw {
        Draw {
            rng: Rng::new(seed ^ combo.wrapping_mul(0x9e37_79b9)),
            order,
            size,
            combo,
            combos: 1,
            plain: false,
            preset: VecDeque::new(),
        }
    }

    /// The next option.
    pub fn option(&mut self, of: &[u8]) -> u8 {
        let n = of.len() as u64;
        let c = of[(self.combo % n) as usize];
        self.combo /= n;
        self.combos *= n;
        c
    }

    pub fn dim(&mut self) -> usize {
        // The reference CBLAS loops for ever on some empty operands.
        let least = foreign() as usize;
        self.any_dim().max(least)
    }

    fn any_dim(&mut self) -> usize {
        match self.size {
            Size::Usual => match self.rng.below(8) {
                0 => self.rng.range(0, 2),
                1..=3 => self.rng.range(1, 16),
                4 | 5 => self.rng.range(7, 40),
                _ => self.rng.range(17, 70),
            },
            Size::Large => self.rng.range(80, 150) * 2 + 1,
            Size::Huge => self.rng.pick(&[33, 261, 389, 517]),
            Size::Cut => match self.rng.range(0, 7) {
                0 => self.rng.range(1024, 1100),
                1 | 2 => self.rng.range(512, 600),
                _ => self.rng.range(256, 300),
            },
            Size::Tiny => self.rng.range(1, 2),
            Size::Slender if self.rng.below(2) == 0 => self.rng.range(1, 12),
            Size::Slender => self.rng.range(24, 200),
            Size::Few => self.rng.range(5, 7),
        }
    }

    /// A length for level 1: now and then a long one.
    pub fn length(&mut self) -> usize {
        match self.size {
            Size::Usual if self.rng.below(8) == 0 => self.rng.range(100, 5000),
            Size::Usual => self.dim(),
            Size::Large => self.rng.range(5000, 40000),
            Size::Huge => self.rng.range(100_000, 300_000),
            Size::Cut | Size::Tiny | Size::Slender | Size::Few => self.dim(),
        }
    }

    /// A leading dimension of at least `min` (and at least 1).
    pub fn ld(&mut self, min: usize) -> usize {
        if self.size == Size::Cut && self.rng.below(2) == 0 {
            // Lines that are pages apart meet in the same sets of a cache, which some kernels avoid.
            return min.max(1).next_multiple_of(1024);
        }
        min.max(1) + self.rng.pick(&[0, 0, 1, 3, 7])
    }

    /// A legal increment other than zero.
    pub fn inc(&mut self) -> i64 {
        self.rng.pick(&[1, 1, 1, 2, 3, -1, -1, -2, -5])
    }

    /// An increment that may be zero.
    pub fn any_inc(&mut self) -> i64 {
        self.rng.pick(&[1, 1, 1, 2, 3, -1, -1, -2, -5, 0])
    }

    /// alpha or beta.
    pub fn coef<T: Scalar>(&mut self) -> Z {
        if let Some(z) = self.preset.pop_front() {
            return z;
        }
        let choice = if self.plain { 9 } else { self.rng.below(14) };
        match choice {
            0 | 1 => Z::ZERO,
            2 | 3 => Z::ONE,
            4 => -Z::ONE,
            5 => T::round(Z::new(f64::NAN, if self.rng.below(2) == 0 { 0.0 } else { 1.5 })),
            6 if T::COMPLEX => T::round(Z::new(0.0, self.rng.real())),
            _ => self.rng.value::<T>(),
        }
    }

    /// A real alpha or beta.
    pub fn real_coef<T: Scalar>(&mut self) -> f64 {
        self.coef::<T::Real>().re
    }

    /// Trans options: real routines take C as T.
    pub fn trans(&mut self) -> u8 {
        self.option(b"NTC")
    }

    pub fn uplo(&mut self) -> u8 {
        self.option(b"UL")
    }

    pub fn diag(&mut self) -> u8 {
        self.option(b"NU")
    }
}

/// What a matrix is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    General,
    Symmetric(u8),
    Hermitian(u8),
    /// uplo, diag
    Triangular(u8, u8),
    /// As Triangular, with a diagonal that keeps solutions of moderate size.
    Solvable(u8, u8),
}

/// How it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    Full,
    Band {
        kl: usize,
        ku: usize,
    },
    Packed(u8),
    /// A vector with an increment.
    Vector(i64),
}

/// An operand: its buffer in the problem and its mathematical value.
#[derive(Clone)]
pub struct Operand {
    pub rows: usize,
    pub cols: usize,
    pub ld: usize,
    pub buf: usize,
    /// All elements, implied ones too, row after row.
    pub full: Vec<Z>,
    kind: Kind,
    shape: Shape,
    order: Order,
}

impl Operand {
    pub fn at(&self, i: usize, j: usize) -> Z {
        self.full[i * self.cols + j]
    }

    pub fn inc(&self) -> i64 {
        match self.shape {
            Shape::Vector(inc) => inc,
            _ => panic!("not a vector"),
        }
    }

    /// Where element (i, j) lies in the buffer, if it is stored there.
    pub fn index(&self, i: usize, j: usize) -> Option<usize> {
        let inside = match self.kind {
            Kind::General => true,
            Kind::Symmetric(u) | Kind::Hermitian(u) => in_triangle(u, i, j),
            Kind::Triangular(u, d) | Kind::Solvable(u, d) => in_triangle(u, i, j) && !(d == b'U' && i == j),
        };
        if !inside {
            return None;
        }
        let col = self.order == Order::Col;
        Some(match self.shape {
            Shape::Full if col => i + j * self.ld,
            Shape::Full => i * self.ld + j,
            Shape::Band { kl, ku } => {
                if i > j + kl || j > i + ku {
                    return None;
                }
                if col { ku + i - j + j * self.ld } else { kl + j - i + i * self.ld }
            }
            Shape::Packed(u) => {
                let n = self.rows;
                // Column-major upper is row-major lower with i and j swapped.
                let (i, j, upper) = if col { (i, j, u == b'U') } else { (j, i, u == b'L') };
                if upper { i + j * (j + 1) / 2 } else { i + j * (2 * n - j - 1) / 2 }
            }
            Shape::Vector(inc) if inc < 0 => (self.rows - 1 - i) * inc.unsigned_abs() as usize,
            Shape::Vector(inc) => i * inc as usize,
        })
    }

    /// The least leading dimension.
    fn lead(&self) -> usize {
        match self.shape {
            Shape::Full if self.order == Order::Col => self.rows,
            Shape::Full => self.cols,
            Shape::Band { kl, ku } => kl + ku + 1,
            _ => 0,
        }
    }

    /// Elements that the buffer must hold, and not one more.
    fn buffer_len(&self) -> usize {
        let (r, c) = (self.rows, self.cols);
        if r == 0 || c == 0 {
            return 0;
        }
        let col = self.order == Order::Col;
        match self.shape {
            Shape::Full if col => (c - 1) * self.ld + r,
            Shape::Full => (r - 1) * self.ld + c,
            Shape::Band { kl, ku } => (if col { c } else { r } - 1) * self.ld + kl + ku + 1,
            Shape::Packed(_) => r * (r + 1) / 2,
            Shape::Vector(inc) => (r - 1) * inc.unsigned_abs() as usize + 1,
        }
    }

    /// op(A), row after row.
    pub fn op(&self, trans: u8) -> Vec<Z> {
        let (r, c) = (self.rows, self.cols);
        match trans {
            b'N' => self.full.clone(),
            b'R' => self.full.iter().map(|z| z.conj()).collect(),
            _ => (0..r * c)
                .map(|x| {
                    let z = self.full[x % r * c + x / r];
                    if trans == b'C' { z.conj() } else { z }
                })
                .collect(),
        }
    }
}

pub fn in_triangle(uplo: u8, i: usize, j: usize) -> bool {
    if uplo == b'U' { i <= j } else { i >= j }
}

impl<T: Scalar> Problem<T> {
    /// Adds an operand of random values. What is not stored (the other
    /// triangle, the corners of a band, the padding between columns, the
    /// imaginary part of a Hermitian diagonal, a unit diagonal) is NaN.
    pub fn operand(&mut self, g: &mut Draw, rows: usize, cols: usize, kind: Kind, shape: Shape) -> Operand {
        let mut a = Operand {
            rows,
            cols,
            ld: 0,
            buf: usize::MAX,
            full: vec![Z::ZERO; rows * cols],
            kind,
            shape,
            order: g.order,
        };
        a.ld = g.ld(a.lead());
        a.buf = self.alloc(a.buffer_len());
        for i in 0..rows {
            for j in 0..cols {
                let Some(x) = a.index(i, j) else { continue };
                let mut v = g.rng.value::<T>();
                if let Kind::Solvable(..) = kind {
                    let scale = 1.0 / rows as f64;
                    v = if i == j {
                        v + Z::real(if v.re < 0.0 { -1.0 } else { 1.0 })
                    } else {
                        Z::new(v.re * scale, v.im * scale)
                    };
                    v = T::round(v);
                }
                if let (Kind::Hermitian(_), true) = (kind, i == j) {
                    self.bufs[a.buf].data[x] = T::new(Z::new(v.re, f64::NAN));
                    v.im = 0.0;
                } else {
                    self.bufs[a.buf].data[x] = T::new(v);
                }
                a.full[i * cols + j] = v;
                match kind {
                    Kind::Symmetric(_) => a.full[j * cols + i] = v,
                    Kind::Hermitian(_) => a.full[j * cols + i] = if i == j { v } else { v.conj() },
                    _ => {}
                }
            }
        }
        if let Kind::Triangular(_, b'U') | Kind::Solvable(_, b'U') = kind {
            (0..rows).for_each(|i| a.full[i * cols + i] = Z::ONE);
        }
        // Increment zero: every element is the one that was written last.
        if let (Shape::Vector(0), true) = (shape, rows > 0) {
            let v = self.bufs[a.buf].data[0].z();
            a.full.fill(v);
        }
        a
    }

    pub fn general(&mut self, g: &mut Draw, rows: usize, cols: usize) -> Operand {
        self.operand(g, rows, cols, Kind::General, Shape::Full)
    }

    pub fn vector(&mut self, g: &mut Draw, n: usize, inc: i64) -> Operand {
        self.operand(g, n, 1, Kind::General, Shape::Vector(inc))
    }

    /// Appends the leading dimension argument.
    pub fn ld(&mut self, a: &Operand) -> &mut Self {
        self.args.push(Arg::Ld(a.ld as i64, a.lead().max(1) as i64));
        self
    }

    /// Lays an operand out again with another leading dimension.
    pub fn relay(&mut self, a: &mut Operand, ld: usize) {
        a.ld = ld;
        let mut data = vec![T::poison(); a.buffer_len()];
        for i in 0..a.rows {
            for j in 0..a.cols {
                data[a.index(i, j).unwrap()] = T::new(a.at(i, j));
            }
        }
        self.bufs[a.buf].data = data;
    }

    /// Makes all stored elements NaN: an operand that is written, not read.
    pub fn clobber(&mut self, a: &Operand) {
        self.bufs[a.buf].data.fill(T::poison());
    }

    pub fn want(&mut self, c: &Operand, i: usize, j: usize, want: Want) {
        let x = c.index(i, j).expect("only stored elements are outputs");
        self.bufs[c.buf].want.push((x, want));
    }

    /// Expects `c := alpha * a * b + beta * c` in all stored elements, where
    /// `a` is m by k and `b` is k by n. `widen` widens the bound (gemm3m).
    #[allow(clippy::too_many_arguments)]
    pub fn expect_product(&mut self, c: &Operand, k: usize, alpha: Z, a: &[Z], b: &[Z], beta: Z, widen: f64) {
        let (m, n) = (c.rows, c.cols);
        let k = if alpha.is_zero() { 0 } else { k };
        let p = if k == 0 {
            Product { value: vec![Z::ZERO; m * n], size: vec![0.0; m * n], own: 0.0 }
        } else {
            product::<T>(m, n, k, a, b)
        };
        let hermitian = matches!(c.kind, Kind::Hermitian(_));
        for i in 0..m {
            for j in 0..n {
                if c.index(i, j).is_none() {
                    continue;
                }
                let x = i * n + j;
                let (mut v, mut size) = (Z::ZERO, 0.0);
                if k > 0 {
                    v = alpha * p.value[x];
                    size = alpha.abs() * p.size[x];
                }
                if !beta.is_zero() {
                    let old = c.at(i, j);
                    v = v + if beta == Z::ONE { old } else { beta * old };
                    size += beta.abs() * old.abs();
                }
                let tol = (k as f64 * (1.0 + p.own) + SLACK) * T::EPS * size * widen;
                let want = if k > 0 && alpha.is_nan() && p.size[x] == 0.0 {
                    // NaN times an empty sum (outside a band): either way.
                    Want::Any
                } else if hermitian && i == j {
                    Want::NearReal(v.re, tol)
                } else {
                    Want::Near(v, tol)
                };
                self.want(c, i, j, want);
            }
        }
        if beta.is_zero() {
            self.clobber(c);
        }
    }

    /// Expects x := inv(op(A)) alpha x (or from the right).
    pub fn expect_solution(&mut self, a: &Operand, trans: u8, left: bool, alpha: Z, x: &Operand) {
        let index = (0..x.rows * x.cols).map(|e| x.index(e / x.cols, e % x.cols).unwrap()).collect();
        self.solve = Some(Solve {
            left,
            a: a.op(trans),
            n: a.rows,
            b: x.full.iter().map(|&v| if alpha == Z::ONE { v } else { alpha * v }).collect(),
            rows: x.rows,
            cols: x.cols,
            buf: x.buf,
            index,
        });
    }
}
