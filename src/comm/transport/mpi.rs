//! The site's MPI, loaded at run time: nothing of it is needed to build or to install, and one library serves them all.
//!
//! Three binary interfaces are in use: Open MPI's (handles are addresses of its variables), MPICH's (integers; Intel MPI,
//! MVAPICH, Cray) and since MPI 5 a common one (small constants). They differ in the values of a few handles, not in the
//! calls, so a table of constants is all it takes (as mpi4py and MPI.jl do it). A handle is a `usize`: where it is an
//! `int`, it travels in the lower half of the same register and is written to the lower half of a zeroed word.
//!
//! Only bytes are sent, by `MPI_Isend`, `MPI_Irecv`, `MPI_Iprobe` and `MPI_Test`; all arithmetic is our own, in an order of our own, for
//! types that MPI may not know. No such call waits inside MPI: so a lock around each of them lets several threads of ours
//! work with `MPI_THREAD_SERIALIZED`, waits have an end, and no thread spins in there. What MPI itself waits in, when it is
//! initialised, cannot be ended from outside; [`Reminder`] says after a while that it waits.

use super::super::sys;
use super::super::types::{Error, Result, Status};
use super::bootstrap;
use super::segment::{Failure, Segment, count_as_ended};
use super::shm::{self, Watch};
use crate::runtime::{self, env, trace};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::ffi::CString;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
    fn atexit(f: extern "C" fn()) -> c_int;
}

/// The constants of a binary interface.
#[derive(Clone, Copy, Debug)]
struct Abi {
    name: &'static str,
    world: usize,
    byte: usize,
    errors_return: usize,
    status_ignore: usize,
    any_source: c_int,
    serialized: c_int,
}

const MPICH: Abi = Abi {
    name: "MPICH",
    world: 0x4400_0000,
    byte: 0x4c00_010d,
    errors_return: 0x5400_0001,
    status_ignore: 1,
    any_source: -2,
    serialized: 2,
};
const STANDARD: Abi = Abi {
    name: "MPI 5",
    world: 0x101,
    byte: 0x247,
    errors_return: 0x143,
    status_ignore: 0,
    any_source: -1,
    serialized: 2048,
};

macro_rules! functions {
    ($($field:ident $symbol:literal ($($t:ty),*);)*) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($t),*) -> c_int,)*
        }
        impl Functions {
            fn load(handle: *mut c_void) -> core::result::Result<Functions, &'static str> {
                $(
                    // SAFETY: a handle of dlopen, or null for what the process has; a C string.
                    let found = unsafe { dlsym(handle, concat!($symbol, "\0").as_ptr().cast()) };
                    if found.is_null() {
                        return Err($symbol);
                    }
                    // SAFETY: the MPI standard gives the function this type, handles being words.
                    let $field = unsafe {
                        core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($t),*) -> c_int>(found)
                    };
                )*
                Ok(Functions { $($field,)* })
            }
        }
    };
}

functions! {
    initialized "MPI_Initialized" (*mut c_int);
    finalized "MPI_Finalized" (*mut c_int);
    init_thread "MPI_Init_thread" (*mut c_int, *mut c_void, c_int, *mut c_int);
    query_thread "MPI_Query_thread" (*mut c_int);
    finalize "MPI_Finalize" ();
    comm_dup "MPI_Comm_dup" (usize, *mut usize);
    comm_rank "MPI_Comm_rank" (usize, *mut c_int);
    comm_size "MPI_Comm_size" (usize, *mut c_int);
    set_errhandler "MPI_Comm_set_errhandler" (usize, usize);
    isend "MPI_Isend" (*const c_void, c_int, usize, c_int, c_int, usize, *mut usize);
    irecv "MPI_Irecv" (*mut c_void, c_int, usize, c_int, c_int, usize, *mut usize);
    iprobe "MPI_Iprobe" (c_int, c_int, usize, *mut c_int, *mut c_void);
    test "MPI_Test" (*mut usize, *mut c_int, *mut c_void);
    cancel "MPI_Cancel" (*mut usize);
    version "MPI_Get_library_version" (*mut c_char, *mut c_int);
}

/// A loaded MPI.
struct Library {
    f: Functions,
    abi: Abi,
    /// What it calls itself.
    version: String,
}

