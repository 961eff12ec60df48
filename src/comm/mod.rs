//! Collectives: what Horovod is used for, through shared memory on one machine and the site's MPI between machines.
//!
//! 1. [`world`]: `init` finds out who is there ([`launch`]), brings the ranks of a machine together
//!    ([`transport::bootstrap`]) and holds the process sets; `shutdown` ends it, as often as one likes.
//! 2. [`transport::segment`] is the memory the ranks of a machine share, [`transport::shm`] the protocol in it: steps,
//!    each with one synchronisation. [`transport::mpi`] moves bytes between machines.
//! 3. [`collectives`] states every operation in steps, [`two_level`] the same over several machines; [`group`] chooses
//!    between them and holds Adasum, which is made of the others.
//! 4. [`queue`] is the asynchronous side: named tensors, agreed on in rounds, fused, in a thread of its own that sleeps
//!    while there is nothing to do.
//! 5. [`types`]: errors, operations, and the header by which ranks find out that they disagree.
//!
//! A blocking call runs in the caller's thread from beginning to end. Results are the same bits on all ranks.

pub mod collectives;
pub mod group;
pub mod launch;
pub mod queue;
pub mod sys;
pub mod transport;
pub mod two_level;
pub mod types;
pub mod world;

pub use types::{Element, Error, Op, Reduction, Result, Status};
