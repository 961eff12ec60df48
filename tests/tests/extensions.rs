//! What goes beyond Reference BLAS, through every entry point. The generators
//! are in `src/routines/extensions.rs`.

use corten_tests::draw::{Draw, Size};
use corten_tests::for_types;
use corten_tests::library::{Api, foreign};
use corten_tests::problem::Order;
use corten_tests::routines::extensions::{fortran_only, older, table};
use corten_tests::scalar::Scalar;
use corten_tests::suite::{cases, check_one, check_table};

fn usual<T: Scalar>() {
    // Debian's OpenBLAS, used to test the tests, has only the older ones.
    let table = if foreign() { older::<T>() } else { table::<T>() };
    check_table(&table, Size::Usual, cases())
}

fn large<T: Scalar>() {
    let table = if foreign() { older::<T>() } else { table::<T>() };
    check_table(&table, Size::Large, 1)
}

fn without_cblas<T: Scalar>() {
    for r in fortran_only::<T>() {
        for seed in 0..40 {
            let p = (r.make)(&mut Draw::new(seed, Order::Col, Size::Usual, 0));
            for &api in Api::tested().iter().filter(|a| !a.is_cblas()) {
                check_one(&p, api, seed);
            }
        }
    }
}

for_types!(usual_sizes => usual, large_sizes => large, fortran_names => without_cblas);

/// Letters are compared without regard to case, nothing else is a letter.
#[test]
fn lsame() {
    let f = corten_tests::func!(lsame_: fn(*const u8, *const u8, usize, usize) -> i32);
    for a in 0..=255u8 {
        for b in [b'A', b'a', b'n', b'N', b'Z', b'0', b'[', b'{'] {
            // SAFETY: pointers to one letter each.
            let same = unsafe { f(&a, &b, 1, 1) } != 0;
            assert_eq!(same, a.eq_ignore_ascii_case(&b), "lsame_({a}, {b})");
        }
    }
}