static LIBRARY: OnceLock<core::result::Result<Library, String>> = OnceLock::new();
/// Around every call: our threads take turns.
static TURN: Mutex<()> = Mutex::new(());
/// Whether `MPI_Finalize` is ours to call: we initialised it, and nothing has failed since.
static OURS: Mutex<bool> = Mutex::new(false);

/// A word of [`Mpi::tell`] that is being received, if there is one; locked during a turn only. It outlives the world that it
/// came to: whoever takes it sees of which `corten_init` it is.
static HEARING: Mutex<Option<Hearing>> = Mutex::new(None);

struct Hearing {
    request: usize,
    /// A failure, and the turn of `corten_init` that it belongs to. Never freed: MPI may write to it at any time.
    message: &'static Message,
}

type Message = [AtomicU64; 2];

/// Our copy of the world. One for the life of the process: to free one, all ranks would have to come together.
static COMM: OnceLock<usize> = OnceLock::new();

/// A way to all other ranks.
pub struct Mpi {
    library: &'static Library,
    comm: usize,
    pub rank: u32,
    pub size: u32,
}

// SAFETY: words; MPI is called under a lock.
unsafe impl Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}

fn failed(what: &str, library: &Library) -> Error {
    Error::new(Status::System, format!("{what} failed ({})", library.version))
}

/// Names to try, in this order; an MPI that is in the process already comes before all of them.
const NAMES: [&CStr; 6] =
    [c"libmpi.so.40", c"libmpi.so.12", c"libmpi_abi.so.1", c"libmpich.so.12", c"libmpi.so.80", c"libmpi.so"];

/// Whether an MPI is in the process already: the application is linked with one, or has loaded it.
pub fn is_there() -> bool {
    // SAFETY: RTLD_DEFAULT; a C string.
    !unsafe { dlsym(core::ptr::null_mut(), c"MPI_Init_thread".as_ptr()) }.is_null()
}

fn load() -> core::result::Result<Library, String> {
    let has = |handle: *mut c_void, name: &CStr| {
        // SAFETY: a handle of dlopen or null; a C string.
        unsafe { dlsym(handle, name.as_ptr()) }
    };
    let mut handle = core::ptr::null_mut();
    if !is_there() {
        let named = env::MPI_LIB.get().and_then(|name| CString::new(name).ok());
        let mut names: Vec<&CStr> = NAMES.to_vec();
        // The launcher tells the family, and a wrong one would start as a single rank.
        if std::env::var_os("PMI_RANK").is_some() && std::env::var_os("OMPI_COMM_WORLD_RANK").is_none() {
            names.rotate_left(1);
        }
        if let Some(name) = &named {
            names = vec![name];
        }
        let mut why = String::new();
        for name in &names {
            // Plugins of Open MPI look for symbols of the library among the global ones: RTLD_NOW | RTLD_GLOBAL.
            // SAFETY: a C string; loading runs the library's initialisers.
            handle = unsafe { dlopen(name.as_ptr(), 0x102) };
            if !handle.is_null() {
                break;
            }
            // SAFETY: null or a C string.
            let text = unsafe { dlerror() };
            if !text.is_null() && why.is_empty() {
                // SAFETY: not null.
                why = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
            }
        }
        if handle.is_null() {
            return Err(format!("no MPI library found ({why}); CORTEN_MPI_LIB can name one"));
        }
    }
    let f = Functions::load(handle).map_err(|symbol| format!("the MPI library has no {symbol}"))?;
    let world = has(handle, c"ompi_mpi_comm_world");
    let mut text = vec![0u8; 8192 + 1];
    let mut len: c_int = 0;
    // SAFETY: room for the longest version; may be called before MPI_Init.
    unsafe { (f.version)(text.as_mut_ptr().cast(), &raw mut len) };
    let version = CStr::from_bytes_until_nul(&text).map_or(String::new(), |t| t.to_string_lossy().into_owned());
    let version = version.lines().next().unwrap_or("").trim().chars().take(80).collect::<String>();
    let abi = if !world.is_null() {
        let (byte, returns) = (has(handle, c"ompi_mpi_byte"), has(handle, c"ompi_mpi_errors_return"));
        if byte.is_null() || returns.is_null() {
            return Err(format!("{version} lacks symbols of Open MPI"));
        }
        Abi {
            name: "Open MPI",
            world: world as usize,
            byte: byte as usize,
            errors_return: returns as usize,
            status_ignore: 0,
            any_source: -1,
            serialized: 2,
        }
    } else {
        // The function exists in MPICH's own interface too, where it answers -1.
        let mut major: c_int = -1;
        let found = has(handle, c"MPI_Abi_get_version");
        if !found.is_null() {
            // SAFETY: MPI 5 gives it this type; callable before MPI_Init.
            let get = unsafe {
                core::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int>(found)
            };
            let mut minor: c_int = 0;
            // SAFETY: two numbers.
            unsafe { get(&raw mut major, &raw mut minor) };
        }
        if major >= 1 { STANDARD } else { MPICH }
    };
    Ok(Library { f, abi, version })
}

