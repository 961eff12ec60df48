//! The memory that the ranks of one machine share: one file without a name, mapped whole by every rank.
//!
//! ```text
//! | page 0       | lanes                          | arena of rank 0 | arena of rank 1 | …
//! | who is there | control lines, staging buffers | corten_alloc    |
//! ```
//! The file is as large as the address space allows and almost all of it is a hole, so an address is always `base +
//! offset`, nothing is ever mapped later, and a rank can hand out a buffer without asking the others. Offsets are
//! assigned without a lock that a dying rank could hold: lanes by counting, which all ranks do alike, arenas by their
//! owners alone.

use super::super::sys::{self, Limit};
use super::super::types::{Error, Result, Status};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, OnceLock, PoisonError};

pub const PAGE: usize = 4096;

/// Most ranks on one machine: their entries fill page 0.
pub const MAX_LOCAL: usize = 1000;

/// Address space for lanes and for each arena where nothing limits it.
const LANES: usize = 16 << 30;
const ARENA: usize = 64 << 30;

/// Where a rank is in its life.
pub const ABSENT: u32 = 0;
pub const ACTIVE: u32 = 1;
pub const JOINED: u32 = 2;
pub const LEFT: u32 = 3;

/// Page 0.
#[repr(C, align(4096))]
struct Front {
    /// The first failure that anybody saw: 0, or what [`Failure`] packs into it.
    failure: AtomicU64,
    state: [AtomicU32; MAX_LOCAL],
}
const _: () = assert!(size_of::<Front>() == PAGE);

/// Why nothing works any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The process of a rank ended.
    Ended,
    /// A rank called shutdown.
    Left,
    /// A rank waits in join, where only named operations go on.
    Joined,
    /// A rank did not come within so many seconds.
    Late(u32),
    /// A rank waited in a blocking call for this one, which did not come and has made asynchronous calls without it.
    Crossed(u32),
    /// A rank's MPI failed.
    Mpi,
}

impl Failure {
    /// As a word, which is not 0.
    pub fn pack(self, rank: u32) -> u64 {
        let (kind, extra) = match self {
            Failure::Ended => (1, 0),
            Failure::Left => (2, 0),
            Failure::Joined => (3, 0),
            Failure::Late(seconds) => (4, seconds),
            Failure::Mpi => (5, 0),
            Failure::Crossed(named) => (6, named),
        };
        kind << 60 | u64::from(extra & 0x0fff_ffff) << 32 | u64::from(rank)
    }
    pub fn unpack(word: u64) -> Option<(Failure, u32)> {
        let extra = (word >> 32) as u32 & 0x0fff_ffff;
        let failure = match word >> 60 {
            0 => return None,
            1 => Failure::Ended,
            2 => Failure::Left,
            3 => Failure::Joined,
            4 => Failure::Late(extra),
            5 => Failure::Mpi,
            _ => Failure::Crossed(extra),
        };
        Some((failure, word as u32))
    }
    /// The text that rank `me` gives, as all others do; but to be late oneself needs other words.
    pub fn error(self, rank: u32, me: u32) -> Error {
        match self {
            Failure::Ended => Error::new(Status::Peer, format!("rank {rank} ended without corten_shutdown")),
            Failure::Left => Error::new(Status::Peer, format!("rank {rank} has called corten_shutdown")),
            Failure::Joined => Error::new(
                Status::Peer,
                format!("rank {rank} is in corten_join; only asynchronous operations may follow on the other ranks"),
            ),
            Failure::Late(seconds) if rank == me => {
                let text = format!(
                    "this rank, {me}, did not come within {seconds} s (CORTEN_TIMEOUT) to what others wait for"
                );
                Error::new(Status::Timeout, text)
            }
            Failure::Late(seconds) => {
                Error::new(Status::Timeout, format!("rank {rank} did not come within {seconds} s (CORTEN_TIMEOUT)"))
            }
            Failure::Mpi => Error::new(Status::System, format!("MPI failed on rank {rank}")),
            Failure::Crossed(named) => Error::new(
                Status::Timeout,
                format!(
                    "rank {rank} is in a blocking call and waits for rank {named}, which did not come within \
                     CORTEN_TIMEOUT and has made asynchronous calls that rank {rank} has not: it is late, or an operation \
                     is blocking on one of them and not on the other"
                ),
            ),
        }
    }
}

/// Sizes of the parts, the same on all ranks: the first rank decides and tells the others.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Plan {
    pub ranks: u32,
    /// More ranks than processors: spinning would only keep the others from running.
    pub crowded: u32,
    pub lanes: u64,
    pub arena: u64,
}

