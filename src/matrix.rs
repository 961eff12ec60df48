//! Views of the caller's memory: the only way from a raw pointer to a matrix or a vector.
//!
//! Transposition, row-major order, conjugation and negative increments become strides and flags when a view is made;
//! no algorithm behind this file knows those words. Views do not own and do not borrow in Rust's sense (BLAS callers may
//! pass the same memory twice as input); the `unsafe` constructors state what the caller vouches for, all accesses that
//! follow stay inside what was stated.

use crate::scalar::Scalar;
use core::marker::PhantomData;

/// Which triangle of a square matrix is stored or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uplo {
    Upper,
    Lower,
}
impl Uplo {
    /// The same triangle of the transposed matrix.
    #[inline]
    pub fn t(self) -> Uplo {
        match self {
            Uplo::Upper => Uplo::Lower,
            Uplo::Lower => Uplo::Upper,
        }
    }
}

/// On which side of the other operand the special (symmetric, triangular) matrix stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Left,
    Right,
}

/// What the diagonal of a triangular matrix is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Diag {
    Unit,
    Stored,
}

/// Plain or conjugated transposition: what makes `syrk` a `herk`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Symmetry {
    Symmetric,
    Hermitian,
}
impl Symmetry {
    #[inline]
    pub fn is_hermitian(self) -> bool {
        self == Symmetry::Hermitian
    }
}

/// Storage order of a full, band or packed matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    ColMajor,
    RowMajor,
}

/// A matrix to read: element (i, j) is at `ptr + i*rs + j*cs`, conjugated on reading if `conj`.
#[derive(Clone, Copy)]
pub struct MatRef<'a, T> {
    ptr: *const T,
    rows: usize,
    cols: usize,
    rs: isize,
    cs: isize,
    conj: bool,
    life: PhantomData<&'a T>,
}

/// A matrix to read and write.
pub struct MatMut<'a, T> {
    ptr: *mut T,
    rows: usize,
    cols: usize,
    rs: isize,
    cs: isize,
    life: PhantomData<&'a mut T>,
}

// SAFETY: a view is a pointer and numbers; what may be done with the memory at once is settled where work is split.
unsafe impl<T: Sync> Send for MatRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for MatRef<'_, T> {}
// SAFETY: as above; threads get disjoint sub-views only.
unsafe impl<T: Send> Send for MatMut<'_, T> {}
// SAFETY: shared access to a `MatMut` only copies its fields; see `MatMut::alias`.
unsafe impl<T: Send> Sync for MatMut<'_, T> {}

impl<'a, T: Scalar> MatRef<'a, T> {
    /// # Safety
    /// For all i < rows, j < cols: `ptr + i*rs + j*cs` is readable for `'a`.
    #[inline]
    pub unsafe fn new(ptr: *const T, rows: usize, cols: usize, rs: isize, cs: isize) -> Self {
        MatRef { ptr, rows, cols, rs, cs, conj: false, life: PhantomData }
    }

