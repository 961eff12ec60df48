//! The driver: every combination of a routine's options, in both orders and
//! through every entry point, with random sizes and guard pages.

use crate::draw::{Draw, Size};
use crate::library::Api;
use crate::problem::{Layout, Order, Problem};
use crate::process::while_in;
use crate::rng::seed_of;
use crate::routines::Routine;
use crate::scalar::{Scalar, without_reference};

/// Random cases for each combination of options.
pub fn cases() -> usize {
    match std::env::var("CORTEN_TEST_CASES") {
        Ok(s) => s.parse().expect("CORTEN_TEST_CASES must be a number"),
        Err(_) => 20,
    }
}

/// Makes the problem of a given seed, order, size and combination.
pub fn make<T: Scalar>(r: &Routine<T>, seed: u64, order: Order, size: Size, combo: u64) -> Problem<T> {
    (r.make)(&mut Draw::new(seed, order, size, combo))
}

/// The same, with coefficients that are finite and not zero.
pub fn make_plain<T: Scalar>(r: &Routine<T>, seed: u64, size: Size, combo: u64) -> Problem<T> {
    let mut d = Draw::new(seed, Order::Col, size, combo);
    d.plain = true;
    (r.make)(&mut d)
}

/// The same for tests that only compare bits: what must come out is not
/// computed, which is most of the time that a large problem takes.
pub fn make_bits<T: Scalar>(r: &Routine<T>, seed: u64, size: Size, combo: u64) -> Problem<T> {
    without_reference(|| make_plain(r, seed, size, combo))
}

/// How many combinations of options the routine has.
pub fn combos<T: Scalar>(r: &Routine<T>) -> u64 {
    let mut d = Draw::new(1, Order::Col, Size::Tiny, 0);
    (r.make)(&mut d);
    d.combos
}

/// Runs and checks one problem; panics with all that is needed to repeat it.
pub fn check_one<T: Scalar>(p: &Problem<T>, api: Api, seed: u64) {
    let what = format!("{} through {api:?}, seed {seed}", p.describe());
    let out = while_in(&what, || p.run(api, Layout::Guards(seed)));
    if let Err(e) = p.check(api, &out) {
        panic!("{what}: {e}");
    }
}

/// All combinations of all routines of a table. Each case goes once through
/// a Fortran name, once through CBLAS column-major and once row-major; which
/// of the names of that kind (LP64, ILP64, scipy) rotates with the case.
pub fn check_table<T: Scalar>(table: &[Routine<T>], size: Size, cases: usize) {
    let (cblas, fortran): (Vec<Api>, Vec<Api>) = Api::tested().iter().partition(|a| a.is_cblas());
    for r in table {
        let base = (seed_of(r.name) ^ (T::LETTER as u64) << 40) >> 8;
        let mut turn = 0;
        // Large problems cost much: a few combinations, spread over all
        // options (7 has no factor in common with their number).
        let all = combos(r);
        let some = if matches!(size, Size::Usual | Size::Cut) { all } else { all.min(4) };
        // Routines with few options get more cases of each.
        let each = if size == Size::Usual { cases.max(12 * cases / all as usize) } else { cases };
        for step in 0..some {
            let combo = if some == all { step } else { (base + 7 * step) % all };
            for case in 0..each {
                let seed = base.wrapping_add((case as u64) << 20);
                let col = make(r, seed, Order::Col, size, combo);
                check_one(&col, fortran[turn % fortran.len()], seed);
                check_one(&col, cblas[turn % cblas.len()], seed ^ 1);
                if col.order.is_some() {
                    let row = make(r, seed ^ 2, Order::Row, size, combo);
                    if row.fortran_order {
                        check_one(&row, fortran[(turn + 1) % fortran.len()], seed);
                    }
                    check_one(&row, cblas[turn % cblas.len()], seed ^ 3);
                }
                turn += 1;
            }
        }
    }
}

/// Expands a generic test to the four types: `for_types!(name: body::<T>)`.
#[macro_export]
macro_rules! for_types {
    ($($name:ident => $f:ident),* $(,)?) => {
        $(mod $name {
            #[test]
            fn s() { super::$f::<f32>() }
            #[test]
            fn d() { super::$f::<f64>() }
            #[test]
            fn c() { super::$f::<corten_tests::scalar::C32>() }
            #[test]
            fn z() { super::$f::<corten_tests::scalar::C64>() }
        })*
    };
}
