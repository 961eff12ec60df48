//! Against OpenBLAS, at sizes past every cache block, where a naive reference
//! would take minutes. The generators and bounds are those of the other
//! tests; only the product of the reference is computed by the system's
//! OpenBLAS in f64 (complex f64), reached through cblas-sys.

extern crate openblas_src;

use cblas_sys::{CBLAS_LAYOUT, CBLAS_TRANSPOSE, cblas_dgemm, cblas_zgemm};
use corten_tests::draw::{Draw, Size};
use corten_tests::for_types;
use corten_tests::library::Api;
use corten_tests::problem::Order;
use corten_tests::routines::{self, level3::gemm_of};
use corten_tests::scalar::{ORACLE, Product, Scalar, Z};
use corten_tests::suite::{check_one, make};

/// Multiplies with OpenBLAS; its own rounding doubles the bound for f64.
fn openblas(m: usize, n: usize, k: usize, a: &[Z], b: &[Z]) -> Product {
    let row = CBLAS_LAYOUT::CblasRowMajor;
    let no = CBLAS_TRANSPOSE::CblasNoTrans;
    let (mi, ni, ki) = (m as i32, n as i32, k as i32);
    let (lda, ldb, ldc) = (ki.max(1), ni.max(1), ni.max(1));
    let mut value = vec![Z::ZERO; m * n];
    let real = a.iter().chain(b).all(|z| z.im == 0.0);
    let dgemm = |x: &[f64], y: &[f64]| {
        let mut c = vec![0.0; m * n];
        // SAFETY: row-major matrices of these sizes, densely stored.
        unsafe {
            cblas_dgemm(row, no, no, mi, ni, ki, 1.0, x.as_ptr(), lda, y.as_ptr(), ldb, 0.0, c.as_mut_ptr(), ldc)
        };
        c
    };
    if real {
        let part = |v: &[Z]| v.iter().map(|z| z.re).collect::<Vec<f64>>();
        let c = dgemm(&part(a), &part(b));
        value = c.into_iter().map(Z::real).collect();
    } else {
        let (one, zero) = ([1.0f64, 0.0], [0.0f64, 0.0]);
        // SAFETY: as above; Z is a pair of f64.
        unsafe {
            cblas_zgemm(
                row,
                no,
                no,
                mi,
                ni,
                ki,
                (&raw const one).cast(),
                a.as_ptr().cast(),
                lda,
                b.as_ptr().cast(),
                ldb,
                (&raw const zero).cast(),
                value.as_mut_ptr().cast(),
                ldc,
            )
        };
    }
    let size = |v: &[Z]| v.iter().map(|z| z.abs()).collect::<Vec<f64>>();
    Product { value, size: dgemm(&size(a), &size(b)), own: 1.0 }
}

fn huge<T: Scalar>() {
    ORACLE.get_or_init(|| openblas);
    for r in routines::level3::table::<T>() {
        for (i, order) in [Order::Col, Order::Row].into_iter().enumerate() {
            let p = make(&r, 40 + i as u64, order, Size::Huge, 5 + 13 * i as u64);
            check_one(&p, if i == 0 { Api::Fortran } else { Api::Cblas }, i as u64);
        }
    }
}

/// Shapes that pass one block size at a time: long k, many columns, many rows; few of either, which are dot products; rows that
/// are not whole vectors, rows that are better columns, and small results of many steps.
fn slender<T: Scalar>() {
    ORACLE.get_or_init(|| openblas);
    let long = [(61, 45, 2051), (37, 6007, 67), (4099, 35, 131), (1, 900, 700), (800, 1, 900)];
    let few = [(3, 501, 300), (307, 5, 401), (2, 16, 90), (703, 16, 300), (6, 33, 2600), (31, 203, 257)];
    let wasteful = [(10, 100, 300), (17, 301, 300), (100, 10, 400), (303, 17, 301)];
    let parts =
        [(33, 33, 33), (49, 50, 50), (65, 65, 65), (101, 99, 100), (20, 70, 12), (8, 8, 8), (5, 6, 7), (9, 40, 60)];
    let turned =
        [(4, 1003, 200), (2, 500, 401), (10, 301, 100), (43, 700, 65), (20, 603, 300), (4, 67, 40), (9, 155, 479)];
    let deep = [(16, 2, 500), (5, 4, 1200), (40, 2, 900), (20, 5, 250), (100, 6, 250), (8, 9, 700), (3, 4, 90)];
    // Small ones of which an operand is turned over on the stack, or none, for dot products; and one row or column of few elements.
    let dots = [(2, 15, 65), (3, 65, 43), (704, 3, 45), (53, 9, 118), (12, 5, 300), (12, 5, 1519), (4, 4, 100)];
    let lines = [(1, 163, 2), (1, 1, 301), (19, 1, 25), (1, 20, 30), (100, 1, 2), (1, 2, 49)];
    // Columns that end within a vector, next to each other.
    let close = [(4, 108, 6), (7, 298, 1), (45, 78, 11), (7, 7, 7)];
    let shapes = long.into_iter().chain(few).chain(wasteful).chain(parts).chain(turned).chain(deep);
    let shapes = shapes.chain(dots).chain(lines).chain(close);
    for (i, shape) in shapes.enumerate() {
        for letters in [b"NN", b"TC", b"TT", b"TN", b"NT", b"NC", b"CN", b"CC", b"CT"] {
            let mut g = Draw::new(i as u64, Order::Col, Size::Usual, 0);
            let (alpha, mut beta) = (g.rng.value::<T>(), g.rng.value::<T>());
            if i.is_multiple_of(3) && letters[0] == letters[1] {
                beta = Z::ZERO;
            }
            let p = gemm_of::<T>(&mut g, "gemm", (letters[0], letters[1]), shape, (alpha, beta), 1.0);
            check_one(&p, Api::Fortran, i as u64);
        }
    }
}

for_types!(level_3_at_huge_sizes => huge, gemm_of_slender_shapes => slender);
