//! Kernels: the machine-dependent part, one file an instruction set, and the one dispatch point.
//!
//! [`GemmKernel`] and [`LineKernel`] are the contract; `tile.rs`, `solve.rs` and `lines.rs` implement it once, generic over a vector
//! type ([`simd`]); `generic.rs`, `avx2.rs`, `avx512.rs` each bring the vector types of an instruction set and a table
//! ([`kernel_table!`]) that says which register tile each scalar type uses. `T::kernels()` returns the table that was
//! chosen once for this process. A new instruction set is one file and one line in [`table`]; the steps are in
//! `docs/adding-a-kernel.md`.
//!
//! The contract does not say that tile sizes are constants, nor that packed panels have the type of the result: a kernel
//! for vectors of run-time length (SVE) returns what it finds from `mr()`, and one for bf16 or int8 panels sets `In`.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod conv;
pub mod dots;
pub mod elements;
pub mod fold;
pub mod generic;
pub mod lines;
pub mod pack;
pub mod simd;
pub mod solve;
pub mod sweeps;
pub mod tile;

#[cfg(test)]
mod tests;

use crate::matrix::{Diag, Lines};
use crate::runtime::cpu::{self, Isa};
use crate::scalar::{Scalar, c32, c64};
use solve::{Rows, Triangle};
use std::sync::OnceLock;
use tile::{Source, Strided, Tile};

/// The matrix kernel of one scalar type on one instruction set.
///
/// Panels: an A panel holds k steps of `mr()` elements (a column of the tile each) in an order of the kernel's own; a B
/// panel holds k steps of `nr()` elements. Both are written by the kernel's own `pack_*`, zero-padded to full width.
///
/// Common contract of the unsafe methods: the CPU has the instruction set (a table is only reachable after that was
/// checked); pointers are valid for what the text says is read and written. Kernels do not allocate, do not panic and do
/// not branch on data. Every element of a product goes through the same operations wherever it stands in a tile.
pub trait GemmKernel: Sync {
    /// Element of the packed panels.
    type In: Copy;
    /// Element of the result.
    type Out: Scalar;
    /// Rows of the register tile.
    fn mr(&self) -> usize;
    /// Rows that a vector of the tile has: a panel of A may be read from any multiple of it on.
    fn lanes(&self) -> usize;
    /// Whether part of a vector is loaded and stored in the time of a whole one.
    fn has_masks(&self) -> bool;
    /// Columns of the register tile.
    fn nr(&self) -> usize;
    /// Steps of a panel for which the blocking was measured; the most that one pass takes.
    fn kc(&self) -> usize;

    /// Packs k steps of `lanes` rows, element (l, p) at `src + l*ls + p*ps`, conjugated if asked, into panels of `mr()` rows,
    /// one behind the other.
    unsafe fn pack_a(
        &self,
        lanes: usize,
        k: usize,
        src: *const Self::In,
        ls: isize,
        ps: isize,
        conj: bool,
        dst: *mut Self::In,
    );
    /// The same into one panel for all rows, which is these, rounded up to whole vectors of `lanes()`, wide.
    unsafe fn pack_narrow(
        &self,
        lanes: usize,
        k: usize,
        src: *const Self::In,
        ls: isize,
        ps: isize,
        conj: bool,
        dst: *mut Self::In,
    );
    /// The same of columns, into panels of `nr()`.
    unsafe fn pack_b(
        &self,
        lanes: usize,
        k: usize,
        src: *const Self::In,
        ls: isize,
        ps: isize,
        conj: bool,
        dst: *mut Self::In,
    );
    /// Turns lines into columns: element p of line l, at `src + l*ss + p`, goes to `dst + p*ds + l`. No other element of either
    /// is touched, and they share no memory.
    unsafe fn turn(&self, lanes: usize, k: usize, src: *const Self::In, ss: isize, dst: *mut Self::In, ds: isize);
    /// `C := alpha A B + beta C` for m rows and n columns, loops over register tiles included; each operand packed or in
    /// place. C has unit row stride and column stride `cs`; beta == 0 never reads it. Any number of
    /// steps; more than `kc()` of them outgrow the caches.
    unsafe fn block(
        &self,
        m: usize,
        n: usize,
        k: usize,
        alpha: Self::Out,
        a: Source<Self::In>,
        b: Source<Self::In>,
        beta: Self::Out,
        c: *mut Self::Out,
        cs: isize,
    );
    /// [`GemmKernel::block`] of real operands in place, with C turned over: element (i, j) at `c + j + i*rs`.
    unsafe fn turned(
        &self,
        m: usize,
        n: usize,
        k: usize,
        alpha: Self::Out,
        a: Source<Self::In>,
        b: Source<Self::In>,
        beta: Self::Out,
        c: *mut Self::Out,
        rs: isize,
    );
    /// [`GemmKernel::block`] of operands in place, so many columns, and no more of them and of the tile's rows than [`Kernels::single`].
    unsafe fn single(&self, cols: usize, t: &Tile<Self::In>);
    /// The same of operands with any strides, element by element: for very small products.
    unsafe fn tiny(
        &self,
        m: usize,
        n: usize,
        k: usize,
        alpha: Self::Out,
        a: Strided<Self::In>,
        b: Strided<Self::In>,
        beta: Self::Out,
        c: *mut Self::Out,
        cs: isize,
    );
    /// `C := alpha X Y^T + beta C` by dot products, x of m and y of n lanes with consecutive steps; see `dots.rs`.
    unsafe fn dots(
        &self,
        m: usize,
        n: usize,
        k: usize,
        alpha: Self::Out,
        x: (*const Self::In, isize),
        y: (*const Self::In, isize),
        beta: Self::Out,
        c: *mut Self::Out,
        strides: (isize, isize),
    );
    /// Packs a triangle for the next two: element (l, j) of U is at `src + j*ls + l*ps`; see `solve.rs`.
    unsafe fn pack_triangle(
        &self,
        u: Triangle<Self::In>,
        src: *const Self::In,
        ls: isize,
        ps: isize,
        conj: bool,
        to: *mut Self::In,
    );
    /// `X U = alpha B`, X in place of B, for some rows of it.
    unsafe fn solve(&self, u: Triangle<Self::In>, alpha: Self::Out, rows: Rows<Self::In>);
    /// `X := alpha X U` for some rows of X.
    unsafe fn multiply(&self, u: Triangle<Self::In>, alpha: Self::Out, rows: Rows<Self::In>);
    /// The reverse of `pack_a` for one panel.
    unsafe fn unpack_a(&self, lanes: usize, k: usize, src: *const Self::In, dst: *mut Self::In, ls: isize, ps: isize);
}