    /// A full matrix with leading dimension `ld` in the given storage order.
    /// # Safety
    /// The elements are readable for `'a`, and `ld` is not smaller than a line.
    #[inline]
    pub unsafe fn with_ld(ptr: *const T, rows: usize, cols: usize, ld: usize, layout: Layout) -> Self {
        let (rs, cs) = strides(ld, layout);
        // SAFETY: passed on to the caller.
        unsafe { Self::new(ptr, rows, cols, rs, cs) }
    }
    #[inline]
    pub fn ptr(&self) -> *const T {
        self.ptr
    }
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }
    #[inline]
    pub fn rs(&self) -> isize {
        self.rs
    }
    #[inline]
    pub fn cs(&self) -> isize {
        self.cs
    }
    #[inline]
    pub fn is_conj(&self) -> bool {
        self.conj
    }
    /// The same view in a place of its own. Functions that are not inlined take views by address; one that is made for
    /// them alone leaves the caller's in registers.
    #[inline(always)]
    pub fn anew(&self) -> Self {
        let MatRef { ptr, rows, cols, rs, cs, conj, life } = *self;
        MatRef { ptr, rows, cols, rs, cs, conj, life }
    }
    /// The transposed matrix.
    #[inline]
    pub fn t(self) -> Self {
        MatRef { rows: self.cols, cols: self.rows, rs: self.cs, cs: self.rs, ..self }
    }
    /// The conjugated matrix; for a real type the matrix itself.
    #[inline]
    pub fn conj(self) -> Self {
        MatRef { conj: self.conj != T::IS_COMPLEX, ..self }
    }
    /// Conjugated if `yes`.
    #[inline]
    pub fn conj_if(self, yes: bool) -> Self {
        if yes { self.conj() } else { self }
    }
    /// Rows `i..i+rows` and columns `j..j+cols`.
    #[inline]
    pub fn sub(self, i: usize, j: usize, rows: usize, cols: usize) -> Self {
        debug_assert!(i + rows <= self.rows && j + cols <= self.cols);
        let ptr = self.ptr.wrapping_offset(i as isize * self.rs + j as isize * self.cs);
        MatRef { ptr, rows, cols, ..self }
    }
    /// As level 2 sees it, if its columns or rows are at consecutive addresses.
    pub fn lines(self) -> Option<Lines<'a, T>> {
        let (layout, ld) = match (self.rs, self.cs) {
            // One row whose elements are consecutive is a line, not as many of one element.
            (1, ld) if ld != 1 || self.rows != 1 => (Layout::ColMajor, ld),
            (ld, 1) => (Layout::RowMajor, ld),
            _ => return None,
        };
        let ld = usize::try_from(ld).ok()?;
        let lines = Lines::make(self.ptr, self.rows, self.cols, ALL, ALL, (ld as isize, 0), layout);
        Some(if self.conj { lines.conj() } else { lines })
    }
    /// Column `j`, not conjugated even if the matrix is.
    #[inline]
    pub fn col(self, j: usize) -> VecRef<'a, T> {
        let ptr = self.ptr.wrapping_offset(j as isize * self.cs);
        VecRef { ptr, len: self.rows, inc: self.rs, life: PhantomData }
    }
    /// Row `i`, not conjugated even if the matrix is.
    #[inline]
    pub fn row(self, i: usize) -> VecRef<'a, T> {
        self.t().col(i)
    }
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> T {
        debug_assert!(i < self.rows && j < self.cols);
        // SAFETY: inside the bounds stated at construction.
        unsafe { *self.ptr.offset(i as isize * self.rs + j as isize * self.cs) }.conj_if(self.conj)
    }
}

impl<'a, T: Scalar> MatMut<'a, T> {
    /// # Safety
    /// For all i < rows, j < cols: `ptr + i*rs + j*cs` is readable and writable for `'a`, each at an address of its own.
    #[inline]
    pub unsafe fn new(ptr: *mut T, rows: usize, cols: usize, rs: isize, cs: isize) -> Self {
        MatMut { ptr, rows, cols, rs, cs, life: PhantomData }
    }
    /// A full matrix with leading dimension `ld` in the given storage order.
    /// # Safety
    /// The elements are readable and writable for `'a`, and `ld` is not smaller than a line.
    #[inline]
    pub unsafe fn with_ld(ptr: *mut T, rows: usize, cols: usize, ld: usize, layout: Layout) -> Self {
        let (rs, cs) = strides(ld, layout);
        // SAFETY: passed on to the caller.
        unsafe { Self::new(ptr, rows, cols, rs, cs) }
    }
    #[inline]
    pub fn ptr(&self) -> *mut T {
        self.ptr
    }
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }
    #[inline]
    pub fn rs(&self) -> isize {
        self.rs
    }
    #[inline]
    pub fn cs(&self) -> isize {
        self.cs
    }
    /// The transposed matrix.
    #[inline]
    pub fn t(self) -> Self {
        MatMut { rows: self.cols, cols: self.rows, rs: self.cs, cs: self.rs, ..self }
    }
    /// The same memory, to read.
    #[inline]
    pub fn as_ref(&self) -> MatRef<'a, T> {
        MatRef {
            ptr: self.ptr,
            rows: self.rows,
            cols: self.cols,
            rs: self.rs,
            cs: self.cs,
            conj: false,
            life: PhantomData,
        }
    }
    /// A second view of the same memory. Whoever calls it uses the two on disjoint parts or one after the other.
    #[inline]
    pub fn alias(&self) -> MatMut<'a, T> {
        MatMut { life: PhantomData, ..*self }
    }
    /// Rows `i..i+rows` and columns `j..j+cols`, as a view of its own.
    #[inline]
    pub fn sub(&self, i: usize, j: usize, rows: usize, cols: usize) -> MatMut<'a, T> {
        debug_assert!(i + rows <= self.rows && j + cols <= self.cols);
        let ptr = self.ptr.wrapping_offset(i as isize * self.rs + j as isize * self.cs);
        MatMut { ptr, rows, cols, rs: self.rs, cs: self.cs, life: PhantomData }
    }
    /// Column `j`.
    #[inline]
    pub fn col(&self, j: usize) -> VecMut<'a, T> {
        let ptr = self.ptr.wrapping_offset(j as isize * self.cs);
        VecMut { ptr, len: self.rows, inc: self.rs, life: PhantomData }
    }
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> T {
        self.as_ref().get(i, j)
    }
    #[inline]
    pub fn set(&mut self, i: usize, j: usize, value: T) {
        debug_assert!(i < self.rows && j < self.cols);
        // SAFETY: inside the bounds stated at construction.
        unsafe { *self.ptr.offset(i as isize * self.rs + j as isize * self.cs) = value }
    }
}

