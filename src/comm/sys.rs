//! What the collectives need of the system beyond the standard library. Linux; declared here, as in `runtime/sys.rs`, so
//! that no crate is needed.

use super::types::{Error, Result};
use core::ffi::{c_int, c_long, c_uint, c_void};
use core::sync::atomic::AtomicU32;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn memfd_create(name: *const core::ffi::c_char, flags: c_uint) -> c_int;
    fn ftruncate(fd: c_int, length: i64) -> c_int;
    fn fallocate(fd: c_int, mode: c_int, offset: i64, length: i64) -> c_int;
    fn mmap(addr: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn munmap(addr: *mut c_void, len: usize) -> c_int;
    fn madvise(addr: *mut c_void, len: usize, advice: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn sendmsg(fd: c_int, message: *const MsgHdr, flags: c_int) -> isize;
    fn recvmsg(fd: c_int, message: *mut MsgHdr, flags: c_int) -> isize;
    fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut u32) -> c_int;
    fn poll(fds: *mut PollFd, n: u64, timeout: c_int) -> c_int;
    fn getuid() -> u32;
    fn getrlimit(resource: c_int, limit: *mut [u64; 2]) -> c_int;
    fn sched_yield() -> c_int;
    fn sched_getcpu() -> c_int;
    fn sched_getaffinity(pid: c_int, size: usize, mask: *mut c_void) -> c_int;
    fn getrandom(buffer: *mut c_void, len: usize, flags: c_uint) -> isize;
}

#[cfg(target_arch = "x86_64")]
const SYS_FUTEX: c_long = 202;
#[cfg(not(target_arch = "x86_64"))]
const SYS_FUTEX: c_long = 98;

/// Sleeps while `word` holds `expected`, at most for `limit`; may wake without cause. The word may be shared by processes.
pub fn futex_wait(word: &AtomicU32, expected: u32, limit: Duration) {
    let time: [i64; 2] = [limit.as_secs() as i64, i64::from(limit.subsec_nanos())];
    // SAFETY: FUTEX_WAIT (0) on a word that lives through the call, with a relative time.
    unsafe { syscall(SYS_FUTEX, word.as_ptr(), 0, expected, time.as_ptr()) };
}

/// Wakes all who sleep on the word, in any process.
pub fn futex_wake(word: &AtomicU32) {
    // SAFETY: FUTEX_WAKE (1) on a word that lives through the call.
    unsafe { syscall(SYS_FUTEX, word.as_ptr(), 1, i32::MAX) };
}

/// Lets another thread run.
pub fn give_way() {
    // SAFETY: no arguments.
    unsafe { sched_yield() };
}

/// The number of the processor that this thread runs on, at this moment. The C library reads it from memory (rseq).
pub fn processor() -> u32 {
    // SAFETY: no arguments.
    unsafe { sched_getcpu() as u32 }
}

/// Memory that several processes can map: has no name, needs no file system, and is gone with its last user.
pub fn shared_memory(bytes: usize) -> Result<OwnedFd> {
    // SAFETY: a C string; MFD_CLOEXEC is 1.
    let fd = unsafe { memfd_create(c"corten".as_ptr(), 1) };
    if fd < 0 {
        return Err(Error::system("memfd_create"));
    }
    // SAFETY: fresh and ours.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: a file of our own.
    if unsafe { ftruncate(fd.as_raw_fd(), bytes as i64) } != 0 {
        return Err(Error::system("ftruncate of shared memory"));
    }
    Ok(fd)
}

/// Gets the pages of a range now, so that a lack of memory is an error and not a signal later.
pub fn reserve(fd: RawFd, at: usize, bytes: usize) -> Result {
    // SAFETY: a file of our own.
    match unsafe { fallocate(fd, 0, at as i64, bytes as i64) } {
        0 => Ok(()),
        _ => Err(Error::system("allocating shared memory")),
    }
}

/// Gives the pages of a range back.
pub fn release(fd: RawFd, at: usize, bytes: usize) {
    // SAFETY: a file of our own; FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE.
    unsafe { fallocate(fd, 3, at as i64, bytes as i64) };
}

