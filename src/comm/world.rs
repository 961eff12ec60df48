//! Who is there: the ranks between `init` and `shutdown`, and the process sets.

use super::collectives;
use super::group::Group;
use super::launch::{self, Launch};
use super::queue::Queue;
use super::sys;
use super::transport::bootstrap::{self, Place};
use super::transport::mpi::{self, Mpi};
use super::transport::segment::{ACTIVE, Failure, JOINED, LEFT, Segment};
use super::transport::shm::Lane;
use super::two_level::{self, Cross};
use super::types::{Detail, Element, Error, Header, Kind, Result, Statement, Status};
use crate::runtime;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// A process set: some ranks, in the order in which they were given; number 0 is all of them.
pub struct Set {
    pub id: u32,
    pub ranks: Vec<u32>,
    /// Our number in it; `None` if we are not a member.
    pub me: Option<usize>,
    blocking: Option<Mutex<Group>>,
    /// Taken by the queue's thread when it starts.
    named: Mutex<Option<Group>>,
    queue: OnceLock<Arc<Queue>>,
}

/// Everything between `init` and `shutdown`.
pub struct World {
    pub rank: u32,
    pub size: u32,
    pub local_rank: u32,
    pub local_size: u32,
    pub cross_rank: u32,
    pub cross_size: u32,
    /// Global ranks of this machine.
    locals: Vec<u32>,
    /// Global ranks of all machines.
    nodes: Vec<Vec<u32>>,
    mpi: Option<Arc<Mpi>>,
    turn: u32,
    pub segment: Arc<Segment>,
    leaving: Arc<AtomicBool>,
    /// Set 0, which stays: found without a lock.
    all: OnceLock<Arc<Set>>,
    sets: RwLock<Sets>,
}

struct Sets {
    list: BTreeMap<u32, Arc<Set>>,
    next_id: u32,
    /// Where the next lane goes. Every rank of the machine counts alike, members or not.
    next_lane: usize,
}

/// Bytes by which a rank introduces itself.
const CARD: usize = 192;

static WORLD: RwLock<Option<Arc<World>>> = RwLock::new(None);
/// How often this process has called init.
static TURN: AtomicU32 = AtomicU32::new(0);
/// A child of `fork` is no rank: its copy of everything here is the parent's business.
static FORKED: AtomicBool = AtomicBool::new(false);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn after_fork() {
    FORKED.store(true, Ordering::Relaxed);
}

/// The current world.
#[inline]
pub fn current() -> Result<Arc<World>> {
    if FORKED.load(Ordering::Relaxed) {
        return Err(Error::new(Status::State, "this process was forked from a rank; it is none itself"));
    }
    let world = WORLD.read().unwrap_or_else(PoisonError::into_inner);
    world.clone().ok_or_else(|| Error::new(Status::State, "not initialised: call corten_init first"))
}

pub fn is_initialized() -> bool {
    current().is_ok()
}

