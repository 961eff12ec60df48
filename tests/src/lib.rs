//! Tests of Corten's C ABI: the tools. The tests are in `tests/`.
//!
//! How it hangs together:
//! - [`library`] loads the library under test (`CORTEN_LIB`, by default the
//!   release build) and calls any exported routine by name.
//! - [`problem`]: a call as data, with what must come out.
//! - [`draw`] and [`routines`] make such problems at random, from a seed.
//! - [`conv`]: convolutions at random, and their reference.
//! - [`guard`] is memory that ends at an inaccessible page.
//! - [`suite`] walks through all options of a routine and checks each outcome.
//!
//! Environment: `CORTEN_LIB` (the library), `CORTEN_TEST_CASES` (random cases
//! for each combination of options, default 20), `CORTEN_TEST_FOREIGN=1` (the
//! library is another BLAS: test only the plain Fortran and CBLAS names).

pub mod comm;
pub mod conv;
pub mod draw;
pub mod guard;
pub mod library;
pub mod problem;
pub mod process;
pub mod rng;
pub mod routines;
pub mod scalar;
pub mod suite;