/// The kernels of level 1 and 2 of one scalar type on one instruction set, all on consecutive elements. Contract as for
/// [`GemmKernel`]. What each computes stands in `lines.rs` and `sweeps/`.
pub trait LineKernel<T: Scalar>: Sync {
    unsafe fn axpy(&self, n: usize, alpha: T, x: *const T, conj: bool, y: *mut T);
    unsafe fn dot(&self, n: usize, x: *const T, conj: bool, y: *const T) -> T;
    unsafe fn scal(&self, n: usize, alpha: T, x: *mut T);
    unsafe fn axpby(&self, n: usize, alpha: T, x: *const T, beta: T, y: *mut T);
    unsafe fn copy(&self, n: usize, x: *const T, y: *mut T);
    unsafe fn swap(&self, n: usize, x: *mut T, y: *mut T);
    /// Rotation of n real elements, or of the 2n parts of n complex ones.
    unsafe fn rot(&self, n: usize, x: *mut T, y: *mut T, c: T::Real, s: T::Real);
    unsafe fn scal_real(&self, n: usize, alpha: T::Real, x: *mut T);
    /// Sum of |re| + |im|.
    unsafe fn asum(&self, n: usize, x: *const T) -> T::Real;
    /// Sum of re² + im², in f64.
    unsafe fn sum_squares(&self, n: usize, x: *const T) -> f64;
    /// The first of the n >= 1 elements with the largest |re| + |im|. The first of all is not NaN; other NaNs count as
    /// nothing.
    unsafe fn iamax(&self, n: usize, x: *const T) -> usize;
    unsafe fn mv(&self, alpha: T, a: &Lines<T>, x: *const T, y: *mut T, from: usize, to: usize);
    unsafe fn sym_mv(&self, alpha: T, a: &Lines<T>, hermitian: bool, x: *const T, y: *mut T, from: usize, to: usize);
    unsafe fn tri_mv(&self, a: &Lines<T>, diag: Diag, x: *mut T);
    unsafe fn tri_sv(&self, a: &Lines<T>, diag: Diag, x: *mut T);
    unsafe fn ger(
        &self,
        m: usize,
        n: usize,
        alpha: T,
        x: *const T,
        conj_x: bool,
        y: *const T,
        incy: isize,
        conj_y: bool,
        a: *mut T,
        ld: isize,
    );
    unsafe fn rank_update(
        &self,
        alpha: T,
        beta: Option<T>,
        x: *const T,
        y: *const T,
        hermitian: bool,
        a: &Lines<T>,
        from: usize,
        to: usize,
    );
}

/// All kernels of one scalar type on one instruction set.
pub struct Kernels<T: Scalar> {
    /// `isa mr x nr`, for traces.
    pub name: &'static str,
    pub gemm: &'static dyn GemmKernel<In = T, Out = T>,
    pub lines: &'static dyn LineKernel<T>,
    /// The same operations on shorter registers, where there are such.
    pub narrow: Option<&'static Kernels<T>>,
    /// Rows and columns of the largest product in place that is one tile.
    pub single: (usize, usize),
}

