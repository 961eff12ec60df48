//! Convolution: forward, backward-data and backward-weights in one, two and three dimensions, in the user's own layout.
//!
//! A call is described by a plain struct, which [`problem`] checks; [`plan`] says which algorithm it gets and why, and runs
//! it. There are two families of them:
//!
//! | file | what | when |
//! |---|---|---|
//! | `direct.rs` | forward and backward-data as sums over a window | any problem |
//! | `pointwise.rs` | the same for 1x1 kernels on channels-first images: a product of matrices | where it applies |
//! | `planar.rs` | backward-data with pixels in vectors | few result channels on channels-first images |
//! | `scatter.rs` | backward-data by products that are added in place | few result channels |
//! | `gradient.rs` | backward-weights as sums over pixels | any problem |
//! | `winograd.rs` | both by Winograd's F(4x4, 3x3) and F(3x3, 4x4) | kernels of up to 6x6 taps, stride 1 or 2, default math |
//!
//! No algorithm knows the layout of an image: what lies right is read in place, everything else passes through strips in
//! cache (`strip.rs`). No tensor is ever reordered as a whole, and no matrix of patches is made. Memory is one block whose
//! size is known before the work begins (`memory.rs`). Without any, `naive.rs` computes by the definition.
//!
//! Same bits for any number of threads: tasks have results of their own, and how a sum is cut depends on the problem
//! alone.

pub mod bias;
pub mod direct;
pub mod gradient;
pub mod memory;
pub mod naive;
pub mod plan;
pub mod planar;
pub mod pointwise;
pub mod problem;
pub mod scatter;
pub mod strip;
pub mod winograd;

#[cfg(test)]
mod tests;

use crate::kernels::conv::{Activation, ConvKernel};
use crate::kernels::{GemmKernel, table};
use crate::runtime::cpu::{self, Isa};

pub use crate::status::{Error, Status};
pub use plan::{Inputs, Plan, math, set_math};
pub use problem::{Description, Math, Pass, Problem};

/// The kernels that a plan uses.
#[derive(Clone, Copy)]
pub struct Kit {
    pub gemm: &'static dyn GemmKernel<In = f32, Out = f32>,
    pub conv: &'static dyn ConvKernel<f32>,
    /// Bytes of an array beyond which the last cache does not hold it until it is read again.
    pub far: usize,
    /// Bytes that L2 holds beside what streams by.
    pub near: usize,
}

impl Kit {
    /// Those of the instruction set in use.
    pub fn get() -> Kit {
        Kit::of(cpu::isa())
    }
    pub fn of(isa: Isa) -> Kit {
        let table = table(isa);
        Kit { gemm: table.f32.gemm, conv: table.conv, far: cpu::caches().l3 / 2, near: cpu::caches().l2 / 2 }
    }
}

/// What becomes of a sum: `act(sum + bias + beta * old)`.
#[derive(Clone, Copy)]
pub struct Epilogue {
    pub beta: f32,
    /// One number for each result channel, or null.
    pub bias: *const f32,
    pub activation: Activation<f32>,
}