#[inline]
fn strides(ld: usize, layout: Layout) -> (isize, isize) {
    match layout {
        Layout::ColMajor => (1, ld as isize),
        Layout::RowMajor => (ld as isize, 1),
    }
}

/// A vector to read: element i is at `ptr + i*inc`; `inc` may be zero or negative.
#[derive(Clone, Copy)]
pub struct VecRef<'a, T> {
    ptr: *const T,
    len: usize,
    inc: isize,
    life: PhantomData<&'a T>,
}

/// A vector to read and write. With `inc == 0` all elements are one, updated in order as in Reference BLAS.
pub struct VecMut<'a, T> {
    ptr: *mut T,
    len: usize,
    inc: isize,
    life: PhantomData<&'a mut T>,
}

// SAFETY: as for the matrix views.
unsafe impl<T: Sync> Send for VecRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for VecRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for VecMut<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for VecMut<'_, T> {}

impl<'a, T: Scalar> VecRef<'a, T> {
    /// A vector in BLAS's convention: for a negative increment `ptr` is the address of the last element.
    /// # Safety
    /// All `len` elements are readable for `'a`.
    #[inline]
    pub unsafe fn new(ptr: *const T, len: usize, inc: isize) -> Self {
        VecRef { ptr: ptr.wrapping_offset(first_offset(len, inc)), len, inc, life: PhantomData }
    }
    /// Address of element 0.
    #[inline]
    pub fn ptr(&self) -> *const T {
        self.ptr
    }
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    #[inline]
    pub fn inc(&self) -> isize {
        self.inc
    }
    #[inline]
    pub fn get(&self, i: usize) -> T {
        debug_assert!(i < self.len);
        // SAFETY: inside the length stated at construction.
        unsafe { *self.ptr.offset(i as isize * self.inc) }
    }
    /// Elements `from..from+len`.
    #[inline]
    pub fn sub(self, from: usize, len: usize) -> Self {
        debug_assert!(from + len <= self.len);
        VecRef { ptr: self.ptr.wrapping_offset(from as isize * self.inc), len, ..self }
    }
}

impl<'a, T: Scalar> VecMut<'a, T> {
    /// A vector in BLAS's convention: for a negative increment `ptr` is the address of the last element.
    /// # Safety
    /// All `len` elements are readable and writable for `'a`.
    #[inline]
    pub unsafe fn new(ptr: *mut T, len: usize, inc: isize) -> Self {
        VecMut { ptr: ptr.wrapping_offset(first_offset(len, inc)), len, inc, life: PhantomData }
    }
    /// A vector whose element 0 is at `ptr`, whatever the increment.
    /// # Safety
    /// All `len` elements are readable and, as far as they are written, writable for `'a`.
    #[inline]
    pub unsafe fn from_first(ptr: *mut T, len: usize, inc: isize) -> Self {
        VecMut { ptr, len, inc, life: PhantomData }
    }
    /// Address of element 0.
    #[inline]
    pub fn ptr(&self) -> *mut T {
        self.ptr
    }
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    #[inline]
    pub fn inc(&self) -> isize {
        self.inc
    }
    #[inline]
    pub fn as_ref(&self) -> VecRef<'a, T> {
        VecRef { ptr: self.ptr, len: self.len, inc: self.inc, life: PhantomData }
    }
    #[inline]
    pub fn get(&self, i: usize) -> T {
        self.as_ref().get(i)
    }
    #[inline]
    pub fn set(&mut self, i: usize, value: T) {
        debug_assert!(i < self.len);
        // SAFETY: inside the length stated at construction.
        unsafe { *self.ptr.offset(i as isize * self.inc) = value }
    }
    /// Elements `from..from+len`, as a view of its own.
    #[inline]
    pub fn sub(&self, from: usize, len: usize) -> VecMut<'a, T> {
        debug_assert!(from + len <= self.len);
        VecMut { ptr: self.ptr.wrapping_offset(from as isize * self.inc), len, ..*self }
    }
}

