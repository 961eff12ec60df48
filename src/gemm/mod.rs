//! The product `C := alpha A B + beta C`, on which all of level 3 stands.
//!
//! A routine of level 3 states a [`Product`]: what kind of matrix each operand is and which part of C is wanted. The rest
//! (`driver.rs`) is the same for all of them: five loops around a register tile, after Goto and BLIS. Operands differ only
//! in how they are packed (`pack.rs`); how large the blocks are is a matter of pure functions (`blocking.rs`); products
//! too small to be worth packing run on the operands in place (`small.rs`).

pub mod blocking;
pub mod driver;
pub mod pack;
pub mod small;

pub use driver::{Product, Threads, run};
pub use pack::Operand;