impl<T: Scalar> Kernels<T> {
    /// The line kernels for vectors of n elements: few of them are better stored in pieces of their own than by a mask, from
    /// which nobody can read before it is in the cache. (Zen 4, daxpy 10 by mask and in pieces: 2.6 and 4.9 GFLOPS.)
    #[inline(always)]
    pub fn lines_for(&self, n: usize) -> &'static dyn LineKernel<T> {
        self.lines_within(n, 256)
    }
    /// Those for lines of n elements that are better gone through in shorter registers if they have at most so many bytes.
    #[inline(always)]
    pub fn lines_within(&self, n: usize, most_bytes: usize) -> &'static dyn LineKernel<T> {
        match self.narrow {
            Some(narrow) if n <= most_bytes / size_of::<T>() => narrow.lines,
            _ => self.lines,
        }
    }
    /// Those that change every element of a long vector: beyond the near caches, shorter registers are faster.
    pub fn lines_far(&self) -> &'static dyn LineKernel<T> {
        self.narrow.unwrap_or(self).lines
    }
}

/// The tables of one instruction set.
pub struct Table {
    pub f32: Kernels<f32>,
    pub f64: Kernels<f64>,
    pub c32: Kernels<c32>,
    pub c64: Kernels<c64>,
    pub fold: &'static dyn fold::FoldKernel,
    /// Convolution.
    pub conv: &'static dyn conv::ConvKernel<f32>,
}

/// The table of an instruction set that the machine has.
pub fn table(isa: Isa) -> &'static Table {
    assert!(isa <= cpu::detected(), "kernels of {} asked for on a machine without it", isa.name());
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => &avx512::AVX512,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => &avx2::AVX2,
        _ => &generic::GENERIC,
    }
}

/// One scalar type's entry of the table that was chosen for this process.
pub struct Choice<T: Scalar> {
    cell: OnceLock<&'static Kernels<T>>,
    pick: fn(&'static Table) -> &'static Kernels<T>,
}

impl<T: Scalar> Choice<T> {
    const fn new(pick: fn(&'static Table) -> &'static Kernels<T>) -> Self {
        Choice { cell: OnceLock::new(), pick }
    }
    #[inline(always)]
    pub fn get(&self) -> &'static Kernels<T> {
        match self.cell.get() {
            Some(kernels) => kernels,
            None => self.choose(),
        }
    }
    /// The entry, if the choice has been made.
    #[inline(always)]
    pub fn at_hand(&self) -> Option<&'static Kernels<T>> {
        self.cell.get().copied()
    }
    #[cold]
    fn choose(&self) -> &'static Kernels<T> {
        self.cell.get_or_init(|| (self.pick)(table(cpu::isa())))
    }
}

/// The element-wise kernels of the collectives, of the same table.
pub fn fold() -> &'static dyn fold::FoldKernel {
    static CHOSEN: OnceLock<&'static dyn fold::FoldKernel> = OnceLock::new();
    *CHOSEN.get_or_init(|| table(cpu::isa()).fold)
}

pub static F32: Choice<f32> = Choice::new(|t| &t.f32);
pub static F64: Choice<f64> = Choice::new(|t| &t.f64);
pub static C32: Choice<c32> = Choice::new(|t| &t.c32);
pub static C64: Choice<c64> = Choice::new(|t| &t.c64);