#[inline]
fn first_offset(len: usize, inc: isize) -> isize {
    if inc < 0 && len > 0 { -inc * (len as isize - 1) } else { 0 }
}

/// Whether the lines of a stored matrix are its columns or its rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    Cols,
    Rows,
}

/// A matrix of level 2 in any of BLAS's storages (full, band, packed; whole or one triangle), as what they have in
/// common: line j holds the elements `j-before ..= j+after` at consecutive addresses, and the place where its element 0
/// is, or would be, is a polynomial in j: `origin + j*step + bend*j*(j-1)/2`, with a bend of -1, 0 or 1.
///
/// Row-major storage makes the lines rows; `t()` only says so. So one algorithm serves `gemv` and `gbmv`, one `symv`,
/// `sbmv`, `spmv` and their Hermitian kin, one `trsv`, `tbsv` and `tpsv`, in both orders.
#[derive(Clone, Copy)]
pub struct Lines<'a, T> {
    origin: *const T,
    step: isize,
    bend: isize,
    lines: usize,
    len: usize,
    before: isize,
    after: isize,
    axis: Axis,
    conj: bool,
    life: PhantomData<&'a T>,
}

/// [`Lines`] that are written, for the rank-one and rank-two updates.
pub struct LinesMut<'a, T>(Lines<'a, T>);

// SAFETY: as for the matrix views.
unsafe impl<T: Sync> Send for Lines<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Lines<'_, T> {}

const ALL: isize = isize::MAX / 4;

