//! Names of C types, decoding of flags, argument checks, and views from pointers.
//!
//! Flags arrive as a character (Fortran) or a number (CBLAS; never a Rust enum, a caller may pass anything) and leave as
//! an `Option` of the core's type; integers leave as `isize`. The checks name an argument by its Fortran position; the
//! caller knows whether a CBLAS layout stands before it.

#![allow(non_camel_case_types)]

use core::ffi::{c_char, c_int};
pub use core::primitive::{f32, f64};
use corten_core::matrix::{Diag, Layout, Lines, LinesMut, MatMut, MatRef, Side, Symmetry, Uplo, VecMut, VecRef};
pub use corten_core::scalar::{Scalar, c32, c64};

// As the headers spell them.
pub type blas_int = i32;
pub type blas_int64 = i64;
pub type CBLAS_INT = i32;
pub type CBLAS_INT64 = i64;
pub type CBLAS_INDEX = usize;
pub type CBLAS_LAYOUT = c_int;
pub type CBLAS_TRANSPOSE = c_int;
pub type CBLAS_UPLO = c_int;
pub type CBLAS_DIAG = c_int;
pub type CBLAS_SIDE = c_int;
pub type corten_complex_float = c32;
pub type corten_complex_double = c64;

/// What is to be done to a matrix before use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Plain,
    Trans,
    ConjTrans,
    Conj,
}

impl Op {
    pub fn transposes(self) -> bool {
        matches!(self, Op::Trans | Op::ConjTrans)
    }
    pub fn conjugates(self) -> bool {
        matches!(self, Op::ConjTrans | Op::Conj)
    }
    /// Shape of the stored matrix whose transformed shape is `rows` by `cols`.
    pub fn stored(self, rows: usize, cols: usize) -> (usize, usize) {
        if self.transposes() { (cols, rows) } else { (rows, cols) }
    }
    /// The triangle of the transformed matrix.
    pub fn triangle(self, uplo: Uplo) -> Uplo {
        if self.transposes() { uplo.t() } else { uplo }
    }
    /// The transformed matrix of level 2.
    pub fn lines<'a, T: Scalar>(self, a: Lines<'a, T>) -> Lines<'a, T> {
        let a = if self.transposes() { a.t() } else { a };
        if self.conjugates() { a.conj() } else { a }
    }
    /// The transformed matrix of level 3.
    pub fn matrix<'a, T: Scalar>(self, a: MatRef<'a, T>) -> MatRef<'a, T> {
        let a = if self.transposes() { a.t() } else { a };
        if self.conjugates() { a.conj() } else { a }
    }
}

/// A flag as one of the two APIs passes it.
pub trait Flag: Copy {
    fn layout(self) -> Option<Layout>;
    fn op(self) -> Option<Op>;
    fn uplo(self) -> Option<Uplo>;
    fn diag(self) -> Option<Diag>;
    fn side(self) -> Option<Side>;
}

/// A character as a byte; C leaves open whether it has a sign.
pub fn byte(character: c_char) -> u8 {
    u8::from_ne_bytes(character.to_ne_bytes())
}

fn letter(character: c_char) -> u8 {
    byte(character).to_ascii_uppercase()
}

/// The transposition that each character stands for. A table, because every call of levels 2 and 3 looks here and callers
/// mix the letters: nothing for the branch predictor to learn.
static OPS: [Option<Op>; 256] = {
    let mut table = [None; 256];
    let known = [(b'N', Op::Plain), (b'T', Op::Trans), (b'C', Op::ConjTrans), (b'R', Op::Conj)];
    let mut i = 0;
    while i < known.len() {
        let (letter, op) = known[i];
        table[letter as usize] = Some(op);
        table[letter.to_ascii_lowercase() as usize] = Some(op);
        i += 1;
    }
    table
};

/// Fortran: the first character, in either case. `R` for "conjugate only" is an extension of OpenBLAS.
impl Flag for c_char {
    fn layout(self) -> Option<Layout> {
        match letter(self) {
            b'C' => Some(Layout::ColMajor),
            b'R' => Some(Layout::RowMajor),
            _ => None,
        }
    }
    #[inline]
    fn op(self) -> Option<Op> {
        OPS[byte(self) as usize]
    }
    fn uplo(self) -> Option<Uplo> {
        match letter(self) {
            b'U' => Some(Uplo::Upper),
            b'L' => Some(Uplo::Lower),
            _ => None,
        }
    }
    fn diag(self) -> Option<Diag> {
        match letter(self) {
            b'N' => Some(Diag::Stored),
            b'U' => Some(Diag::Unit),
            _ => None,
        }
    }
    fn side(self) -> Option<Side> {
        match letter(self) {
            b'L' => Some(Side::Left),
            b'R' => Some(Side::Right),
            _ => None,
        }
    }
}

