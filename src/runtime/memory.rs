//! Scratch memory: page-aligned blocks for packed panels, taken at a call and given back at its end.
//!
//! A block that is given back waits in one of a few slots for the next call, so steady work allocates nothing. There is
//! no lock, no thread-local destructor and no table whose size limits the number of threads: a call that finds no block
//! allocates one, one that finds no free slot frees its own. What stays behind is at most [`SLOTS`] blocks, and
//! nothing before the first call that needs one. Out of memory, or over `CORTEN_SCRATCH_LIMIT`, the answer is `None`
//! and the caller takes a path that needs none.
//!
//! Large blocks are whole large pages, and the system is asked for such: panels that are read again and again should then
//! lie evenly over the sets of L2, and take one entry of address translation for all.

use super::{env, sys};
use std::alloc::{Layout, alloc, dealloc};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

const ALIGN: usize = 4096;
const SLOTS: usize = 32;

/// Blocks grow in steps of this size, so that calls of similar size share them.
const STEP: usize = 256 << 10;

/// Blocks from [`LARGE`] on are made of pages of this size, where the system has them.
const LARGE_PAGE: usize = 2 << 20;
const LARGE: usize = 1 << 20;

struct Header {
    bytes: usize,
}

/// How a block with room for so many bytes is allocated: a page for the header, and the room.
fn layout(bytes: usize) -> Option<Layout> {
    let bytes = bytes.checked_add(ALIGN)?;
    if bytes < LARGE {
        return Layout::from_size_align(bytes, ALIGN).ok();
    }
    Layout::from_size_align(bytes.checked_next_multiple_of(LARGE_PAGE)?, LARGE_PAGE).ok()
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
        let layout = layout(bytes.checked_next_multiple_of(STEP)?)?;
        // SAFETY: the size is not zero.
        let block = unsafe { alloc(layout) }.cast::<Header>();
        if block.is_null() {
            return None;
        }
        if layout.align() == LARGE_PAGE {
            sys::ask_for_large_pages(block.cast(), layout.size());
        }
        // SAFETY: the block is larger than a header and aligned to a page.
        unsafe { block.write(Header { bytes: layout.size() - ALIGN }) };
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
    // SAFETY: the block is owned here, and its header was written when it was allocated.
    let bytes = unsafe { (*block).bytes };
    if let Some(layout) = layout(bytes) {
        // SAFETY: this layout is the one it was allocated with: room that fills its pages gives the same pages again.
        unsafe { dealloc(block.cast(), layout) };
    }
}

fn limit() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| env::SCRATCH_LIMIT.number().map_or(usize::MAX / 2, |n| n as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_freed_as_they_were_allocated() {
        for room in (1..40).map(|steps| steps * STEP).chain([LARGE - ALIGN, LARGE, LARGE_PAGE - ALIGN, LARGE_PAGE]) {
            let taken = layout(room).unwrap();
            assert!(taken.size() >= room + ALIGN && taken.size() < room + ALIGN + LARGE_PAGE);
            assert_eq!(layout(taken.size() - ALIGN), Some(taken), "{room}");
            assert_eq!(taken.size() >= LARGE, taken.align() == LARGE_PAGE, "{room}");
        }
        assert_eq!(layout(usize::MAX - ALIGN), None);
    }
}
