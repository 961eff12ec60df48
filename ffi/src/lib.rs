//! The C ABI: Fortran BLAS and CBLAS in 32 and 64 bit integers, thread control, error reports.
//!
//! How to read it: a level file starts with the checked bodies, one per routine, generic over the element type; then
//! comes the table of exported names, which is where s, d, c and z appear. A row of the table gives a routine all its
//! symbols (see [`macros`]). To add a routine, write its body and its row, then `make headers`.
//!
//! What a body does, in this order: checks its arguments as Reference BLAS does (a bad one is reported to `xerbla_` or
//! `cblas_xerbla`, nothing is touched), returns at once where there is nothing to do (no pointer has been followed up
//! to here), turns pointers into views, calls the core. Nothing here computes, allocates or can panic.
//!
//! | file | holds |
//! |---|---|
//! | `types.rs` | names of C types, decoding of flags, argument checks, views from pointers |
//! | `error.rs` | what a bad argument leads to; `xerbla_` and its kin |
//! | `macros.rs` | from a row of a table to exported functions |
//! | `level1.rs` `level2.rs` `level3.rs` | Reference BLAS |
//! | `extensions.rs` | what OpenBLAS and MKL have beyond it |
//! | `conv.rs` | convolution |
//! | `status.rs` | status codes and messages of what is not BLAS |
//! | `runtime.rs` | threads, version, configuration |
//! | `status.rs` | status codes, the text of the last error |
//! | `comm.rs` | the collectives |
//! | `bin/corten-run.rs` | the launcher |

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the ILP64 entry points need 64 bit pointers");

#[macro_use]
mod macros;
mod error;
mod status;
mod types;

mod comm;
mod conv;
mod extensions;
mod level1;
mod level2;
mod level3;
mod runtime;
