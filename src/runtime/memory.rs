//! Scratch memory: page-aligned blocks for packed panels, taken at a call and given back at its end.
//!
//! A block that is given back waits in one of a few slots for the next call, so steady work allocates nothing. There is
//! no lock, no thread-local destructor and no table whose size limits the number of threads: a call that finds no block
//! allocates one, one that finds no free slot frees its own. What stays behind is at most [`SLOTS`] blocks, and
//! nothing before the first call that needs one. Out of memory, or over `CORTEN_SCRATCH_LIMIT`, the answer is `None`
//! and the caller takes a path that needs none.

use super::env;
use std::alloc::{Layout, alloc, dealloc};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

const ALIGN: usize = 4096;
const SLOTS: usize = 32;

/// Blocks grow in steps of this size, so that calls of similar size share them.
const STEP: usize = 256 << 10;

struct Header {
    bytes: usize,
}

static CACHE: [AtomicPtr<Header>; SLOTS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; SLOTS];

/// Whether `CORTEN_SCRATCH_LIMIT` allows a block of n elements.
pub fn allows<T>(n: usize) -> bool {
    n.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= limit())
}

/// A block of scratch memory; its contents are undefined.
pub struct Scratch {
    block: *mut Header,
}

impl Scratch {
    /// A block of at least `bytes`, aligned to a page.
    pub fn take(bytes: usize) -> Option<Scratch> {
        if bytes > limit() {
            return None;
        }
        for slot in &CACHE {
            if slot.load(Ordering::Relaxed).is_null() {
                continue;
            }
            let block = slot.swap(core::ptr::null_mut(), Ordering::Acquire);
            if block.is_null() {
                continue;
            }
            // SAFETY: whoever swaps a block out of a slot owns it; its header was written when it was allocated.
            if unsafe { (*block).bytes } >= bytes {
                return Some(Scratch { block });
            }
            free(block);
        }
        let bytes = bytes.checked_next_multiple_of(STEP)?;
        let layout = Layout::from_size_align(bytes.checked_add(ALIGN)?, ALIGN).ok()?;
        // SAFETY: the size is not zero.
        let block = unsafe { alloc(layout) }.cast::<Header>();
        if block.is_null() {
            return None;
        }
        // SAFETY: the block is larger than a header and aligned to a page.
        unsafe { block.write(Header { bytes }) };
        Some(Scratch { block })
    }

    /// A block of at least `n` elements.
    pub fn take_for<T>(n: usize) -> Option<Scratch> {
        Scratch::take(n.checked_mul(size_of::<T>())?)
    }

    /// First byte behind the header, aligned to a page.
    pub fn ptr<T>(&self) -> *mut T {
        self.block.cast::<u8>().wrapping_add(ALIGN).cast()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for slot in &CACHE {
            let put =
                slot.compare_exchange(core::ptr::null_mut(), self.block, Ordering::Release, Ordering::Relaxed).is_ok();
            if put {
                return;
            }
        }
        free(self.block);
    }
}

fn free(block: *mut Header) {
    // SAFETY: the block is owned here, and was allocated with this layout.
    unsafe { dealloc(block.cast(), Layout::from_size_align_unchecked((*block).bytes + ALIGN, ALIGN)) };
}

fn limit() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| env::SCRATCH_LIMIT.number().map_or(usize::MAX / 2, |n| n as usize))
}
