//! Level 2: every routine, every combination of options, every entry point,
//! against the reference, between guard pages. The generators are in
//! `src/routines/level2.rs`.

use corten_tests::draw::Size;
use corten_tests::for_types;
use corten_tests::routines::level2::table;
use corten_tests::scalar::Scalar;
use corten_tests::suite::{cases, check_table};

fn usual<T: Scalar>() {
    check_table(&table::<T>(), Size::Usual, cases())
}

fn large<T: Scalar>() {
    check_table(&table::<T>(), Size::Large, 1)
}

/// The routines that cut a triangle into parts when it is large, at such sizes.
fn cut<T: Scalar>() {
    let mut routines = table::<T>();
    routines.retain(|r| ["trmv", "trsv", "symv", "hemv", "spmv", "hpmv"].iter().any(|name| r.name.ends_with(name)));
    assert!(routines.len() >= 4, "the table has other names");
    check_table(&routines, Size::Cut, 1)
}

for_types!(usual_sizes => usual, large_sizes => large, cut_sizes => cut);
