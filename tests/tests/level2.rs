//! Level 2: every routine, every combination of options, every entry point,
//! against the reference, between guard pages. The generators are in
//! `src/routines/level2.rs`.

use corten_tests::draw::{Draw, Size};
use corten_tests::for_types;
use corten_tests::library::Api;
use corten_tests::problem::Order;
use corten_tests::routines::level2::{gemv_of, table};
use corten_tests::scalar::{Scalar, Z};
use corten_tests::suite::{cases, check_one, check_table};

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

/// Tables of few columns and any number of rows, most of them without a gap between rows.
fn tables<T: Scalar>() {
    for columns in 1..=9 {
        for rows in [1, 2, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 70, 300] {
            for seed in 0..4 {
                let order = if seed % 2 == 0 { Order::Col } else { Order::Row };
                let mut g = Draw::new(seed + 7 * rows as u64, order, Size::Usual, 0);
                let (alpha, beta) = (g.rng.value::<T>(), [Z::ZERO, Z::real(1.0), g.rng.value::<T>()][rows % 3]);
                let (trans, size) = if seed % 2 == 0 { (b'T', (columns, rows)) } else { (b'N', (rows, columns)) };
                let p = gemv_of::<T>(&mut g, trans, size, (alpha, beta));
                check_one(&p, if seed % 2 == 0 { Api::Fortran } else { Api::Cblas }, seed);
            }
        }
    }
}

for_types!(tables_of_few_columns => tables, usual_sizes => usual, large_sizes => large, cut_sizes => cut);
