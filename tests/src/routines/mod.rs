//! The generators: one function a routine, generic over the element type.
//!
//! Each draws the options and sizes, lays out the operands, lists the
//! arguments in the routine's order and states what must come out.

pub mod extensions;
pub mod level1;
pub mod level2;
pub mod level3;

use crate::draw::Draw;
use crate::problem::Problem;
use crate::scalar::Scalar;

/// A generator and the routine's name without its type letters.
pub struct Routine<T: Scalar> {
    pub name: &'static str,
    pub make: fn(&mut Draw) -> Problem<T>,
}

/// `routines![gemv, gbmv; if T::COMPLEX { hemv, geru }]`
macro_rules! routines {
    ($t:ident : both { $($b:ident),* $(,)? } real { $($r:ident),* $(,)? } complex { $($c:ident),* $(,)? }) => {{
        let mut v: Vec<$crate::routines::Routine<$t>> = vec![
            $($crate::routines::Routine { name: stringify!($b), make: $b::<$t> }),*
        ];
        if $t::COMPLEX {
            v.extend([$($crate::routines::Routine { name: stringify!($c), make: $c::<$t> as fn(&mut Draw) -> Problem<$t> }),*]);
        } else {
            v.extend([$($crate::routines::Routine { name: stringify!($r), make: $r::<$t> as fn(&mut Draw) -> Problem<$t> }),*]);
        }
        v
    }};
}
pub(crate) use routines;

/// `sgemm`, `dgemm`, ...
fn named<T: Scalar>(base: &str) -> String {
    format!("{}{base}", T::LETTER)
}

/// Every routine of all levels: what the promise tests run through.
pub fn all<T: Scalar>() -> Vec<Routine<T>> {
    let mut v = level1::table::<T>();
    v.extend(level2::table::<T>());
    v.extend(level3::table::<T>());
    if !crate::library::foreign() {
        v.extend(extensions::table::<T>());
    }
    v
}