/// CBLAS: Netlib's numbers. 114, `CblasConjNoTrans`, is an extension of OpenBLAS.
impl Flag for c_int {
    fn layout(self) -> Option<Layout> {
        match self {
            101 => Some(Layout::RowMajor),
            102 => Some(Layout::ColMajor),
            _ => None,
        }
    }
    fn op(self) -> Option<Op> {
        match self {
            111 => Some(Op::Plain),
            112 => Some(Op::Trans),
            113 => Some(Op::ConjTrans),
            114 => Some(Op::Conj),
            _ => None,
        }
    }
    fn uplo(self) -> Option<Uplo> {
        match self {
            121 => Some(Uplo::Upper),
            122 => Some(Uplo::Lower),
            _ => None,
        }
    }
    fn diag(self) -> Option<Diag> {
        match self {
            131 => Some(Diag::Stored),
            132 => Some(Diag::Unit),
            _ => None,
        }
    }
    fn side(self) -> Option<Side> {
        match self {
            141 => Some(Side::Left),
            142 => Some(Side::Right),
            _ => None,
        }
    }
}

/// An array of integers of either width.
#[derive(Clone, Copy)]
pub enum Ints {
    Narrow(*const i32),
    Wide(*const i64),
}
impl Ints {
    /// # Safety
    /// The array has an element at `i`.
    pub unsafe fn get(self, i: usize) -> isize {
        // SAFETY: passed on to the caller.
        unsafe {
            match self {
                Ints::Narrow(array) => *array.add(i) as isize,
                Ints::Wide(array) => *array.add(i) as isize,
            }
        }
    }
}
impl From<*const i32> for Ints {
    fn from(array: *const i32) -> Self {
        Ints::Narrow(array)
    }
}
impl From<*const i64> for Ints {
    fn from(array: *const i64) -> Self {
        Ints::Wide(array)
    }
}

/// An array of transposition flags of either API.
#[derive(Clone, Copy)]
pub enum Ops {
    Characters(*const c_char),
    Enums(*const CBLAS_TRANSPOSE),
}
impl Ops {
    /// # Safety
    /// The array has an element at `i`.
    pub unsafe fn get(self, i: usize) -> Option<Op> {
        // SAFETY: passed on to the caller.
        unsafe {
            match self {
                Ops::Characters(array) => (*array.add(i)).op(),
                Ops::Enums(array) => (*array.add(i)).op(),
            }
        }
    }
}
impl From<*const c_char> for Ops {
    fn from(array: *const c_char) -> Self {
        Ops::Characters(array)
    }
}
impl From<*const CBLAS_TRANSPOSE> for Ops {
    fn from(array: *const CBLAS_TRANSPOSE) -> Self {
        Ops::Enums(array)
    }
}

/// A bad argument: its Fortran position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bad(pub u8);

/// What a checked body returns. `Err` means that nothing has been read or written through the caller's array pointers.
pub type Checked<V = ()> = Result<V, Bad>;

/// Argument `position` is a flag with a known value.
pub fn flag<F>(position: u8, value: Option<F>) -> Checked<F> {
    value.ok_or(Bad(position))
}

/// Argument `position` is a size.
pub fn dim(position: u8, value: isize) -> Checked<usize> {
    usize::try_from(value).map_err(|_| Bad(position))
}

/// Argument `position` is an increment of level 2, which must not be zero.
pub fn inc(position: u8, value: isize) -> Checked<isize> {
    if value == 0 { Err(Bad(position)) } else { Ok(value) }
}

/// Argument `position` is the leading dimension of a stored matrix of this shape.
pub fn leading(position: u8, value: isize, (rows, cols): (usize, usize), layout: Layout) -> Checked<usize> {
    let line = if layout == Layout::ColMajor { rows } else { cols };
    match usize::try_from(value) {
        Ok(ld) if ld >= line.max(1) => Ok(ld),
        _ => Err(Bad(position)),
    }
}

/// Argument `position` is the leading dimension of a band matrix with this many diagonals beside the main one.
pub fn leading_band(position: u8, value: isize, beside: usize) -> Checked<usize> {
    match usize::try_from(value) {
        Ok(ld) if ld > beside => Ok(ld),
        _ => Err(Bad(position)),
    }
}

/// Argument `position` is the `trans` of a rank-k update, which takes only the transposition that fits the symmetry;
/// for a real type the two are the same.
pub fn rank_op<T: Scalar>(position: u8, value: Option<Op>, symmetry: Symmetry) -> Checked<Op> {
    let op = flag(position, value)?;
    let fits = match op {
        Op::Plain => true,
        Op::Trans => !symmetry.is_hermitian(),
        Op::ConjTrans => symmetry.is_hermitian() || !T::IS_COMPLEX,
        Op::Conj => false,
    };
    if fits { Ok(op) } else { Err(Bad(position)) }
}

/// The matrix `op(A)`, `rows` by `cols`.
/// # Safety
/// The stored matrix is readable while the view is used; `ld` was checked by [`leading`].
pub unsafe fn view<'a, T: Scalar>(
    op: Op,
    a: *const T,
    (rows, cols): (usize, usize),
    ld: usize,
    layout: Layout,
) -> MatRef<'a, T> {
    let (rows, cols) = op.stored(rows, cols);
    // SAFETY: passed on to the caller.
    op.matrix(unsafe { MatRef::with_ld(a, rows, cols, ld, layout) })
}