/// Finds the other ranks. All ranks call it, within `CORTEN_INIT_TIMEOUT`.
pub fn init() -> Result {
    if FORKED.load(Ordering::Relaxed) {
        return Err(Error::new(Status::State, "this process was forked from a rank; it cannot become one itself"));
    }
    let mut slot = WORLD.write().unwrap_or_else(PoisonError::into_inner);
    if slot.is_some() {
        return Err(Error::new(Status::State, "corten_init was called already"));
    }
    static AT_FORK: OnceLock<()> = OnceLock::new();
    AT_FORK.get_or_init(|| runtime::sys::at_fork_in_child(after_fork));
    runtime::env::check();
    let turn = TURN.fetch_add(1, Ordering::Relaxed) + 1;
    let found = launch::find()?;
    let (rank, size, mpi) = match &found {
        Launch::Own { rank, size, .. } => (*rank, *size, None),
        Launch::Alone => (0, 1, None),
        // A shell in a job step, or a step of one task: that needs no MPI, which may not even be able to start there.
        Launch::Mpi { size: 1, .. } if !mpi::is_there() => (0, 1, None),
        Launch::Mpi { by, rank, size } => {
            let mpi = Mpi::open(by, *rank, *size)?;
            (mpi.rank, mpi.size, Some(Arc::new(mpi)))
        }
    };
    let leaving = Arc::new(AtomicBool::new(false));
    let (nodes, token) = match (&mpi, found) {
        (Some(mpi), _) => census(mpi, turn)?,
        (None, Launch::Own { token, .. }) => (vec![(0..size).collect()], token),
        _ => (vec![vec![0]], String::new()),
    };
    let node = nodes.iter().position(|ranks: &Vec<u32>| ranks.contains(&rank)).unwrap_or(0);
    let locals = nodes[node].clone();
    let me = locals.iter().position(|r| *r == rank).unwrap_or(0);
    let place = Place { token: &token, turn, me, size: locals.len(), ranks: &locals };
    let segment = Arc::new(bootstrap::meet(&place)?);
    if let Some(mpi) = &mpi {
        let mpi = mpi.clone();
        let others: Vec<u32> = (0..size).filter(|r| !locals.contains(r)).collect();
        segment.on_failure(move |failure, rank, found| {
            // One that has ended finalises MPI on its way, or its launcher ends the job. Others may never come to that.
            if !matches!(failure, Failure::Ended | Failure::Left | Failure::Joined) {
                mpi::give_up();
            }
            if found && !others.is_empty() {
                mpi.tell(&others, turn, failure.pack(rank));
            }
        });
    }
    let world = World {
        rank,
        size,
        local_rank: me as u32,
        local_size: locals.len() as u32,
        cross_rank: node as u32,
        cross_size: nodes.len() as u32,
        segment,
        leaving,
        all: OnceLock::new(),
        sets: RwLock::new(Sets { list: BTreeMap::new(), next_id: 0, next_lane: 0 }),
        locals,
        nodes,
        mpi,
        turn,
    };
    world.add(&(0..size).collect::<Vec<u32>>())?;
    *slot = Some(Arc::new(world));
    Ok(())
}

/// Finds out which ranks are on the same machine: the ranks of each machine, and the token of our own.
///
/// What is compared is the number of the kernel's boot and the network namespace, in which the ranks of a machine must be
/// able to meet; that they do meet is the proof.
fn census(mpi: &Mpi, turn: u32) -> Result<(Vec<Vec<u32>>, String)> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let net = std::fs::read_link("/proc/self/ns/net").map(|p| p.display().to_string()).unwrap_or_default();
    let split = crate::runtime::env::SPLIT_NODES.number().unwrap_or(1);
    let part = u64::from(mpi.rank) * split / u64::from(mpi.size);
    let token = sys::random_token();
    let mut card = format!("{token} {} {net} {part}", boot.trim()).into_bytes();
    card.resize(CARD, b' ');
    mpi.forget_failures(turn);
    let all = mpi.gather_cards(card, two_level::tag_of_cards(turn), bootstrap::timeout())?;
    let mut nodes: Vec<(Vec<u8>, Vec<u32>)> = Vec::new();
    for (rank, card) in all.chunks(CARD).enumerate() {
        let key = &card[token.len()..];
        match nodes.iter_mut().find(|(known, _)| known == key) {
            Some((_, ranks)) => ranks.push(rank as u32),
            None => nodes.push((key.to_vec(), vec![rank as u32])),
        }
    }
    let nodes: Vec<Vec<u32>> = nodes.into_iter().map(|(_, ranks)| ranks).collect();
    let first = nodes.iter().find(|ranks| ranks.contains(&mpi.rank)).map_or(0, |ranks| ranks[0] as usize);
    let token = String::from_utf8_lossy(&all[first * CARD..first * CARD + token.len()]).into_owned();
    Ok((nodes, token))
}

/// Leaves. Operations under way in this process end with an error; ranks that still wait for this one get one that
/// names it. Waits for nobody.
pub fn shutdown() -> Result {
    current()?;
    let world = WORLD.write().unwrap_or_else(PoisonError::into_inner).take();
    let Some(world) = world else { return Ok(()) };
    world.leaving.store(true, Ordering::SeqCst);
    let queues: Vec<Arc<Queue>> = {
        let sets = world.sets.read().unwrap_or_else(PoisonError::into_inner);
        sets.list.values().filter_map(|set| set.close("corten_shutdown was called")).collect()
    };
    for queue in queues {
        queue.stopped();
    }
    world.segment.set_state(LEFT);
    Ok(())
}

impl Set {
    /// Tells the thread of named operations to end, if there is one; none starts any more.
    fn close(&self, reason: &str) -> Option<Arc<Queue>> {
        drop(lock(&self.named).take());
        let queue = self.queue.get()?;
        queue.stop(reason);
        Some(queue.clone())
    }
}