/// Makes the table of an instruction set: for each scalar type the vector, the register tile (vectors high, columns wide)
/// and kc. The optional attribute is the `#[target_feature]` under which the kernels are compiled.
macro_rules! kernel_table {
    (
        $(#[doc = $doc:literal])*
        $(#[target_feature($($feature:tt)*)])?
        pub static $table:ident = $isa:literal;
        f32: $f32:ty, $mf:literal, $nf:literal, $kf:literal;
        f64: $f64:ty, $md:literal, $nd:literal, $kd:literal;
        c32: $c32:ty, $mc:literal, $nc:literal, $kc:literal;
        c64: $c64:ty, $mz:literal, $nz:literal, $kz:literal;
        halves: $halves:ty;
        narrow: $narrow:expr;
    ) => {
        // Each in a module of its own: rustc compiles modules side by side, and again only those that changed.
        $crate::kernels::kernel_table!(@module f32_kernels: Kernels<f32> = @one ($($($feature)*)?) $isa, f32, $f32, $f32, $crate::kernels::elements::Reals<$f32>, $mf, $nf, $kf, $narrow, f32);
        $crate::kernels::kernel_table!(@module f64_kernels: Kernels<f64> = @one ($($($feature)*)?) $isa, f64, $f64, $f64, $crate::kernels::elements::Reals<$f64>, $md, $nd, $kd, $narrow, f64);
        $crate::kernels::kernel_table!(@module c32_kernels: Kernels<$crate::scalar::c32> = @one ($($($feature)*)?) $isa, $crate::scalar::c32, $c32, $f32, $crate::kernels::elements::Pairs<$f32>, $mc, $nc, $kc, $narrow, c32);
        $crate::kernels::kernel_table!(@module c64_kernels: Kernels<$crate::scalar::c64> = @one ($($($feature)*)?) $isa, $crate::scalar::c64, $c64, $f64, $crate::kernels::elements::Pairs<$f64>, $mz, $nz, $kz, $narrow, c64);
        $crate::kernels::kernel_table!(@module fold_kernels: &dyn fold::FoldKernel = @fold ($($($feature)*)?) $halves);
        $crate::kernels::kernel_table!(@module conv_kernels: &dyn conv::ConvKernel<f32> = @conv ($($($feature)*)?) f32, $f32, $mf, $nf);
        $(#[doc = $doc])*
        pub static $table: $crate::kernels::Table = $crate::kernels::Table {
            f32: f32_kernels::ALL,
            f64: f64_kernels::ALL,
            c32: c32_kernels::ALL,
            c64: c64_kernels::ALL,
            fold: fold_kernels::ALL,
            conv: conv_kernels::ALL,
        };
    };
    (@module $name:ident: $T:ty = $($arguments:tt)*) => {
        mod $name {
            use super::*;
            use $crate::kernels::*;
            pub const ALL: $T = $crate::kernels::kernel_table!($($arguments)*);
        }
    };
    (@fold $feature:tt $H:ty) => {{
        use $crate::kernels::fold::{self, Element, Fold, FoldKernel};
        use $crate::kernels::kernel_table;
        struct F;
        // Sound: the callers keep the contract of the trait.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl FoldKernel for F {
            kernel_table! { @fn $feature
            unsafe fn fold(&self, f: &Fold, n: usize, src: &[*const u8], dst: &[*mut u8]) {
                unsafe { fold::fold::<$H>(f, n, src, dst) }
            } }
            kernel_table! { @fn $feature
            unsafe fn narrow(&self, to: Element, n: usize, src: *const f32, dst: *mut u16) {
                unsafe { fold::narrow::<$H>(to, n, src, dst) }
            } }
            kernel_table! { @fn $feature
            unsafe fn widen(&self, from: Element, n: usize, src: *const u16, dst: *mut f32) {
                unsafe { fold::widen::<$H>(from, n, src, dst) }
            } }
            kernel_table! { @fn $feature
            unsafe fn copy(&self, bytes: usize, src: *const u8, dst: *mut u8) {
                unsafe { fold::copy(bytes, src, dst) }
            } }
        }
        &F
    }};
    // A function under the target feature, if there is one.
    (@fn () $($f:tt)*) => { $($f)* };
    (@fn ($($feature:tt)+) $($f:tt)*) => { #[target_feature($($feature)+)] $($f)* };
    // T: scalar, V: its vector in the register tile, R: the vector of its parts, E: of consecutive elements.
    (@one $feature:tt $isa:literal, $T:ty, $V:ty, $R:ty, $E:ty, $mv:literal, $nr:literal, $kc:literal, $narrow:expr, $field:ident) => {{
        use $crate::kernels::dots::{self, DotTile, DotTiles};
        use $crate::kernels::solve::{self, Rows, Triangle};
        use $crate::kernels::tile::{self, Source, Strided, Tile, Tiles};
        use $crate::kernels::{GemmKernel, Kernels, LineKernel, Table, elements::Reals, kernel_table, lines, pack, simd::Simd, sweeps};
        use $crate::matrix::{Diag, Lines};
        use $crate::scalar::Scalar;
        type Part = <$T as Scalar>::Real;
        const PARTS: usize = if <$T as Scalar>::IS_COMPLEX { 2 } else { 1 };
        const MR: usize = $mv * <$V as Simd>::LANES;
        const { assert!(MR <= tile::MAX_WIDTH && $nr <= tile::MAX_WIDTH && MR * $nr <= tile::MAX_TILE) };
        const { assert!($kc >= tile::LEAST_KC) };
        struct K;
        // As below.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Tiles<$V> for K {
            const ACCUMULATORS: usize = $mv * $nr;
            const STORED: usize = if $mv * $nr * PARTS > 20 { 18 / PARTS } else { $mv * $nr };
            const HIGHEST: usize = if PARTS == 1 && $mv * $nr >= 12 { 4 } else { $mv };
            const WIDEST: usize = if $mv * $nr >= 12 { 12 } else { $nr };
            kernel_table! { @fn $feature
            unsafe fn whole(t: &Tile<$T>) {
                unsafe { tile::whole::<$V, $mv, $nr>(t) }
            } }
            kernel_table! { @fn $feature
            unsafe fn part<const U: usize, const N: usize, const PACKED: bool, const LAST: u8>(t: &Tile<$T>) {
                unsafe { tile::some::<$V, U, N, PACKED, LAST>(t) }
            } }
            kernel_table! { @fn $feature
            unsafe fn turned<const U: usize, const N: usize, const LAST: u8>(t: &Tile<$T>) {
                unsafe { tile::some_turned::<$V, U, N, LAST>(t) }
            } }
        }
        // As below.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl DotTiles<$V> for K {
            kernel_table! { @fn $feature
            unsafe fn dot_tile<const M: usize, const N: usize>(t: &DotTile<$T>) {
                unsafe { dots::tile::<$V, M, N>(t) }
            } }
        }
        // Sound in all methods: the callers keep the contract of the trait, which is that of `tile` and `lines`.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl GemmKernel for K {
            type In = $T;
            type Out = $T;
            fn mr(&self) -> usize {
                MR
            }
            fn lanes(&self) -> usize {
                <$V as Simd>::LANES
            }
            fn has_masks(&self) -> bool {
                <$V as Simd>::MASKS_ARE_FREE
            }
            fn nr(&self) -> usize {
                $nr
            }
            fn kc(&self) -> usize {
                $kc
            }
            kernel_table! { @fn $feature
            unsafe fn pack_a(&self, lanes: usize, k: usize, src: *const $T, ls: isize, ps: isize, conj: bool, dst: *mut $T) {
                unsafe { pack::vectors::<$V, $R>($mv, lanes, k, src, ls, ps, conj, dst) }
            } }
            kernel_table! { @fn $feature
            unsafe fn pack_narrow(&self, lanes: usize, k: usize, src: *const $T, ls: isize, ps: isize, conj: bool, dst: *mut $T) {
                unsafe { pack::vectors::<$V, $R>(lanes.div_ceil(<$V as Simd>::LANES), lanes, k, src, ls, ps, conj, dst) }
            } }
            kernel_table! { @fn $feature
            unsafe fn pack_b(&self, lanes: usize, k: usize, src: *const $T, ls: isize, ps: isize, conj: bool, dst: *mut $T) {
                unsafe { pack::elements::<$T, $R, $nr>(lanes, k, src, ls, ps, conj, dst) }
            } }
            kernel_table! { @fn $feature
            unsafe fn turn(&self, lanes: usize, k: usize, src: *const $T, ss: isize, dst: *mut $T, ds: isize) {
                unsafe { pack::turn::<$T, $R>(lanes, k, src, ss, dst, ds) }
            } }
            kernel_table! { @fn $feature
            unsafe fn block(&self, m: usize, n: usize, k: usize, alpha: $T, a: Source<$T>, b: Source<$T>, beta: $T, c: *mut $T, cs: isize) {
                unsafe { tile::block::<K, $V, $mv, $nr>(m, n, k, alpha, a, b, beta, c, cs) }
            } }
            kernel_table! { @fn $feature
            unsafe fn turned(&self, m: usize, n: usize, k: usize, alpha: $T, a: Source<$T>, b: Source<$T>, beta: $T, c: *mut $T, rs: isize) {
                unsafe { tile::turned::<K, $V>(m, n, k, alpha, a, b, beta, c, rs) }
            } }
            kernel_table! { @fn $feature
            unsafe fn single(&self, cols: usize, t: &Tile<$T>) {
                unsafe { tile::single::<K, $V>(cols, t) }
            } }
            kernel_table! { @fn $feature
            unsafe fn tiny(&self, m: usize, n: usize, k: usize, alpha: $T, a: Strided<$T>, b: Strided<$T>, beta: $T, c: *mut $T, cs: isize) {
                unsafe { tile::tiny::<$V>(m, n, k, alpha, a, b, beta, c, cs) }
            } }
            kernel_table! { @fn $feature
            unsafe fn dots(&self, m: usize, n: usize, k: usize, alpha: $T, x: (*const $T, isize), y: (*const $T, isize), beta: $T, c: *mut $T, strides: (isize, isize)) {
                unsafe { dots::dots::<K, $V>(m, n, k, alpha, x, y, beta, c, strides) }
            } }
            kernel_table! { @fn $feature
            unsafe fn pack_triangle(&self, u: Triangle<$T>, src: *const $T, ls: isize, ps: isize, conj: bool, to: *mut $T) {
                unsafe { solve::pack::<$T, $nr>(u, src, ls, ps, conj, to) }
            } }
            kernel_table! { @fn $feature
            unsafe fn solve(&self, u: Triangle<$T>, alpha: $T, rows: Rows<$T>) {
                unsafe { solve::solve::<$V, $mv, $nr>(u, alpha, rows) }
            } }
            kernel_table! { @fn $feature
            unsafe fn multiply(&self, u: Triangle<$T>, alpha: $T, rows: Rows<$T>) {
                unsafe { solve::multiply::<$V, $mv, $nr>(u, alpha, rows) }
            } }
            kernel_table! { @fn $feature
            unsafe fn unpack_a(&self, lanes: usize, k: usize, src: *const $T, dst: *mut $T, ls: isize, ps: isize) {
                unsafe { pack::unpack::<$V, $mv>(lanes, k, src, dst, ls, ps) }
            } }
        }
        // As above.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl LineKernel<$T> for K {
            kernel_table! { @fn $feature
            unsafe fn axpy(&self, n: usize, alpha: $T, x: *const $T, conj: bool, y: *mut $T) {
                unsafe { if conj { lines::axpy::<$E>(n, alpha, x, true, y) } else { lines::axpy::<$E>(n, alpha, x, false, y) } }
            } }
            kernel_table! { @fn $feature
            unsafe fn dot(&self, n: usize, x: *const $T, conj: bool, y: *const $T) -> $T {
                unsafe { lines::dot::<$E>(n, x, conj, y) }
            } }
            kernel_table! { @fn $feature
            unsafe fn scal(&self, n: usize, alpha: $T, x: *mut $T) {
                unsafe { lines::scal::<$E>(n, alpha, x) }
            } }
            kernel_table! { @fn $feature
            unsafe fn axpby(&self, n: usize, alpha: $T, x: *const $T, beta: $T, y: *mut $T) {
                unsafe { lines::axpby::<$E>(n, alpha, x, beta, y) }
            } }
            kernel_table! { @fn $feature
            unsafe fn copy(&self, n: usize, x: *const $T, y: *mut $T) {
                unsafe { lines::copy::<Reals<$R>>(n * PARTS, x.cast(), y.cast()) }
            } }
            kernel_table! { @fn $feature
            unsafe fn swap(&self, n: usize, x: *mut $T, y: *mut $T) {
                unsafe { lines::swap::<Reals<$R>>(n * PARTS, x.cast(), y.cast()) }
            } }
            kernel_table! { @fn $feature
            unsafe fn rot(&self, n: usize, x: *mut $T, y: *mut $T, c: Part, s: Part) {
                unsafe { lines::rot::<Reals<$R>>(n * PARTS, x.cast(), y.cast(), c, s) }
            } }
            kernel_table! { @fn $feature
            unsafe fn scal_real(&self, n: usize, alpha: Part, x: *mut $T) {
                unsafe { lines::scal::<Reals<$R>>(n * PARTS, alpha, x.cast()) }
            } }
            kernel_table! { @fn $feature
            unsafe fn asum(&self, n: usize, x: *const $T) -> Part {
                unsafe { lines::asum::<$R>(n * PARTS, x.cast()) }
            } }
            kernel_table! { @fn $feature
            unsafe fn sum_squares(&self, n: usize, x: *const $T) -> f64 {
                unsafe { lines::sum_squares::<$R>(n * PARTS, x.cast()) }
            } }
            kernel_table! { @fn $feature
            unsafe fn iamax(&self, n: usize, x: *const $T) -> usize {
                unsafe { if PARTS == 1 { lines::iamax::<$R>(n, x.cast()) } else { lines::iamax_complex::<$R>(n, x.cast()) } }
            } }
            kernel_table! { @fn $feature
            unsafe fn mv(&self, alpha: $T, a: &Lines<$T>, x: *const $T, y: *mut $T, from: usize, to: usize) {
                unsafe { sweeps::mv::<$E>(alpha, a, x, y, from, to) }
            } }
            kernel_table! { @fn $feature
            unsafe fn sym_mv(&self, alpha: $T, a: &Lines<$T>, hermitian: bool, x: *const $T, y: *mut $T, from: usize, to: usize) {
                unsafe { sweeps::sym_mv::<$E>(alpha, a, hermitian, x, y, from, to) }
            } }
            kernel_table! { @fn $feature
            unsafe fn tri_mv(&self, a: &Lines<$T>, diag: Diag, x: *mut $T) {
                unsafe { sweeps::tri_mv::<$E>(a, diag, x) }
            } }
            kernel_table! { @fn $feature
            unsafe fn tri_sv(&self, a: &Lines<$T>, diag: Diag, x: *mut $T) {
                unsafe { sweeps::tri_sv::<$E>(a, diag, x) }
            } }
            kernel_table! { @fn $feature
            unsafe fn ger(&self, m: usize, n: usize, alpha: $T, x: *const $T, conj_x: bool, y: *const $T, incy: isize, conj_y: bool, a: *mut $T, ld: isize) {
                unsafe { sweeps::ger::<$E>(m, n, alpha, x, conj_x, y, incy, conj_y, a, ld) }
            } }
            kernel_table! { @fn $feature
            unsafe fn rank_update(&self, alpha: $T, beta: Option<$T>, x: *const $T, y: *const $T, hermitian: bool, a: &Lines<$T>, from: usize, to: usize) {
                unsafe { sweeps::rank_update::<$E>(alpha, beta, x, y, hermitian, a, from, to) }
            } }
        }
        const NARROW: Option<&Table> = $narrow;
        const NARROW_KERNELS: Option<&Kernels<$T>> = if let Some(table) = NARROW { Some(&table.$field) } else { None };
        Kernels { name: concat!($isa, " ", stringify!($T), " ", stringify!($mv), "v x ", stringify!($nr)), gemm: &K, lines: &K, narrow: NARROW_KERNELS, single: tile::most_of_single::<K, $V>() }
    }};
    // Convolution: T and V as above, real.
    (@conv $feature:tt $T:ty, $V:ty, $mv:literal, $nr:literal) => {{
        use $crate::kernels::conv::{self, ConvKernel, Finish, LaneTile, Lanewise, LanewiseSums, PixelTile, PixelTiles, Pixels, PlaneSums, PlaneTile, Planes, Shifts, Side, SumsTile, Term, WindowSums, WindowTile};
        use $crate::kernels::{kernel_table, pack, simd::{GroupSimd, Simd}};
        struct C;
        // As above.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl PixelTiles<$V> for C {
            kernel_table! { @fn $feature
            unsafe fn tile<const U: usize, const N: usize>(t: &PixelTile<$T>) {
                unsafe { conv::tile::<$V, U, N>(t) }
            } }
            kernel_table! { @fn $feature
            unsafe fn plane<const U: usize, const N: usize, const COPY: bool>(t: &PlaneTile<$T>) {
                unsafe { conv::plane::<$V, U, N, COPY>(t) }
            } }
            kernel_table! { @fn $feature
            unsafe fn plane_sums<const M: usize, const N: usize>(t: &SumsTile<$T>) {
                unsafe { conv::plane_sums_tile::<$V, M, N>(t) }
            } }
            kernel_table! { @fn $feature
            unsafe fn shifted<const U: usize, const N: usize>(p: &Shifts<$T>, first: usize) {
                unsafe { conv::shifted::<$V, U, N>(p, first) }
            } }
            kernel_table! { @fn $feature
            unsafe fn window_sums<const U: usize, const N: usize>(t: &WindowTile<$T>) {
                unsafe { conv::window_tile::<$V, U, N>(t) }
            } }
            kernel_table! { @fn $feature
            unsafe fn lanewise<const STRIDE: usize, const SPREAD: u8, const SLIDES: bool>(p: &Lanewise<$T>, t: &LaneTile<$T>, dst: *mut $T) {
                unsafe { conv::lanewise_tile::<$V, STRIDE, SPREAD, SLIDES>(p, t, dst) }
            } }
            kernel_table! { @fn $feature
            unsafe fn lanewise_sums<const STRIDE: usize, const SPREAD: u8, const SLIDES: bool>(p: &LanewiseSums<$T>, t: &LaneTile<$T>, dy: *const $T) {
                unsafe { conv::lanewise_sums_tile::<$V, STRIDE, SPREAD, SLIDES>(p, t, dy) }
            } }
        }
        // As above.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl ConvKernel<$T> for C {
            fn mr(&self) -> usize {
                $mv * <$V as Simd>::LANES
            }
            fn nr(&self) -> usize {
                $nr
            }
            fn lanes(&self) -> usize {
                <$V as Simd>::LANES
            }
            fn panel(&self, channels: usize) -> usize {
                conv::panel::<$V, $mv>(channels)
            }
            fn slides(&self) -> bool {
                <$V as GroupSimd>::PAIRS
            }
            kernel_table! { @fn $feature
            unsafe fn pixels(&self, p: &Pixels<$T>) {
                unsafe { conv::pixels::<C, $V, $mv, $nr>(p) }
            } }
            kernel_table! { @fn $feature
            unsafe fn planes(&self, p: &Planes<$T>) {
                unsafe { conv::planes::<C, $V, $mv, $nr>(p) }
            } }
            kernel_table! { @fn $feature
            unsafe fn plane_sums(&self, p: &PlaneSums<$T>) {
                unsafe { conv::plane_sums::<C, $V, { $mv * $nr / conv::SUMS_HIGH }>(p) }
            } }
            kernel_table! { @fn $feature
            unsafe fn shifts(&self, p: &Shifts<$T>) {
                unsafe { conv::shifts::<C, $V, { $mv * $nr }>(p) }
            } }
            kernel_table! { @fn $feature
            unsafe fn window_sums(&self, p: &WindowSums<$T>) {
                unsafe { conv::window_sums::<C, $V, $mv, $nr>(p) }
            } }
            kernel_table! { @fn $feature
            unsafe fn weave(&self, n: usize, phases: usize, src: *const $T, step: usize, room: *mut $T, dst: *mut $T, bias: *const $T, finish: &Finish<$T>) {
                unsafe { conv::weave::<$V>(n, phases, src, step, room, dst, bias, finish) }
            } }
            kernel_table! { @fn $feature
            unsafe fn lanewise(&self, p: &Lanewise<$T>) {
                unsafe { conv::lanewise::<C, $V>(p) }
            } }
            kernel_table! { @fn $feature
            unsafe fn lanewise_sums(&self, p: &LanewiseSums<$T>) {
                unsafe { conv::lanewise_sums::<C, $V>(p) }
            } }
            kernel_table! { @fn $feature
            unsafe fn to_last(&self, channels: usize, len: usize, src: *const $T, cs: isize, ps: isize, dst: *mut $T, pitch: usize) {
                unsafe { conv::to_last::<$V>(channels, len, src, cs, ps, dst, pitch) }
            } }
            kernel_table! { @fn $feature
            unsafe fn to_first(&self, channels: usize, len: usize, src: *const $T, pitch: usize, dst: *mut $T, cs: isize, ps: isize) {
                unsafe { conv::to_first::<$V>(channels, len, src, pitch, dst, cs, ps) }
            } }
            kernel_table! { @fn $feature
            unsafe fn gather(&self, steps: usize, src: *const $T, at: *const isize, lanes: &[isize], dst: *mut $T) {
                unsafe { conv::gather::<$T, $nr>(steps, src, at, lanes, dst) }
            } }
            kernel_table! { @fn $feature
            unsafe fn pack(&self, width: usize, lanes: usize, k: usize, src: *const $T, ls: isize, ps: isize, dst: *mut $T) {
                unsafe { pack::vectors::<$V, $V>(width / <$V as Simd>::LANES, lanes, k, src, ls, ps, false, dst) }
            } }
            kernel_table! { @fn $feature
            unsafe fn spread(&self, width: usize, channels: usize, steps: usize, src: *const $T, ps: isize, dst: *mut $T, all: usize) {
                unsafe { conv::spread::<$V>(width, channels, steps, src, ps, dst, all) }
            } }
            kernel_table! { @fn $feature
            unsafe fn gather_across(&self, steps: usize, src: *const $T, cs: isize, lanes: usize, dst: *mut $T, all: usize) {
                unsafe { conv::gather_across::<$V, $nr>(steps, src, cs, lanes, dst, all) }
            } }
            kernel_table! { @fn $feature
            unsafe fn scatter(&self, pixels: usize, src: *const $T, pitch: usize, dst: *mut $T, step: usize, runs: &[conv::Run], len: usize) {
                unsafe { conv::scatter::<$V>(pixels, src, pitch, dst, step, runs, len) }
            } }
            kernel_table! { @fn $feature
            unsafe fn add_rows(&self, n: usize, rows: usize, src: *const $T, pitch: isize, sum: *mut $T) {
                unsafe { conv::add_rows::<$V>(n, rows, src, pitch, sum) }
            } }
            kernel_table! { @fn $feature
            unsafe fn wino_input(&self, channels: usize, tiles: usize, src: *const $T, step: (isize, isize), sides: [Side; 2], dst: *mut $T, tile: usize, points: (usize, usize)) {
                unsafe { conv::wino_input::<$V>(channels, tiles, src, step, sides, dst, tile, points) }
            } }
            kernel_table! { @fn $feature
            unsafe fn wino_output(&self, channels: usize, terms: &[Term<$T>], xi: usize, dst: *mut $T, step: (isize, isize), finish: &Finish<$T>) {
                unsafe { conv::wino_output::<$V>(channels, terms, xi, dst, step, finish) }
            } }
            kernel_table! { @fn $feature
            unsafe fn wino_weights(&self, n: usize, src: *const $T, step: (isize, isize), sides: [Side; 2], dst: *mut $T, xi: usize) {
                unsafe { conv::wino_weights::<$V>(n, src, step, sides, dst, xi) }
            } }
            kernel_table! { @fn $feature
            unsafe fn wino_gradient(&self, channels: usize, src: *const $T, step: (isize, isize), sides: [Side; 2], dst: *mut $T, panel: usize, points: (usize, usize)) {
                unsafe { conv::wino_gradient::<$V, $mv>(channels, src, step, sides, dst, panel, points) }
            } }
            kernel_table! { @fn $feature
            unsafe fn wino_weights_back(&self, n: usize, src: *const $T, xi: usize, sides: [Side; 2], dst: *mut $T, step: (isize, isize)) {
                unsafe { conv::wino_weights_back::<$V>(n, src, xi, sides, dst, step) }
            } }
        }
        &C
    }};
}
pub(crate) use kernel_table;
