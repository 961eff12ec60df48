//! Memory between two inaccessible pages: reading or writing one byte past
//! either end that lies flush with a guard kills the test with SIGSEGV.

use std::ptr;

/// Where a buffer lies inside its pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// Its first byte follows the lower guard page.
    Start,
    /// Its last byte precedes the upper guard page.
    End,
    /// So many bytes after a cache line's start (still within guards).
    Offset(usize),
    /// In an inaccessible page: for operands that must not be touched.
    Forbidden,
}

pub struct Guarded {
    base: *mut u8,
    total: usize,
    data: *mut u8,
    len: usize,
}

// SAFETY: plain memory, owned by this value.
unsafe impl Send for Guarded {}

fn page() -> usize {
    // SAFETY: sysconf has no preconditions.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

impl Guarded {
    pub fn new(len: usize, place: Place) -> Guarded {
        let page = page();
        let lead = if let Place::Offset(o) = place { o } else { 0 };
        let inner = (len + lead).div_ceil(page) * page;
        let total = inner + 2 * page;
        // SAFETY: a fresh anonymous mapping; the inner pages are opened below.
        unsafe {
            let base = libc::mmap(
                ptr::null_mut(),
                total,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            );
            assert!(base != libc::MAP_FAILED, "mmap of {total} bytes failed");
            let base = base.cast::<u8>();
            let open = base.add(page);
            if inner > 0 && place != Place::Forbidden {
                let rw = libc::PROT_READ | libc::PROT_WRITE;
                assert_eq!(libc::mprotect(open.cast(), inner, rw), 0, "mprotect");
            }
            let data = match place {
                Place::Start | Place::Forbidden => open,
                Place::End => open.add(inner - len),
                Place::Offset(o) => open.add(o),
            };
            Guarded { base, total, data, len }
        }
    }

    pub fn ptr(&self) -> *mut u8 {
        self.data
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping made in new().
        unsafe { libc::munmap(self.base.cast(), self.total) };
    }
}

/// A large mapping of which only the touched pages exist: for offsets past
/// 2^31 elements on a machine without that much memory.
pub struct Sparse {
    base: *mut u8,
    len: usize,
}

impl Sparse {
    pub fn new(len: usize) -> Sparse {
        // SAFETY: a fresh anonymous mapping.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        assert!(base != libc::MAP_FAILED, "cannot reserve {len} bytes of address space");
        // SAFETY: the mapping just made; huge pages would make it dense.
        unsafe { libc::madvise(base, len, libc::MADV_NOHUGEPAGE) };
        Sparse { base: base.cast(), len }
    }

    /// Pointer to element `i`, checked against the mapping's length.
    pub fn at<T>(&self, i: usize) -> *mut T {
        assert!((i + 1) * size_of::<T>() <= self.len);
        // SAFETY: in bounds by the check above.
        unsafe { self.base.cast::<T>().add(i) }
    }
}

impl Drop for Sparse {
    fn drop(&mut self) {
        // SAFETY: the mapping made in new().
        unsafe { libc::munmap(self.base.cast(), self.len) };
    }
}