impl Plan {
    /// As much as the limits on address space and files allow. Of a limited address space, a quarter is ours.
    pub fn new(ranks: usize, crowded: bool, address_space: u64) -> Plan {
        let limit = (address_space / 4).min(sys::limit_of(Limit::FileSize));
        let (mut lanes, mut arena) = (LANES as u64, ARENA as u64);
        let wanted = PAGE as u64 + lanes + arena * ranks as u64;
        // 47 bits of addresses are all a process has.
        let limit = limit.min(1 << 45);
        if wanted > limit {
            let share = limit / 2 / PAGE as u64 * PAGE as u64;
            lanes = lanes.min(share);
            arena = (share / ranks as u64 / PAGE as u64).saturating_sub(1) * PAGE as u64;
            arena = arena.min(ARENA as u64);
        }
        Plan { ranks: ranks as u32, crowded: u32::from(crowded), lanes, arena }
    }
    pub fn total(&self) -> usize {
        PAGE + self.lanes as usize + self.arena as usize * self.ranks as usize
    }
}

/// The mapping, as one rank has it.
pub struct Segment {
    base: *mut u8,
    pub plan: Plan,
    fd: OwnedFd,
    me: usize,
    /// Our number among all ranks.
    rank: u32,
    /// Blocks of this rank's arena that are free, by offset, and those in use.
    arena: Mutex<Arena>,
    /// What else is to be done when this process learns of a failure.
    alarm: OnceLock<Alarm>,
}

/// Called with the failure, its rank, and whether this call is the one that made it known on this machine: of all calls, in
/// all its processes, one at most is.
type Alarm = Box<dyn Fn(Failure, u32, bool) + Send + Sync>;

// SAFETY: the memory is shared by processes anyway; all access goes through atomics or the order that lanes establish.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

#[derive(Default)]
struct Arena {
    free: BTreeMap<usize, usize>,
    used: BTreeMap<usize, usize>,
}

/// File and byte of the mark that this process holds, while it is a rank.
static MARK: Mutex<Option<(RawFd, usize)>> = Mutex::new(None);

/// For a process that is about to end and may wait for others on its way (in `MPI_Finalize`): they see it as ended from
/// now on, and need not wait for it.
pub fn count_as_ended() {
    if let Some((fd, me)) = MARK.lock().unwrap_or_else(PoisonError::into_inner).take() {
        sys::unlock_byte(fd, me);
    }
}

impl Segment {
    /// Maps the file as number `me` of the machine, `rank` among all, and marks this rank as alive.
    pub fn join(fd: OwnedFd, plan: Plan, me: usize, rank: u32) -> Result<Segment> {
        let base = sys::map(fd.as_raw_fd(), plan.total())?;
        let mut arena = Arena::default();
        arena.free.insert(PAGE + plan.lanes as usize + plan.arena as usize * me, plan.arena as usize);
        let segment = Segment { base, plan, fd, me, rank, arena: Mutex::new(arena), alarm: OnceLock::new() };
        sys::lock_byte(segment.fd.as_raw_fd(), me)?;
        *MARK.lock().unwrap_or_else(PoisonError::into_inner) = Some((segment.fd.as_raw_fd(), me));
        segment.set_state(ACTIVE);
        Ok(segment)
    }

    fn front(&self) -> &Front {
        // SAFETY: the mapping begins with it; it consists of atomics, for which zeros are a value.
        unsafe { &*self.base.cast::<Front>() }
    }
    pub fn set_state(&self, state: u32) {
        self.front().state[self.me].store(state, Ordering::SeqCst);
    }
    pub fn state(&self, local: usize) -> u32 {
        self.front().state[local].load(Ordering::SeqCst)
    }
    /// Whether the process of a rank of this machine still exists.
    pub fn is_alive(&self, local: usize) -> bool {
        local == self.me || self.state(local) == ABSENT || sys::byte_is_locked(self.fd.as_raw_fd(), local)
    }
    /// The failure that everybody reports, if there is one.
    pub fn failure(&self) -> Option<(Failure, u32)> {
        Failure::unpack(self.front().failure.load(Ordering::SeqCst))
    }
    /// What it means to this rank.
    pub fn error(&self, known: (Failure, u32)) -> Error {
        self.learn(known, false)
    }
    /// Makes a failure of a (global) rank known to all of this machine; the first one counts and is what everybody says.
    pub fn fail(&self, failure: Failure, rank: u32) -> Error {
        let known = self.note(failure, rank);
        self.learn(known.unwrap_or((failure, rank)), known.is_none())
    }
    /// The same for one that another machine has found out.
    pub fn hear(&self, failure: Failure, rank: u32) -> Error {
        let known = self.note(failure, rank);
        self.error(known.unwrap_or((failure, rank)))
    }
    /// What is to be done whenever this process learns of a failure, or is reminded of it; set before anything can fail.
    pub fn on_failure(&self, alarm: impl Fn(Failure, u32, bool) + Send + Sync + 'static) {
        self.alarm.get_or_init(|| Box::new(alarm));
    }
    /// Writes a failure down unless there is one, which is returned.
    fn note(&self, failure: Failure, rank: u32) -> Option<(Failure, u32)> {
        let word = failure.pack(rank);
        let first = self.front().failure.compare_exchange(0, word, Ordering::SeqCst, Ordering::SeqCst);
        first.err().and_then(Failure::unpack)
    }
    fn learn(&self, (failure, rank): (Failure, u32), found: bool) -> Error {
        if let Some(alarm) = self.alarm.get() {
            alarm(failure, rank, found);
        }
        failure.error(rank, self.rank)
    }
    /// Address of an offset in the lanes.
    pub fn lane(&self, offset: usize) -> *mut u8 {
        self.base.wrapping_add(PAGE + offset)
    }
    /// Address of an offset of the whole.
    pub fn at(&self, offset: u64) -> *mut u8 {
        self.base.wrapping_add(offset as usize)
    }
    /// The offset of memory that lies in some rank's arena, all of it.
    pub fn offset_of(&self, p: *const u8, bytes: usize) -> Option<u64> {
        let offset = (p as usize).checked_sub(self.base as usize)?;
        let first = PAGE + self.plan.lanes as usize;
        (offset >= first && offset.checked_add(bytes)? <= self.plan.total()).then_some(offset as u64)
    }