impl<'a, T: Scalar> Lines<'a, T> {
    /// A whole matrix with leading dimension `ld`.
    /// # Safety
    /// All its elements are readable for `'a`.
    pub unsafe fn full(ptr: *const T, rows: usize, cols: usize, ld: usize, layout: Layout) -> Self {
        Self::make(ptr, rows, cols, ALL, ALL, (ld as isize, 0), layout)
    }
    /// A band matrix (`kl` diagonals below, `ku` above the main one) in BLAS's band storage.
    /// # Safety
    /// All elements of the band inside the matrix are readable for `'a`.
    pub unsafe fn band(
        ptr: *const T,
        rows: usize,
        cols: usize,
        kl: usize,
        ku: usize,
        ld: usize,
        layout: Layout,
    ) -> Self {
        let (before, after) = if layout == Layout::ColMajor { (ku, kl) } else { (kl, ku) };
        let (origin, most) = (ptr.wrapping_add(before), rows.max(cols).saturating_sub(1));
        let (before, after) = (before.min(most) as isize, after.min(most) as isize);
        Self::make(origin, rows, cols, before, after, (ld as isize - 1, 0), layout)
    }
    /// One triangle of a full square matrix.
    /// # Safety
    /// All elements of the triangle are readable for `'a`.
    pub unsafe fn triangle(ptr: *const T, n: usize, ld: usize, uplo: Uplo, layout: Layout) -> Self {
        let (before, after) = if is_head(uplo, layout) { (ALL, 0) } else { (0, ALL) };
        Self::make(ptr, n, n, before, after, (ld as isize, 0), layout)
    }
    /// One triangle of a square band matrix with `k` diagonals beside the main one.
    /// # Safety
    /// All elements of the band inside the triangle are readable for `'a`.
    pub unsafe fn triangle_band(ptr: *const T, n: usize, k: usize, ld: usize, uplo: Uplo, layout: Layout) -> Self {
        let (before, after) = if is_head(uplo, layout) { (k, 0) } else { (0, k) };
        let (origin, most) = (ptr.wrapping_add(before), n.saturating_sub(1));
        let (before, after) = (before.min(most) as isize, after.min(most) as isize);
        Self::make(origin, n, n, before, after, (ld as isize - 1, 0), layout)
    }
    /// One triangle in packed storage.
    /// # Safety
    /// All n(n+1)/2 elements are readable for `'a`.
    pub unsafe fn packed(ptr: *const T, n: usize, uplo: Uplo, layout: Layout) -> Self {
        // Heads: line j starts at j(j+1)/2 with its element 0. Tails: at j(2n+1-j)/2 with its element j.
        let (before, after, path) =
            if is_head(uplo, layout) { (ALL, 0, (1, 1)) } else { (0, ALL, (n as isize - 1, -1)) };
        Self::make(ptr, n, n, before, after, path, layout)
    }
    #[inline]
    fn make(
        origin: *const T,
        rows: usize,
        cols: usize,
        before: isize,
        after: isize,
        (step, bend): (isize, isize),
        layout: Layout,
    ) -> Self {
        let (axis, lines, len) =
            if layout == Layout::ColMajor { (Axis::Cols, cols, rows) } else { (Axis::Rows, rows, cols) };
        Lines { origin, step, bend, lines, len, before, after, axis, conj: false, life: PhantomData }
    }
    /// The transposed matrix.
    #[inline]
    pub fn t(self) -> Self {
        let axis = if self.axis == Axis::Cols { Axis::Rows } else { Axis::Cols };
        Lines { axis, ..self }
    }
    /// The conjugated matrix; for a real type the matrix itself.
    #[inline]
    pub fn conj(self) -> Self {
        Lines { conj: self.conj != T::IS_COMPLEX, ..self }
    }
    #[inline]
    pub fn is_conj(&self) -> bool {
        self.conj
    }
    #[inline]
    pub fn axis(&self) -> Axis {
        self.axis
    }
    /// Number of lines.
    #[inline]
    pub fn lines(&self) -> usize {
        self.lines
    }
    /// Length of the other dimension.
    #[inline]
    pub fn line_len(&self) -> usize {
        self.len
    }
    #[inline]
    pub fn rows(&self) -> usize {
        if self.axis == Axis::Cols { self.len } else { self.lines }
    }
    #[inline]
    pub fn cols(&self) -> usize {
        if self.axis == Axis::Cols { self.lines } else { self.len }
    }
    /// Whether every line is stored from end to end.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.before == ALL && self.after == ALL
    }
    /// Whether lines are cut by a band narrower than the matrix.
    #[inline]
    pub fn is_banded(&self) -> bool {
        (self.before != ALL && self.before != 0)
            || (self.after != ALL && self.after != 0)
            || self.before == self.after && self.before != ALL
    }
    /// Stored elements of a whole matrix or a band, corners included.
    #[inline(always)]
    pub fn stored(&self) -> usize {
        self.lines.saturating_mul(self.width())
    }
    /// Stored elements of the longest line.
    #[inline(always)]
    pub fn width(&self) -> usize {
        if self.is_whole() { self.len } else { self.len.min((self.before + self.after + 1) as usize) }
    }
    /// How many elements a line stores before and behind the diagonal, where the matrix has so many.
    #[inline(always)]
    pub fn reach(&self) -> (isize, isize) {
        (self.before, self.after)
    }
    /// A triangle without its diagonal.
    #[inline]
    pub fn strict(self) -> Self {
        if self.is_head() { Lines { after: -1, ..self } } else { Lines { before: -1, ..self } }
    }
    /// A triangle in full storage as two smaller ones, of the first `h` and of the other rows and columns, and the rectangle
    /// between them.
    pub fn halves(&self, h: usize) -> Option<[Self; 3]> {
        if self.bend != 0 || self.is_banded() || self.is_whole() {
            return None;
        }
        let rest = self.lines - h;
        let second = self.at(h).wrapping_add(h);
        let (corner, lines, len) =
            if self.is_head() { (self.at(h), rest, h) } else { (self.at(0).wrapping_add(h), h, rest) };
        Some([
            Lines { lines: h, len: h, ..*self },
            Lines { origin: corner, lines, len, before: ALL, after: ALL, ..*self },
            Lines { origin: second, lines: rest, len: rest, ..*self },
        ])
    }
    /// Lines from..to of a triangle in full storage: the triangle on the diagonal, and the rectangle that is the rest of them.
    pub fn strip(&self, from: usize, to: usize) -> Option<(Self, Self)> {
        if self.is_head() {
            let [_, rectangle, triangle] = self.halves(to)?[0].halves(from)?;
            Some((triangle, rectangle))
        } else {
            let [triangle, rectangle, _] = self.halves(from)?[2].halves(to - from)?;
            Some((triangle, rectangle))
        }
    }
    /// The same elements, conjugated or not.
    #[inline]
    pub fn with_conj(self, conj: bool) -> Self {
        Lines { conj: conj && T::IS_COMPLEX, ..self }
    }
    /// Where element 0 of line j is, or would be if it were stored.
    #[inline(always)]
    pub fn at(&self, j: usize) -> *const T {
        let j = j as isize;
        // A bend comes with n <= isize::MAX elements in all, so no product overflows.
        let bend = if self.bend == 0 { 0 } else { self.bend * (j * (j - 1) / 2) };
        self.origin.wrapping_offset(j * self.step + bend)
    }
    /// Whether this is a whole matrix of real lines without a gap between them, of up to so many elements.
    #[inline(always)]
    pub fn is_flat(&self, longest: usize) -> bool {
        !T::IS_COMPLEX && self.len <= longest && self.step == self.len as isize && self.is_whole()
    }
    /// From element 0 of a line of a whole matrix or a band to that of the next.
    #[inline(always)]
    pub fn step(&self) -> isize {
        self.step
    }
    /// The stored elements of line j: the first, and the one behind the last.
    #[inline(always)]
    pub fn range(&self, j: usize) -> (usize, usize) {
        let (j, len) = (j as isize, self.len as isize);
        let lo = (j - self.before).max(0).min(len);
        (lo as usize, (j + self.after + 1).min(len).max(lo) as usize)
    }
    /// A triangle whose lines end at the diagonal (`0..=j`); otherwise they start there (`j..n`).
    #[inline]
    pub fn is_head(&self) -> bool {
        self.after == 0
    }
    /// The stored part of line j: its first index and its elements.
    #[inline]
    pub fn line(&self, j: usize) -> (usize, VecRef<'a, T>) {
        debug_assert!(j < self.lines);
        let (lo, hi) = self.range(j);
        (lo, VecRef { ptr: self.at(j).wrapping_add(lo), len: hi - lo, inc: 1, life: PhantomData })
    }
}