/// Name and interface of the MPI that would be used, or why there is none.
pub fn describe() -> String {
    match LIBRARY.get_or_init(load) {
        Ok(library) => format!("{} ({} interface)", library.version, library.abi.name),
        Err(text) => text.clone(),
    }
}

extern "C" fn finalize_at_exit() {
    let Some(Ok(library)) = LIBRARY.get() else { return };
    let mut ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    if core::mem::take(&mut *ours) {
        // MPI waits here for all ranks, which may be waiting for this one.
        count_as_ended();
        let mut done: c_int = 0;
        // SAFETY: initialised by us and not finalised; no other call of ours is under way at exit.
        unsafe {
            (library.f.finalized)(&raw mut done);
            if done == 0 {
                (library.f.finalize)();
            }
        }
    }
}

/// After a failure MPI is left alone: to finalise it would mean to wait for a rank that is gone.
pub fn give_up() {
    *OURS.lock().unwrap_or_else(PoisonError::into_inner) = false;
}

impl Mpi {
    /// Initialises MPI if the application has not, and makes a communicator of our own. All ranks call it.
    pub fn open(launcher: &str, rank: u32, size: u32) -> Result<Mpi> {
        let library = match LIBRARY.get_or_init(load) {
            Ok(library) => library,
            Err(text) => {
                let text = format!("started by {launcher} as rank {rank} of {size}, but {text}");
                return Err(Error::new(Status::System, text));
            }
        };
        let (f, abi) = (&library.f, &library.abi);
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut started, mut over, mut level) = (0, 0, 0);
        // SAFETY: numbers; both may be called at any time.
        unsafe {
            (f.initialized)(&raw mut started);
            (f.finalized)(&raw mut over);
        }
        if over != 0 {
            return Err(Error::new(Status::State, "the application has called MPI_Finalize already"));
        }
        if started == 0 {
            let _reminder = Reminder::start("MPI_Init_thread", rank, size);
            // SAFETY: no arguments to pass on, as MPI allows.
            let code = unsafe {
                (f.init_thread)(core::ptr::null_mut(), core::ptr::null_mut(), abi.serialized, &raw mut level)
            };
            if code != 0 {
                return Err(failed("MPI_Init_thread", library));
            }
            *OURS.lock().unwrap_or_else(PoisonError::into_inner) = true;
            // SAFETY: a plain function; the library is never unloaded.
            unsafe { atexit(finalize_at_exit) };
        } else {
            // SAFETY: a number.
            unsafe { (f.query_thread)(&raw mut level) };
        }
        if level < abi.serialized {
            let text = format!(
                "MPI runs with thread level {level}, and at least MPI_THREAD_SERIALIZED ({}) is needed: \
                 call MPI_Init_thread with it, or corten_init before MPI_Init",
                abi.serialized
            );
            return Err(Error::new(Status::State, text));
        }
        let (mut got_rank, mut got_size) = (0, 0);
        // SAFETY: words for handles and numbers; the world is there.
        unsafe {
            (f.comm_size)(abi.world, &raw mut got_size);
            (f.comm_rank)(abi.world, &raw mut got_rank);
        }
        if got_size as u32 != size {
            let text = format!(
                "{launcher} has started {size} ranks, but MPI ({}) sees {got_size}: launcher and library do not belong \
                 together; CORTEN_MPI_LIB can name the right library",
                library.version
            );
            return Err(Error::new(Status::System, text));
        }
        let comm = match COMM.get() {
            Some(comm) => *comm,
            None => {
                let mut comm = 0usize;
                let _reminder = Reminder::start("MPI_Comm_dup", rank, size);
                // SAFETY: as above.
                unsafe {
                    if (f.comm_dup)(abi.world, &raw mut comm) != 0 {
                        return Err(failed("MPI_Comm_dup", library));
                    }
                    (f.set_errhandler)(comm, abi.errors_return);
                }
                *COMM.get_or_init(|| comm)
            }
        };
        Ok(Mpi { library, comm, rank: got_rank as u32, size: got_size as u32 })
    }

    /// Begins to send bytes. If MPI refuses, the wait has the error: what was begun before must come to its end there.
    ///
    /// # Safety
    /// They stay as they are until [`Mpi::wait`] has returned.
    pub unsafe fn send(&self, to: u32, tag: u32, p: *const u8, bytes: usize, requests: &mut Requests) {
        for (at, n) in parts(bytes) {
            let mut request = 0usize;
            let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: n bytes of the caller's.
            let code = unsafe {
                let from = p.wrapping_add(at).cast();
                (self.library.f.isend)(
                    from,
                    n,
                    self.library.abi.byte,
                    to as c_int,
                    tag as c_int,
                    self.comm,
                    &raw mut request,
                )
            };
            if code != 0 {
                requests.failed = Some("MPI_Isend");
                return;
            }
            requests.list.push((request, to));
        }
    }

    /// Begins to receive bytes; refused as above.
    ///
    /// # Safety
    /// The memory is the operation's until [`Mpi::wait`] has returned.
    pub unsafe fn receive(&self, from: u32, tag: u32, p: *mut u8, bytes: usize, requests: &mut Requests) {
        for (at, n) in parts(bytes) {
            let mut request = 0usize;
            let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: room for n bytes.
            let code = unsafe {
                let to = p.wrapping_add(at).cast();
                (self.library.f.irecv)(
                    to,
                    n,
                    self.library.abi.byte,
                    from as c_int,
                    tag as c_int,
                    self.comm,
                    &raw mut request,
                )
            };
            if code != 0 {
                requests.failed = Some("MPI_Irecv");
                return;
            }
            requests.list.push((request, from));
        }
    }

    /// The cards of all ranks, which are of one size and begin with a hexadecimal digit, to all: through the first rank. If one does not
    /// come, the first rank tells those who have which it is; they wait a bit longer for that. After an error there is nothing
    /// to be had from MPI.
    pub fn gather_cards(&self, card: Vec<u8>, tag: u32, limit: Duration) -> Result<Vec<u8>> {
        let mut all = vec![0u8; card.len() * self.size as usize];
        let wait = limit + if self.rank == 0 { Duration::ZERO } else { NOTICE };
        let outcome = self.exchange_cards(&card, &mut all, tag, wait);
        let Err(error) = outcome else {
            return match all.strip_prefix(&[NOTE]) {
                None => Ok(all),
                Some(text) => {
                    give_up();
                    let text = String::from_utf8_lossy(text).trim_end_matches('\0').to_string();
                    Err(Error::new(Status::Timeout, text))
                }
            };
        };
        give_up();
        if self.rank == 0 {
            let mut note = vec![0u8; all.len()];
            note[0] = NOTE;
            let text = &error.text.as_bytes()[..error.text.len().min(note.len() - 1)];
            note[1..=text.len()].copy_from_slice(text);
            let mut requests = Requests::default();
            for r in (1..self.size).filter(|r| all[*r as usize * card.len()] != 0) {
                // SAFETY: the note is never freed.
                unsafe { self.send(r, tag, note.as_ptr(), note.len(), &mut requests) };
            }
            let leaving = AtomicBool::new(false);
            let _ = self.wait(requests, &Patience::alone(&leaving, NOTICE));
            core::mem::forget(note);
        }
        // MPI may still read the one and write to the other, should a rank come after all.
        core::mem::forget((card, all));
        Err(error)
    }

    /// On failure transfers of both may still be under way.
    fn exchange_cards(&self, card: &[u8], all: &mut [u8], tag: u32, limit: Duration) -> Result {
        let (len, size) = (card.len(), self.size as usize);
        let leaving = AtomicBool::new(false);
        let patience = Patience::alone(&leaving, limit);
        let mut requests = Requests::default();
        let at = all.as_mut_ptr();
        // SAFETY: all memory lives until the waits, and longer if they fail.
        unsafe {
            if self.rank == 0 {
                core::ptr::copy_nonoverlapping(card.as_ptr(), at, len);
                for r in 1..size {
                    self.receive(r as u32, tag, at.wrapping_add(r * len), len, &mut requests);
                }
                self.wait(requests, &patience)?;
                let mut requests = Requests::default();
                for r in 1..size {
                    self.send(r as u32, tag, at, len * size, &mut requests);
                }
                self.wait(requests, &patience)?;
            } else {
                self.receive(0, tag, at, len * size, &mut requests);
                self.send(0, tag, card.as_ptr(), len, &mut requests);
                self.wait(requests, &patience)?;
            }
        }
        Ok(())
    }

    /// Tells a failure, which is one word, to ranks of other machines: each looks for it while it waits for a transfer of this
    /// turn of `corten_init`. Those who cannot be told within a moment may be gone.
    pub fn tell(&self, ranks: &[u32], turn: u32, word: u64) {
        // Never freed: MPI may still read it.
        let message: &'static [u64; 2] = Box::leak(Box::new([word, u64::from(turn)]));
        let mut requests = Requests::default();
        for rank in ranks {
            // SAFETY: bytes that live for ever.
            unsafe {
                self.send(*rank, FAILURES, (&raw const *message).cast(), size_of::<Message>(), &mut requests);
            }
            // One that cannot be told is no reason not to tell the others.
            requests.failed = None;
        }
        let leaving = AtomicBool::new(false);
        // A transfer that MPI takes a while for needs calls of MPI to go on. None is called off: it may still arrive.
        let _ = self.wait_for(&mut requests, &Patience::alone(&leaving, TELLING));
    }

    /// A failure that another machine has told of in this turn of `corten_init`. Those of former turns, which nobody was there
    /// to hear, are dropped.
    fn told(&self, turn: u32) -> Option<(Failure, u32)> {
        let (f, abi) = (&self.library.f, &self.library.abi);
        let ignore = abi.status_ignore as *mut c_void;
        // One turn for all: what was found is taken by no other thread.
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hearing = HEARING.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if hearing.is_none() {
                let (mut there, mut request): (c_int, usize) = (0, 0);
                // SAFETY: a number; our own communicator.
                let code = unsafe { (f.iprobe)(abi.any_source, FAILURES as c_int, self.comm, &raw mut there, ignore) };
                if code != 0 || there == 0 {
                    return None;
                }
                let message: &'static Message = Box::leak(Box::default());
                let (to, bytes) = ((&raw const *message).cast_mut().cast(), size_of::<Message>() as c_int);
                // SAFETY: room for the message, for ever; atomics may be written to while they are shared.
                let code = unsafe {
                    (f.irecv)(to, bytes, abi.byte, abi.any_source, FAILURES as c_int, self.comm, &raw mut request)
                };
                if code != 0 {
                    return None;
                }
                *hearing = Some(Hearing { request, message });
            }
            let its = hearing.as_mut()?;
            let mut done: c_int = 0;
            // It was there already, so that it takes a call or two.
            for _ in 0..1000 {
                // SAFETY: a request of ours that is not done.
                if unsafe { (f.test)(&raw mut its.request, &raw mut done, ignore) } != 0 {
                    *hearing = None;
                    return None;
                }
                if done != 0 {
                    break;
                }
            }
            if done == 0 {
                // Another time.
                return None;
            }
            let [word, of] = its.message.each_ref().map(|half| half.load(Ordering::SeqCst));
            *hearing = None;
            if of == u64::from(turn) {
                return Failure::unpack(word);
            }
        }
    }

    /// Drops what was told of failures of former turns. To be called in `corten_init` before this rank has sent its card:
    /// until then nobody can have begun with this turn.
    pub fn forget_failures(&self, turn: u32) {
        let _ = self.told(turn);
    }

    /// Waits until all of them are done. Looks often at first, then less and less, and never for ever. On failure those that are not
    /// done are abandoned.
    pub fn wait(&self, mut requests: Requests, patience: &Patience) -> Result {
        let outcome = self.wait_for(&mut requests, patience);
        if outcome.is_err() {
            self.abandon(requests, patience);
        }
        outcome
    }

    /// Calls them off, after a failure: what has not begun to arrive never will. If MPI does not come to an end with some even
    /// so, it may read and write their memory for ever; then the segment stays mapped, and `MPI_Finalize`, which could wait
    /// for them, is not called.
    pub fn abandon(&self, mut requests: Requests, patience: &Patience) {
        if !self.call_off(&mut requests) {
            give_up();
            if let Some(segment) = patience.segment {
                core::mem::forget(segment.clone());
            }
        }
    }

    /// Whether all of them have come to an end, in one way or the other.
    fn call_off(&self, requests: &mut Requests) -> bool {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        for (request, _) in &mut requests.list {
            // SAFETY: a request of ours that is not done. Whether it can be called off is MPI's to know.
            unsafe { (self.library.f.cancel)(&raw mut *request) };
        }
        drop(turn);
        let mut watch = Watch::start();
        loop {
            requests.list.retain_mut(|(request, _)| {
                let mut done: c_int = 0;
                let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
                let ignore = self.library.abi.status_ignore as *mut c_void;
                // SAFETY: a request of ours that is not done.
                let code = unsafe { (self.library.f.test)(&raw mut *request, &raw mut done, ignore) };
                // One whose test fails is over, and its handle may be none any more.
                code == 0 && done == 0
            });
            if requests.list.is_empty() || watch.look() >= CALLING_OFF {
                return requests.list.is_empty();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A call of MPI has failed: nothing works any more, here or elsewhere. It may have failed because another rank is gone:
    /// those who know better have a moment to say so.
    fn broken(&self, call: &str, patience: &Patience) -> Error {
        give_up();
        let Some(segment) = patience.segment else { return failed(call, self.library) };
        let ours = (Failure::Mpi, self.rank);
        let mut watch = Watch::start();
        while segment.failure().is_none() && watch.look() < TELLING {
            match self.told(patience.turn) {
                Some((failure, rank)) => drop(segment.hear(failure, rank)),
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
        let error = segment.fail(ours.0, ours.1);
        // The first one counts, and of our own we know more than the others.
        if segment.failure() == Some(ours) { failed(call, self.library) } else { error }
    }

    fn wait_for(&self, requests: &mut Requests, patience: &Patience) -> Result {
        if let Some(call) = requests.failed {
            return Err(self.broken(call, patience));
        }
        // For patience, which may begin again; and for how often to look.
        let (mut watch, mut began) = (Watch::start(), Watch::start());
        // Turns without anything done, and since when.
        let (mut turns, mut since) = (0u32, Instant::now());
        let mut warned = patience.warn_after.is_zero();
        loop {
            let mut i = 0;
            while i < requests.list.len() {
                let mut done: c_int = 0;
                let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
                // SAFETY: a request of ours that is not done.
                let code = unsafe {
                    let ignore = self.library.abi.status_ignore as *mut c_void;
                    (self.library.f.test)(&raw mut requests.list[i].0, &raw mut done, ignore)
                };
                drop(turn);
                if code != 0 {
                    // What is left in the list can be called off; this one is over, and its handle may be none any more.
                    requests.list.swap_remove(i);
                    return Err(self.broken("MPI_Test", patience));
                }
                if done != 0 {
                    requests.list.swap_remove(i);
                    (turns, since) = (0, Instant::now());
                } else {
                    i += 1;
                }
            }
            let Some((_, rank)) = requests.list.first() else { return Ok(()) };
            turns += 1;
            match turns {
                0..=200 if !patience.crowded => core::hint::spin_loop(),
                // Beside other busy programs giving way may take a whole slice of time each.
                0..=2000 if since.elapsed() < GIVING_WAY => sys::give_way(),
                _ => {
                    if patience.wanted.is_some_and(|wanted| wanted.load(Ordering::Relaxed) == 0) {
                        watch = Watch::start();
                    }
                    if let Some(segment) = patience.segment
                        && let Some((failure, rank)) = self.told(patience.turn)
                    {
                        segment.hear(failure, rank);
                    }
                    let waited = watch.look();
                    patience.look(*rank, waited)?;
                    if waited >= patience.warn_after && !warned {
                        warned = true;
                        let (me, seconds) = (self.rank, waited.as_secs());
                        trace::say(format_args!(
                            "rank {me} has waited {seconds} s in MPI for rank {rank}, or for one that it waits for"
                        ));
                    }
                    std::thread::sleep((began.look() / 50).clamp(Duration::from_micros(50), Duration::from_millis(2)));
                }
            }
        }
    }
}

/// Where a card would begin with a hexadecimal digit, this begins a text instead: who has not come.
const NOTE: u8 = b'!';
/// How much longer others wait for that text than the first rank waits for them.
const NOTICE: Duration = Duration::from_secs(5);
/// How long a waiting rank gives way to others before it sleeps, and looks at what else there is.
const GIVING_WAY: Duration = Duration::from_millis(20);
/// How long a rank that has found out a failure tries to tell the other machines, and one whose MPI fails waits to be told why.
const TELLING: Duration = Duration::from_secs(1);
/// How long a rank waits for the end of transfers that it has called off.
const CALLING_OFF: Duration = Duration::from_secs(1);
/// What failures come with, of whatever turn and group.
const FAILURES: u32 = 3;

/// While this rank is inside a call of MPI's that waits for all ranks and that nothing ends: says so, once the time of
/// `corten_init` is over.
struct Reminder {
    done: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Reminder {
    fn start(call: &'static str, rank: u32, size: u32) -> Reminder {
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let (its, limit) = (done.clone(), bootstrap::timeout());
        let wait = move || {
            let mut done = its.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mut watch = Watch::start();
            while !*done {
                if watch.look() >= limit {
                    let seconds = limit.as_secs();
                    trace::say(format_args!(
                        "rank {rank} of {size} has waited {seconds} s (CORTEN_INIT_TIMEOUT) in {call}, where MPI waits for all \
                         ranks: one has ended before corten_init or does not call it; MPI cannot be told to stop waiting"
                    ));
                    return;
                }
                done = its.1.wait_timeout(done, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            }
        };
        let spawn = || std::thread::Builder::new().name("corten-init".into()).stack_size(256 << 10).spawn(wait);
        // Without a thread nobody is reminded; MPI does what it does.
        Reminder { done, thread: runtime::sys::with_signals_blocked(spawn).ok() }
    }
}

impl Drop for Reminder {
    fn drop(&mut self) {
        *self.done.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.done.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How often it looks at the clock.
const LOOK: Duration = Duration::from_millis(500);

/// Transfers under way: request and the other rank.
#[derive(Default)]
pub struct Requests {
    list: Vec<(usize, u32)>,
    /// A call of MPI that was refused.
    failed: Option<&'static str>,
}

impl Requests {
    /// Adds the others to these.
    pub fn append(&mut self, mut others: Requests) {
        self.list.append(&mut others.list);
        self.failed = self.failed.or(others.failed);
    }
}

/// How long to wait, and for what reasons to stop.
pub struct Patience<'a> {
    /// Where failures are known; `None` in `corten_init`, before there is such a place.
    pub segment: Option<&'a Arc<Segment>>,
    /// As in a lane: how many operations the application waits for; with none, there is no end to patience.
    pub wanted: Option<&'a AtomicUsize>,
    pub leaving: &'a AtomicBool,
    pub timeout: Duration,
    /// When to say for whom one waits; zero: never.
    pub warn_after: Duration,
    /// The turn of `corten_init` whose failures concern us.
    pub turn: u32,
    pub crowded: bool,
}

impl Patience<'_> {
    /// Of one who has nothing but a limit.
    fn alone(leaving: &AtomicBool, timeout: Duration) -> Patience<'_> {
        Patience { segment: None, wanted: None, leaving, timeout, warn_after: Duration::ZERO, turn: 0, crowded: true }
    }
    fn look(&self, rank: u32, waited: Duration) -> Result {
        if self.leaving.load(Ordering::Relaxed) {
            return Err(Error::new(Status::State, "corten_shutdown was called"));
        }
        let seconds = self.timeout.as_secs();
        let error = match (self.segment.and_then(|segment| Some((segment, segment.failure()?))), self.segment) {
            (Some((segment, known)), _) => segment.error(known),
            (None, _) if waited < self.timeout => return Ok(()),
            // The time that was given to others to tell is not the user's business.
            (None, Some(segment)) => segment.fail(Failure::Late(shm::timeout().as_secs() as u32), rank),
            (None, None) => {
                let limit = bootstrap::timeout().as_secs();
                // The first rank may have come, later than this one, and wait for another itself.
                let text = match rank {
                    0 => format!(
                        "rank 0 did not answer in corten_init within {seconds} s (CORTEN_INIT_TIMEOUT, {limit} s, and a \
                         bit): it has not called it, or another rank has not, for which it waits"
                    ),
                    _ => format!("rank {rank} did not call corten_init within {limit} s (CORTEN_INIT_TIMEOUT)"),
                };
                Error::new(Status::Timeout, text)
            }
        };
        Err(error)
    }
}

/// A transfer in messages whose length an `int` can say.
fn parts(bytes: usize) -> impl Iterator<Item = (usize, c_int)> {
    const MOST: usize = 1 << 30;
    (0..bytes.div_ceil(MOST)).map(move |i| (i * MOST, (bytes - i * MOST).min(MOST) as c_int))
}