/// Maps the whole file; pages come when they are touched.
pub fn map(fd: RawFd, bytes: usize) -> Result<*mut u8> {
    // SAFETY: a new mapping: PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE.
    let base = unsafe { mmap(core::ptr::null_mut(), bytes, 3, 0x4001, fd, 0) };
    if base as isize == -1 {
        return Err(Error::system(&format!("mapping {bytes} bytes of shared memory")));
    }
    // SAFETY: the mapping above; MADV_DONTDUMP: not into core dumps.
    unsafe { madvise(base, bytes, 16) };
    Ok(base.cast())
}

/// Asks for large pages.
pub fn advise_huge(base: *mut u8, bytes: usize) {
    // SAFETY: MADV_HUGEPAGE on a mapping of ours; a refusal does no harm.
    unsafe { madvise(base.cast(), bytes, 14) };
}

/// # Safety
/// The mapping is used by nobody any more.
pub unsafe fn unmap(base: *mut u8, bytes: usize) {
    // SAFETY: passed on to the caller.
    unsafe { munmap(base.cast(), bytes) };
}

/// `struct flock` of 64-bit Linux.
#[repr(C)]
struct Flock {
    kind: i16,
    whence: i16,
    start: i64,
    len: i64,
    pid: i32,
}

const F_GETLK: c_int = 5;
const F_SETLK: c_int = 6;
const F_WRLCK: i16 = 1;
const F_UNLCK: i16 = 2;

/// Marks byte `at` of the file as this process's, until it ends in whatever way.
///
/// A record lock, for what is otherwise a nuisance of them: it belongs to the process, not to the descriptor, is not
/// inherited by `fork`, and the kernel drops it when the process ends, before its parent has waited for it. It needs no
/// signal, no process number and no rights over the other process.
pub fn lock_byte(fd: RawFd, at: usize) -> Result {
    let lock = Flock { kind: F_WRLCK, whence: 0, start: at as i64, len: 1, pid: 0 };
    // SAFETY: a structure that lives through the call.
    match unsafe { fcntl(fd, F_SETLK, &raw const lock) } {
        0 => Ok(()),
        _ => Err(Error::system("locking a byte of shared memory")),
    }
}

/// Takes the mark back.
pub fn unlock_byte(fd: RawFd, at: usize) {
    let lock = Flock { kind: F_UNLCK, whence: 0, start: at as i64, len: 1, pid: 0 };
    // SAFETY: a structure that lives through the call. It fails for a descriptor that is closed, and then there is no mark.
    unsafe { fcntl(fd, F_SETLK, &raw const lock) };
}

/// Whether another process holds the mark.
pub fn byte_is_locked(fd: RawFd, at: usize) -> bool {
    let mut lock = Flock { kind: F_WRLCK, whence: 0, start: at as i64, len: 1, pid: 0 };
    // SAFETY: a structure that lives through the call.
    let failed = unsafe { fcntl(fd, F_GETLK, &raw mut lock) } != 0;
    failed || lock.kind != F_UNLCK
}

#[repr(C)]
struct IoVec {
    base: *mut c_void,
    len: usize,
}

#[repr(C)]
struct MsgHdr {
    name: *mut c_void,
    name_len: u32,
    iov: *mut IoVec,
    iov_len: usize,
    control: *mut c_void,
    control_len: usize,
    flags: c_int,
}

/// A control message that carries one descriptor: `struct cmsghdr` and an int, padded.
#[repr(C)]
#[derive(Default)]
struct Carrier {
    len: usize,
    level: c_int,
    kind: c_int,
    fd: c_int,
    pad: c_int,
}

const SOL_SOCKET: c_int = 1;
const SCM_RIGHTS: c_int = 1;
const CARRIER: usize = 16 + 4;

/// One piece of bytes and one descriptor; both must outlive the message.
fn message(iov: &mut IoVec, carrier: &mut Carrier) -> MsgHdr {
    MsgHdr {
        name: core::ptr::null_mut(),
        name_len: 0,
        iov,
        iov_len: 1,
        control: core::ptr::from_mut(carrier).cast(),
        control_len: size_of::<Carrier>(),
        flags: 0,
    }
}

