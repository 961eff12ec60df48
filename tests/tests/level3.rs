//! Level 3: every routine, every combination of options, every entry point,
//! against the reference, between guard pages. The generators are in
//! `src/routines/level3.rs`.

use corten_tests::draw::Size;
use corten_tests::for_types;
use corten_tests::routines::level3::table;
use corten_tests::scalar::Scalar;
use corten_tests::suite::{cases, check_table};

fn usual<T: Scalar>() {
    check_table(&table::<T>(), Size::Usual, cases())
}

fn large<T: Scalar>() {
    check_table(&table::<T>(), Size::Large, 1)
}

fn slender<T: Scalar>() {
    check_table(&table::<T>(), Size::Slender, cases().div_ceil(4))
}

for_types!(slender_sizes => slender, usual_sizes => usual, large_sizes => large);