impl<'a, T: Scalar> LinesMut<'a, T> {
    /// One triangle of a full square matrix.
    /// # Safety
    /// All elements of the triangle are readable and writable for `'a`.
    pub unsafe fn triangle(ptr: *mut T, n: usize, ld: usize, uplo: Uplo, layout: Layout) -> Self {
        // SAFETY: passed on to the caller.
        LinesMut(unsafe { Lines::triangle(ptr, n, ld, uplo, layout) })
    }
    /// One triangle in packed storage.
    /// # Safety
    /// All n(n+1)/2 elements are readable and writable for `'a`.
    pub unsafe fn packed(ptr: *mut T, n: usize, uplo: Uplo, layout: Layout) -> Self {
        // SAFETY: passed on to the caller.
        LinesMut(unsafe { Lines::packed(ptr, n, uplo, layout) })
    }
    /// The same memory, to read.
    #[inline(always)]
    pub fn lines(&self) -> &Lines<'a, T> {
        &self.0
    }
    /// The stored part of line j: its first index and its elements.
    #[inline]
    pub fn line(&self, j: usize) -> (usize, VecMut<'a, T>) {
        let (lo, v) = self.0.line(j);
        (lo, VecMut { ptr: v.ptr.cast_mut(), len: v.len, inc: 1, life: PhantomData })
    }
}

/// Column-major upper and row-major lower triangles have lines that end at the diagonal.
fn is_head(uplo: Uplo, layout: Layout) -> bool {
    (uplo == Uplo::Upper) == (layout == Layout::ColMajor)
}