/// Sends bytes and a descriptor, all or an error.
pub fn send_descriptor(to: &UnixStream, bytes: &[u8], fd: RawFd) -> Result {
    let mut iov = IoVec { base: bytes.as_ptr().cast_mut().cast(), len: bytes.len() };
    let mut carrier = Carrier { len: CARRIER, level: SOL_SOCKET, kind: SCM_RIGHTS, fd, pad: 0 };
    let message = message(&mut iov, &mut carrier);
    // SAFETY: all parts live through the call; MSG_NOSIGNAL.
    let sent = unsafe { sendmsg(to.as_raw_fd(), &raw const message, 0x4000) };
    if sent == bytes.len() as isize { Ok(()) } else { Err(Error::system("sending a descriptor")) }
}

/// Receives up to `bytes.len()` bytes, and a descriptor if one comes with them.
pub fn receive_descriptor(from: &UnixStream, bytes: &mut [u8]) -> std::io::Result<(usize, Option<OwnedFd>)> {
    let mut iov = IoVec { base: bytes.as_mut_ptr().cast(), len: bytes.len() };
    let mut carrier = Carrier::default();
    let mut message = message(&mut iov, &mut carrier);
    // SAFETY: all parts live through the call; MSG_CMSG_CLOEXEC.
    let got = unsafe { recvmsg(from.as_raw_fd(), &raw mut message, 0x4000_0000) };
    if got < 0 {
        return Err(std::io::Error::last_os_error());
    }
    let carries = message.control_len >= CARRIER && carrier.level == SOL_SOCKET && carrier.kind == SCM_RIGHTS;
    // SAFETY: a descriptor that the kernel has just opened for us.
    let fd = carries.then(|| unsafe { OwnedFd::from_raw_fd(carrier.fd) });
    Ok((got as usize, fd))
}

/// The user at the other end.
pub fn peer_uid(socket: &UnixStream) -> Option<u32> {
    let mut who = [0u32; 3];
    let mut len = size_of_val(&who) as u32;
    // SAFETY: SO_PEERCRED (17) fills a structure of three 32-bit numbers.
    let failed = unsafe { getsockopt(socket.as_raw_fd(), SOL_SOCKET, 17, (&raw mut who).cast(), &raw mut len) } != 0;
    (!failed).then_some(who[1])
}

pub fn uid() -> u32 {
    // SAFETY: no arguments.
    unsafe { getuid() }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PollFd {
    pub fd: c_int,
    pub events: i16,
    pub found: i16,
}

impl PollFd {
    pub fn readable(fd: RawFd) -> PollFd {
        PollFd { fd, events: 1, found: 0 }
    }
}

/// Waits until one of the descriptors has something, at most for `limit`.
pub fn wait_for(fds: &mut [PollFd], limit: Duration) {
    let limit = c_int::try_from(limit.as_millis()).unwrap_or(c_int::MAX);
    // SAFETY: an array of that length.
    unsafe { poll(fds.as_mut_ptr(), fds.len() as u64, limit) };
}

/// The limit on the size of the address space (`ulimit -v`) or of files (`ulimit -f`); `u64::MAX` if there is none.
pub fn limit_of(what: Limit) -> u64 {
    let mut limit = [u64::MAX; 2];
    // SAFETY: an array of the size of `struct rlimit`.
    unsafe { getrlimit(what as c_int, &raw mut limit) };
    limit[0]
}

#[derive(Clone, Copy)]
pub enum Limit {
    FileSize = 1,
    AddressSpace = 9,
}

/// The processors that this thread may run on, a bit each.
pub fn affinity() -> [u64; 16] {
    let mut mask = [0u64; 16];
    // SAFETY: a mask of that size. Machines with more processors answer with an error and leave zeros.
    unsafe { sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    mask
}

/// 128 random bits in hexadecimal.
pub fn random_token() -> String {
    let mut bytes = [0u8; 16];
    // SAFETY: a buffer of that size.
    if unsafe { getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) } != 16 {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.as_nanos());
        bytes = (time ^ u128::from(std::process::id()) << 64).to_ne_bytes();
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
