//! How bytes get from rank to rank: shared memory on one machine, MPI between machines.

pub mod bootstrap;
#[cfg(test)]
mod model;
pub mod mpi;
pub mod segment;
pub mod shm;
