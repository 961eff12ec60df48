//! Who started this process, and as which rank of how many: read from the environment, believed only as far as the
//! transport confirms it.

use super::types::{Error, Result, Status};
use crate::runtime::env;

/// What the environment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// `corten-run`: rank, size and the token of the rendezvous.
    Own { rank: u32, size: u32, token: String },
    /// An MPI launcher: its name, and rank and size as it gives them.
    Mpi { by: &'static str, rank: u32, size: u32 },
    /// Nobody.
    Alone,
}

impl core::fmt::Display for Launch {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        match self {
            Launch::Own { rank, size, .. } => write!(f, "rank {rank} of {size}, by corten-run"),
            Launch::Mpi { by, rank, size } => write!(f, "rank {rank} of {size}, by {by}"),
            Launch::Alone => write!(f, "one rank, no launcher"),
        }
    }
}

/// Variables of the launchers, most specific first: name, rank, size, and one that must be there as well. Slurm sets its
/// numbers in batch scripts too, where nothing was launched: only a step counts.
const LAUNCHERS: [(&str, &str, &str, &str); 4] = [
    ("Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ""),
    ("mpiexec (hydra)", "PMI_RANK", "PMI_SIZE", ""),
    ("PALS", "PALS_RANKID", "PALS_SIZE", ""),
    ("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"),
];

pub fn find() -> Result<Launch> {
    if let (Some(rank), Some(size)) = (env::RANK.number(), env::SIZE.number()) {
        let token = env::JOB.get().unwrap_or_default().to_string();
        if rank >= size || size > u64::from(u32::MAX) || (token.is_empty() && size > 1) {
            let text = format!("CORTEN_RANK={rank} CORTEN_SIZE={size} CORTEN_JOB={token} do not fit together");
            return Err(Error::new(Status::Argument, text));
        }
        return Ok(Launch::Own { rank: rank as u32, size: size as u32, token });
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.trim().parse::<u32>().ok());
    for (by, rank, size, also) in LAUNCHERS {
        if let (Some(rank), Some(size)) = (number(rank), number(size))
            && (also.is_empty() || std::env::var_os(also).is_some())
        {
            return Ok(Launch::Mpi { by, rank, size });
        }
    }
    Ok(Launch::Alone)
}