impl World {
    /// Makes a set. All ranks of the world do so in the same order with the same list.
    fn add(&self, ranks: &[u32]) -> Result<u32> {
        let mut sets = self.sets.write().unwrap_or_else(PoisonError::into_inner);
        let here: Vec<(usize, u32)> =
            ranks.iter().filter_map(|r| Some((self.locals.iter().position(|l| l == r)?, *r))).collect();
        let me = ranks.iter().position(|r| *r == self.rank);
        let bytes = Lane::bytes(here.len());
        if sets.next_lane + 2 * bytes > self.segment.plan.lanes as usize {
            let text = format!("no shared memory left for a process set of {} ranks", ranks.len());
            return Err(Error::new(Status::System, text));
        }
        let group = |offsets: (usize, usize), me: usize, named: bool| {
            let (locals, list): (Vec<usize>, Vec<u32>) = here.iter().copied().unzip();
            let here = list.iter().position(|r| *r == self.rank).unwrap_or(0);
            let lane = Lane::new(&self.segment, &self.leaving, offsets, list, locals, here);
            let cross = self.cross(ranks, 2 * sets.next_id + u32::from(named));
            Group::new(ranks.to_vec(), me, if named { lane.named() } else { lane }, cross)
        };
        let (first, second) = (sets.next_lane, sets.next_lane + bytes);
        let id = sets.next_id;
        let set = Set {
            id,
            ranks: ranks.to_vec(),
            me,
            blocking: me.map(|me| Mutex::new(group((first, second), me, false))),
            named: Mutex::new(me.map(|me| group((second, first), me, true))),
            queue: OnceLock::new(),
        };
        sets.next_lane += 2 * bytes;
        sets.next_id += 1;
        let set = Arc::new(set);
        if id == 0 {
            self.all.get_or_init(|| set.clone());
        }
        sets.list.insert(id, set);
        Ok(id)
    }

    /// The way to the members on other machines, if there are any.
    fn cross(&self, ranks: &[u32], lane: u32) -> Option<Cross> {
        let members = |node: &Vec<u32>| (0..ranks.len()).filter(|i| node.contains(&ranks[*i])).collect::<Vec<usize>>();
        let nodes: Vec<Vec<usize>> = self.nodes.iter().map(members).filter(|list| !list.is_empty()).collect();
        let node = nodes.iter().position(|list| list.iter().any(|i| ranks[*i] == self.rank))?;
        let mpi = self.mpi.as_ref().filter(|_| nodes.len() > 1)?;
        Some(Cross::new(mpi.clone(), (self.turn, lane), nodes, node, ranks.to_vec()))
    }

    /// Whether these ranks can be a process set.
    pub fn check_set(&self, ranks: impl Iterator<Item = i64>) -> Result<Vec<u32>> {
        let ranks: Vec<i64> = ranks.collect();
        let mut seen = ranks.clone();
        seen.sort_unstable();
        let inside = |r: &i64| (0..i64::from(self.size)).contains(r);
        if ranks.is_empty() || seen.windows(2).any(|w| w[0] == w[1]) || !seen.iter().all(inside) {
            let text = format!("a process set is a list of different ranks below {}, not {ranks:?}", self.size);
            return Err(Error::new(Status::Argument, text));
        }
        Ok(ranks.iter().map(|r| *r as u32).collect())
    }

    /// A new process set of these ranks; called by all ranks, members or not, with the same list.
    pub fn add_set(&self, ranks: &[u32]) -> Result<u32> {
        self.agree_on_sets(Detail::ADD, ranks)?;
        let known = {
            let sets = self.sets.read().unwrap_or_else(PoisonError::into_inner);
            sets.list.values().find(|set| set.ranks == ranks).map(|set| set.id)
        };
        match known {
            Some(id) => Ok(id),
            None => self.add(ranks),
        }
    }

    /// Removes a process set; called by all ranks, members or not. Its part of the address space is not used again.
    pub fn remove_set(&self, id: u32) -> Result {
        let set = self.set(id).and_then(|set| match id {
            0 => Err(Error::new(Status::Argument, "process set 0 is all ranks and stays")),
            _ => Ok(set),
        });
        let set = set.inspect_err(|error| self.refuse(0, error))?;
        self.agree_on_sets(Detail::REMOVE, &[id])?;
        if let Some(queue) = set.close(&format!("process set {id} was removed")) {
            queue.stopped();
        }
        self.sets.write().unwrap_or_else(PoisonError::into_inner).list.remove(&id);
        Ok(())
    }