// The constructors under short names: bodies name them once per argument.

/// # Safety
/// As [`VecRef::new`].
pub unsafe fn vec<'a, T: Scalar>(x: *const T, n: usize, inc: isize) -> VecRef<'a, T> {
    // SAFETY: passed on to the caller.
    unsafe { VecRef::new(x, n, inc) }
}
/// # Safety
/// As [`VecMut::new`].
pub unsafe fn vec_mut<'a, T: Scalar>(x: *mut T, n: usize, inc: isize) -> VecMut<'a, T> {
    // SAFETY: passed on to the caller.
    unsafe { VecMut::new(x, n, inc) }
}
/// # Safety
/// As [`MatMut::with_ld`].
pub unsafe fn mat_mut<'a, T: Scalar>(
    a: *mut T,
    (rows, cols): (usize, usize),
    ld: usize,
    layout: Layout,
) -> MatMut<'a, T> {
    // SAFETY: passed on to the caller.
    unsafe { MatMut::with_ld(a, rows, cols, ld, layout) }
}

/// One triangle of a matrix in one of BLAS's three storages.
#[derive(Clone, Copy)]
pub enum Storage {
    Full { ld: usize },
    Band { k: usize, ld: usize },
    Packed,
}

impl Storage {
    /// # Safety
    /// All stored elements of the triangle are readable while the view is used.
    pub unsafe fn triangle<'a, T: Scalar>(self, a: *const T, n: usize, uplo: Uplo, layout: Layout) -> Lines<'a, T> {
        // SAFETY: passed on to the caller.
        unsafe {
            match self {
                Storage::Full { ld } => Lines::triangle(a, n, ld, uplo, layout),
                Storage::Band { k, ld } => Lines::triangle_band(a, n, k, ld, uplo, layout),
                Storage::Packed => Lines::packed(a, n, uplo, layout),
            }
        }
    }
}

/// A triangle to write; band storage has no such routine.
#[derive(Clone, Copy)]
pub enum StorageMut {
    Full { ld: usize },
    Packed,
}

impl StorageMut {
    /// # Safety
    /// All stored elements of the triangle are readable and writable while the view is used.
    pub unsafe fn triangle<'a, T: Scalar>(self, a: *mut T, n: usize, uplo: Uplo, layout: Layout) -> LinesMut<'a, T> {
        // SAFETY: passed on to the caller.
        unsafe {
            match self {
                StorageMut::Full { ld } => LinesMut::triangle(a, n, ld, uplo, layout),
                StorageMut::Packed => LinesMut::packed(a, n, uplo, layout),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_both_apis() {
        for (character, op) in [(b'n', Op::Plain), (b'T', Op::Trans), (b'c', Op::ConjTrans), (b'R', Op::Conj)] {
            assert!((character as c_char).op() == Some(op));
        }
        for (number, op) in [(111, Op::Plain), (112, Op::Trans), (113, Op::ConjTrans), (114, Op::Conj)] {
            assert!((number as c_int).op() == Some(op));
        }
        assert!((b'/' as c_char).op().is_none() && (0 as c_int).op().is_none());
        assert!((b'/' as c_char).uplo().is_none() && (123 as c_int).uplo().is_none());
    }

    #[test]
    fn leading_dimensions() {
        let (col, row) = (Layout::ColMajor, Layout::RowMajor);
        assert_eq!(leading(8, 3, (3, 5), col), Ok(3));
        assert_eq!(leading(8, 2, (3, 5), col), Err(Bad(8)));
        assert_eq!(leading(8, 4, (3, 5), row), Err(Bad(8)));
        assert_eq!(leading(8, 5, (3, 5), row), Ok(5));
        assert_eq!(leading(8, 0, (0, 0), col), Err(Bad(8)), "at least 1, even for an empty matrix");
        assert_eq!(leading(8, isize::MIN, (0, 0), col), Err(Bad(8)));
        assert_eq!(leading_band(8, isize::MAX, usize::MAX), Err(Bad(8)));
        assert_eq!(leading_band(8, 3, 2), Ok(3));
        assert_eq!(leading_band(8, 2, 2), Err(Bad(8)));
    }

    #[test]
    fn rank_updates_take_the_transposition_of_their_symmetry() {
        let takes = |op, symmetry| {
            (rank_op::<f64>(2, Some(op), symmetry).is_ok(), rank_op::<c64>(2, Some(op), symmetry).is_ok())
        };
        assert_eq!(takes(Op::Trans, Symmetry::Symmetric), (true, true));
        assert_eq!(takes(Op::ConjTrans, Symmetry::Symmetric), (true, false));
        assert_eq!(takes(Op::Conj, Symmetry::Symmetric), (false, false));
        assert!(!takes(Op::Trans, Symmetry::Hermitian).1 && takes(Op::ConjTrans, Symmetry::Hermitian).1);
    }
}