    /// A block of this rank's arena, aligned to a page and zero.
    pub fn alloc(&self, bytes: usize) -> Result<*mut u8> {
        let Some(size) = bytes.max(1).checked_next_multiple_of(PAGE) else {
            return Err(Error::new(Status::Argument, format!("cannot allocate {bytes} bytes")));
        };
        let mut arena = self.arena.lock().unwrap_or_else(|e| e.into_inner());
        let Some((&at, &have)) = arena.free.iter().find(|&(_, &have)| have >= size) else {
            let (room, limit) = (arena.free.values().max().copied().unwrap_or(0), self.plan.arena);
            let text = format!("no {bytes} bytes in one piece in the shared arena: {room} of {limit} are free");
            return Err(Error::new(Status::System, text));
        };
        sys::reserve(self.fd.as_raw_fd(), at, size)?;
        arena.free.remove(&at);
        if have > size {
            arena.free.insert(at + size, have - size);
        }
        arena.used.insert(at, size);
        let p = self.base.wrapping_add(at);
        if size >= 2 << 20 {
            sys::advise_huge(p, size);
        }
        Ok(p)
    }

    /// Gives a block back; false if it is not one.
    pub fn free(&self, p: *mut u8) -> bool {
        let Some(at) = (p as usize).checked_sub(self.base as usize) else { return false };
        let mut arena = self.arena.lock().unwrap_or_else(|e| e.into_inner());
        let Some(size) = arena.used.remove(&at) else { return false };
        sys::release(self.fd.as_raw_fd(), at, size);
        let (mut from, mut to) = (at, at + size);
        if let Some((&before, &len)) = arena.free.range(..at).next_back().filter(|&(&b, &len)| b + len == at) {
            arena.free.remove(&before);
            debug_assert_eq!(before + len, at);
            from = before;
        }
        if let Some(len) = arena.free.remove(&to) {
            to += len;
        }
        arena.free.insert(from, to - from);
        true
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let mut mark = MARK.lock().unwrap_or_else(PoisonError::into_inner);
        // After another corten_init the mark is that of another segment, whose file has another number while ours is open.
        if *mark == Some((self.fd.as_raw_fd(), self.me)) {
            *mark = None;
        }
        drop(mark);
        // SAFETY: whoever holds a pointer into the segment holds the segment; buffers of `alloc` end with it.
        unsafe { sys::unmap(self.base, self.plan.total()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicUsize;
    use std::sync::Arc;

    /// Who makes a failure known is the one that tells other machines, also if another thread has learnt of it in between.
    #[test]
    fn one_call_has_found_a_failure() {
        let plan = Plan::new(1, false, 1 << 30);
        let segment = Segment::join(sys::shared_memory(plan.total()).unwrap(), plan, 0, 0).unwrap();
        let (found, heard) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let counts = (found.clone(), heard.clone());
        segment.on_failure(move |failure, rank, first| {
            assert_eq!((failure, rank), (Failure::Ended, 1));
            let count = if first { &counts.0 } else { &counts.1 };
            count.fetch_add(1, Ordering::SeqCst);
        });
        let both = || (found.load(Ordering::SeqCst), heard.load(Ordering::SeqCst));
        // What `fail` does, with another thread that comes in between.
        let known = segment.note(Failure::Ended, 1);
        segment.error(segment.failure().unwrap());
        assert_eq!(both(), (0, 1));
        segment.learn(known.unwrap_or((Failure::Ended, 1)), known.is_none());
        assert_eq!(both(), (1, 1));
        segment.fail(Failure::Late(3), 0);
        segment.hear(Failure::Left, 0);
        assert_eq!(both(), (1, 3));
    }
}