    fn agree_on_sets(&self, what: u64, numbers: &[u32]) -> Result {
        let list: Vec<u64> = core::iter::once(what).chain(numbers.iter().map(|n| u64::from(*n))).collect();
        let header = Header::new(Kind::Sets, Element::U8, 0, collectives::hash(list.iter().map(|n| *n as usize)));
        self.with(0, |group| group.agree_on(Statement { header, detail: Detail::Numbers(list) }))
    }

    pub fn set(&self, id: u32) -> Result<Arc<Set>> {
        let sets = self.sets.read().unwrap_or_else(PoisonError::into_inner);
        let unknown = || Error::new(Status::Argument, format!("there is no process set {id}"));
        sets.list.get(&id).cloned().ok_or_else(unknown)
    }
    pub fn set_ids(&self) -> Vec<u32> {
        self.sets.read().unwrap_or_else(PoisonError::into_inner).list.keys().copied().collect()
    }

    /// Runs a blocking operation on a set.
    #[inline]
    pub fn with<R>(&self, id: u32, f: impl FnOnce(&mut Group) -> Result<R>) -> Result<R> {
        match self.all.get().filter(|_| id == 0) {
            Some(set) => self.with_set(set, f),
            None => self.with_set(self.set(id)?.as_ref(), f),
        }
    }
    #[inline]
    fn with_set<R>(&self, set: &Set, f: impl FnOnce(&mut Group) -> Result<R>) -> Result<R> {
        match &set.blocking {
            Some(group) => f(&mut lock(group)),
            None => Err(not_a_member(self.rank, set.id)),
        }
    }

    /// Takes part in a blocking operation only to say that its arguments are wrong here, so that the others learn it now
    /// and not when their patience ends.
    pub fn refuse(&self, id: u32, error: &Error) {
        let _ = self.with(id, |group| group.refuse(&error.text));
    }

    /// The queue of named operations of a set; its thread starts with the first of them.
    pub fn queue(&self, id: u32) -> Result<Arc<Queue>> {
        let set = self.set(id)?;
        if let Some(queue) = set.queue.get() {
            return Ok(queue.clone());
        }
        let mut named = lock(&set.named);
        if let Some(queue) = set.queue.get() {
            return Ok(queue.clone());
        }
        let nobody = || match set.me {
            Some(_) => Error::new(Status::State, format!("process set {id} takes no asynchronous operations any more")),
            None => not_a_member(self.rank, id),
        };
        let queue = Queue::start(named.take().ok_or_else(nobody)?)?;
        Ok(set.queue.get_or_init(|| queue).clone())
    }

    /// Takes no more part in named operations of all ranks but with zeros, until all have joined. Returns the last one.
    pub fn join(&self) -> Result<u32> {
        let queue = self.queue(0)?;
        self.segment.set_state(JOINED);
        let last = queue.join();
        if !self.leaving.load(Ordering::Relaxed) {
            self.segment.set_state(ACTIVE);
        }
        last
    }
}

fn not_a_member(rank: u32, id: u32) -> Error {
    Error::new(Status::Argument, format!("rank {rank} is not in process set {id}"))
}

/// Even blocks of n elements, the first ones one larger.
pub fn even(n: usize, p: usize) -> Vec<usize> {
    (0..p).map(|k| n / p + usize::from(k < n % p)).collect()
}

/// What `corten-run --check` and logs print.
pub fn describe() -> String {
    let processors: u32 = sys::affinity().iter().map(|w| w.count_ones()).sum();
    let memory = match sys::shared_memory(4096).and_then(|fd| {
        use std::os::fd::AsRawFd;
        sys::lock_byte(fd.as_raw_fd(), 0)?;
        sys::map(fd.as_raw_fd(), 4096)
    }) {
        Ok(base) => {
            // SAFETY: mapped above, used by nobody.
            unsafe { sys::unmap(base, 4096) };
            "works".to_string()
        }
        Err(e) => e.text,
    };
    let space = match sys::limit_of(sys::Limit::AddressSpace) {
        u64::MAX => "unlimited".to_string(),
        n => format!("{} MiB", n >> 20),
    };
    let mpi = mpi::describe();
    format!(
        "processors        {processors}\nshared memory     {memory}\naddress space     {space}\nMPI               {mpi}\n"
    )
}
