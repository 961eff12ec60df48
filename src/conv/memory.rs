//! The memory of a call: one block, of which a part is shared by all threads and each thread has a slot of its own.
//!
//! The block is scratch memory of the library or the caller's workspace. Its size is known before anything is computed, so
//! a call that cannot have it has written nothing yet.

use crate::runtime::memory::Scratch;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a call needs, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    pub shared: usize,
    pub each: usize,
}

/// Parts begin at multiples of this.
pub const ALIGN: usize = 64;

impl Room {
    /// Bytes for so many threads.
    pub fn bytes(&self, threads: usize) -> usize {
        let slots = threads.min(MOST_SLOTS).saturating_mul(self.each);
        self.shared.saturating_add(slots).saturating_add(ALIGN)
    }
    /// The larger of both in each part: for passes that run one after the other.
    pub fn max(self, o: Room) -> Room {
        Room { shared: self.shared.max(o.shared), each: self.each.max(o.each) }
    }
}

/// Bytes of a call at most, prepared weights (or one set of sums of their gradient) not counted: fewer threads take part
/// where each needs much.
pub const MOST_BYTES: usize = 64 << 20;

/// More threads than this share no slots; they are not asked for.
pub const MOST_SLOTS: usize = 64;

/// Bytes of n elements, rounded up to whole parts.
pub fn bytes<T>(n: usize) -> usize {
    n.saturating_mul(size_of::<T>()).saturating_add(ALIGN - 1) / ALIGN * ALIGN
}

/// A call's memory.
pub struct Memory {
    base: *mut u8,
    room: Room,
    slots: usize,
    free: AtomicU64,
    _own: Option<Scratch>,
}

// SAFETY: an address; slots are handed out to one thread at a time, and the shared part is kept apart by its users.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory for at most `threads` threads, fewer if the caller's workspace is too small for them; `None` if there is
    /// not enough for one.
    pub fn new(room: Room, threads: usize, workspace: Option<(*mut u8, usize)>) -> Option<Memory> {
        let threads = threads.clamp(1, MOST_SLOTS);
        let (base, size, own) = match workspace {
            Some((base, size)) => (base, size, None),
            None => {
                let own = Scratch::take(room.bytes(threads))?;
                (own.ptr::<u8>(), room.bytes(threads), Some(own))
            }
        };
        let gap = base.align_offset(ALIGN);
        let left = size.checked_sub(gap)?.checked_sub(room.shared)?;
        let slots = left.checked_div(room.each).map_or(threads, |most| most.min(threads));
        if slots == 0 {
            return None;
        }
        let free = if slots == 64 { u64::MAX } else { (1 << slots) - 1 };
        Some(Memory { base: base.wrapping_add(gap), room, slots, free: AtomicU64::new(free), _own: own })
    }
    /// Threads that may hold a slot at once.
    pub fn threads(&self) -> usize {
        self.slots
    }
    pub fn shared<T>(&self) -> *mut T {
        self.base.cast()
    }
    /// A slot for the time of a task. There is one for each of [`Memory::threads`] threads.
    pub fn slot(&self) -> Slot<'_> {
        loop {
            let free = self.free.load(Ordering::Relaxed);
            if free == 0 {
                core::hint::spin_loop();
                continue;
            }
            let index = free.trailing_zeros();
            let taken = free & !(1 << index);
            if self.free.compare_exchange_weak(free, taken, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                let at = self.base.wrapping_add(self.room.shared + index as usize * self.room.each);
                return Slot { memory: self, index, at };
            }
        }
    }
}

/// A thread's own part.
pub struct Slot<'a> {
    memory: &'a Memory,
    index: u32,
    at: *mut u8,
}

impl Slot<'_> {
    /// The next n elements of the slot.
    pub fn take<T>(&mut self, n: usize) -> *mut T {
        let part = self.at;
        self.at = part.wrapping_add(bytes::<T>(n));
        part.cast()
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.memory.free.fetch_or(1 << self.index, Ordering::Release);
    }
}

/// A pointer of the caller that worker threads may follow.
#[derive(Clone, Copy)]
pub struct Shared<T>(pub *mut T);
// SAFETY: an address; what is written through it is kept apart by the tasks.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}
impl<T> Shared<T> {
    pub fn get(&self) -> *mut T {
        self.0
    }
}
