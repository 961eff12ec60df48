//! Operands: what kind of matrix is packed, and how its panels are filled.
//!
//! A panel of a symmetric or triangular matrix is cut where it meets the diagonal: what lies clear of it is a strided copy
//! (of the stored triangle, or of its mirror image), only the small square on the diagonal is looked at element by
//! element. So symm, hemm, trmm and the diagonal blocks of their kin cost what gemm costs.

use crate::kernels::GemmKernel;
use crate::matrix::{Diag, MatRef, Symmetry, Uplo};
use crate::scalar::Scalar;

/// An operand of a product.
#[derive(Clone, Copy)]
pub enum Operand<'a, T> {
    General(MatRef<'a, T>),
    /// Square, the `uplo` triangle stored, the other one its mirror image. The diagonal of a Hermitian matrix is real:
    /// its stored imaginary parts are not looked at.
    Symmetric(MatRef<'a, T>, Uplo, Symmetry),
    /// Square, zero outside the `uplo` triangle.
    Triangular(MatRef<'a, T>, Uplo, Diag),
}

/// Which of a kernel's two panel formats to write.
#[derive(Clone, Copy, PartialEq)]
pub enum Format {
    A,
    B,
}

pub(crate) type Kernel<T> = dyn GemmKernel<In = T, Out = T>;

impl<'a, T: Scalar> Operand<'a, T> {
    fn mat(&self) -> MatRef<'a, T> {
        match *self {
            Operand::General(a) | Operand::Symmetric(a, ..) | Operand::Triangular(a, ..) => a,
        }
    }
    /// The matrix, if that is all there is to the operand.
    pub fn general(&self) -> Option<MatRef<'a, T>> {
        if let Operand::General(a) = *self { Some(a) } else { None }
    }
    pub fn is_triangular(&self) -> bool {
        matches!(self, Operand::Triangular(..))
    }
    pub fn rows(&self) -> usize {
        self.mat().rows()
    }
    pub fn cols(&self) -> usize {
        self.mat().cols()
    }
    /// The transposed operand.
    pub fn t(self) -> Self {
        match self {
            Operand::General(a) => Operand::General(a.t()),
            Operand::Symmetric(a, uplo, s) => Operand::Symmetric(a.t(), uplo.t(), s),
            Operand::Triangular(a, uplo, d) => Operand::Triangular(a.t(), uplo.t(), d),
        }
    }
    /// The columns in which rows i..i+m have elements other than zero.
    #[inline]
    pub fn steps_of_rows(&self, i: usize, m: usize) -> core::ops::Range<usize> {
        match self {
            Operand::Triangular(_, Uplo::Upper, _) => i..usize::MAX,
            Operand::Triangular(_, Uplo::Lower, _) => 0..i + m,
            _ => 0..usize::MAX,
        }
    }
    /// The rows in which columns j..j+n have elements other than zero.
    #[inline]
    pub fn steps_of_cols(&self, j: usize, n: usize) -> core::ops::Range<usize> {
        match self {
            Operand::Triangular(_, Uplo::Upper, _) => 0..j + n,
            Operand::Triangular(_, Uplo::Lower, _) => j..usize::MAX,
            _ => 0..usize::MAX,
        }
    }
    /// Any element, by the definition of the operand: the slow way that needs no scratch, and the diagonal squares.
    pub fn get(&self, i: usize, j: usize) -> T {
        match *self {
            Operand::General(a) => a.get(i, j),
            Operand::Symmetric(a, uplo, symmetry) => {
                if i == j {
                    let d = a.get(i, i);
                    if symmetry.is_hermitian() { T::from_real(d.re()) } else { d }
                } else if (i < j) == (uplo == Uplo::Upper) {
                    a.get(i, j)
                } else {
                    a.get(j, i).conj_if(symmetry.is_hermitian())
                }
            }
            Operand::Triangular(a, uplo, diag) => {
                if i == j {
                    if diag == Diag::Unit { T::ONE } else { a.get(i, i) }
                } else if (i < j) == (uplo == Uplo::Upper) {
                    a.get(i, j)
                } else {
                    T::ZERO
                }
            }
        }
    }

    /// Packs rows `i..i+lanes` of columns `p..p+k` into one panel of the given format (for B: of the transposed operand).
    ///
    /// # Safety
    /// `dst` has room for k steps of the kernel's mr (A) or nr (B) elements; `lanes` is at most that.
    pub unsafe fn pack_panel(
        &self,
        kernel: &Kernel<T>,
        format: Format,
        i: usize,
        lanes: usize,
        p: usize,
        k: usize,
        dst: *mut T,
    ) {
        let width = if format == Format::A { kernel.mr() } else { kernel.nr() };
        // Steps p..p+k fall into up to three ranges: before, on and behind the diagonal square of these rows.
        let (d0, d1) = match self {
            Operand::General(_) => (p + k, p + k),
            _ => (i.clamp(p, p + k), (i + lanes).clamp(p, p + k)),
        };
        // SAFETY: each range writes its own steps of the panel; sources are elements of the operand.
        unsafe {
            self.pack_clear(kernel, format, i, lanes, p, d0 - p, dst);
            if d1 > d0 {
                let mut square = [T::ZERO; crate::kernels::tile::MAX_WIDTH];
                for step in d0..d1 {
                    for (l, x) in square.iter_mut().enumerate().take(lanes) {
                        *x = self.get(i + l, step);
                    }
                    pack(kernel, format, lanes, 1, square.as_ptr(), 1, 0, false, dst.add((step - p) * width));
                }
            }
            self.pack_clear(kernel, format, i, lanes, d1, p + k - d1, dst.add((d1 - p) * width));
        }
    }

    /// As `pack_panel`, for steps that do not touch the diagonal square of these rows.
    unsafe fn pack_clear(
        &self,
        kernel: &Kernel<T>,
        format: Format,
        i: usize,
        lanes: usize,
        p: usize,
        k: usize,
        dst: *mut T,
    ) {
        if k == 0 {
            return;
        }
        let above = i < p;
        let source = match *self {
            Operand::General(a) => a.sub(i, p, lanes, k),
            Operand::Symmetric(a, uplo, symmetry) => {
                if above == (uplo == Uplo::Upper) {
                    a.sub(i, p, lanes, k)
                } else {
                    a.sub(p, i, k, lanes).t().conj_if(symmetry.is_hermitian())
                }
            }
            Operand::Triangular(a, uplo, _) => {
                if above == (uplo == Uplo::Upper) {
                    a.sub(i, p, lanes, k)
                } else {
                    let width = if format == Format::A { kernel.mr() } else { kernel.nr() };
                    // SAFETY: the caller's panel has room for k steps.
                    unsafe { core::slice::from_raw_parts_mut(dst, k * width) }.fill(T::ZERO);
                    return;
                }
            }
        };
        // SAFETY: the source view lies in the operand, the panel has room for k steps.
        unsafe { pack(kernel, format, lanes, k, source.ptr(), source.rs(), source.cs(), source.is_conj(), dst) }
    }

    /// Packs rows `i..i+m` of columns `p..p+k` into consecutive panels.
    ///
    /// # Safety
    /// `dst` has room for m, rounded up to whole panels, times k elements.
    pub unsafe fn pack_block(
        &self,
        kernel: &Kernel<T>,
        format: Format,
        i: usize,
        m: usize,
        p: usize,
        k: usize,
        dst: *mut T,
    ) {
        if let Operand::General(a) = self {
            let source = a.sub(i, p, m, k);
            // SAFETY: as this function's.
            return unsafe {
                pack(kernel, format, m, k, source.ptr(), source.rs(), source.cs(), source.is_conj(), dst)
            };
        }
        let width = if format == Format::A { kernel.mr() } else { kernel.nr() };
        let mut at = 0;
        while at < m {
            let lanes = width.min(m - at);
            // SAFETY: as this function's.
            unsafe { self.pack_panel(kernel, format, i + at, lanes, p, k, dst.add(at * k)) };
            at += width;
        }
    }
}

/// # Safety
/// As the kernel's own packing functions.
unsafe fn pack<T: Scalar>(
    kernel: &Kernel<T>,
    format: Format,
    lanes: usize,
    k: usize,
    src: *const T,
    ls: isize,
    ps: isize,
    conj: bool,
    dst: *mut T,
) {
    // SAFETY: passed on to the caller.
    unsafe {
        match format {
            Format::A => kernel.pack_a(lanes, k, src, ls, ps, conj, dst),
            Format::B => kernel.pack_b(lanes, k, src, ls, ps, conj, dst),
        }
    }
}
