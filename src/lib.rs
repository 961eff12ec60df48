//! The five-minute map of Corten's core.
//!
//! 1. A C or Fortran call enters `ffi/src/level{1,2,3}.rs`: arguments are checked (a bad one goes to `xerbla`), letters
//!    and enums become views ([`matrix`]) whose strides and flags carry transposition, row-major order and conjugation.
//! 2. [`level3`] states the routine as one or more products `C := alpha A B + beta C` whose operands are general,
//!    symmetric or triangular ([`gemm::Operand`]) and whose result may be one triangle only.
//! 3. [`gemm`] cuts C into blocks, packs the operands and hands micro-panels to a kernel: five loops, written once.
//! 4. [`kernels`] holds one file an instruction set. `T::kernels()` is the one dispatch point: chosen once, from what
//!    the CPU and the operating system offer, lowered by `CORTEN_ISA`.
//! 5. [`level2`] sees every storage (full, band, packed) as lines ([`matrix::Lines`]) and uses the line kernels that
//!    [`level1`] uses.
//! 6. [`conv`] is convolution: its own plans and passes on the same register tiles.
//! 7. [`comm`] is the collectives: many processes, one result.
//! 8. [`runtime`] is what all of it stands on: CPU features, threads, scratch memory, environment, tracing.
//!
//! Direction of dependence: `ffi → level1-3, conv, comm → gemm → kernels`, with `scalar`, `matrix` and `runtime` below all.
//! Read in this order: [`matrix`], [`kernels`], `gemm/driver.rs`, `level3/`.
//!
//! Where unsafe lives: raw pointers become views in `ffi/`; views are used by safe code; kernels take raw pointers again
//! and state what they need in their contract. Every unsafe block says why it is sound.

pub mod comm;
pub mod conv;
pub mod gemm;
pub mod kernels;
pub mod level1;
pub mod level2;
pub mod level3;
pub mod matrix;
pub mod runtime;
pub mod scalar;
pub mod status;

pub use scalar::{Complex, Real, Scalar, c32, c64};
