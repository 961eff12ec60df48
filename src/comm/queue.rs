//! Named operations that run behind the caller's back: agreed on in rounds, fused, executed by a thread of the set.
//!
//! A round is one exchange of a few bytes among the threads of all members: each announces the names that its
//! application has submitted since. All members see the same announcements in the same order, so all know, without a
//! coordinator, which names are now known to all, whether they agree, in which order to run them and which to fuse.
//! A thread is in a round exactly while something is under way on its rank: a member that has nothing to do sleeps,
//! and the others, which cannot do anything without it anyway, sleep in the round until it comes. Nobody polls.
//!
//! Between two rounds in which nobody had news a thread does not enter the next one but dozes until its own rank or
//! another has some.
//!
//! A call that a rank refuses for its arguments is announced as well, as a refusal: it takes the place that the operation
//! would have had under its name, and all who have that get the reason. Nobody waits for a refusal to be heard: while
//! there is nothing else under way, its rank sits in the round without an end to its patience.
//!
//! Fusion costs nothing: allreduce takes a list of tensors and treats it as one vector, reading and writing each where it
//! is. Elements are folded in the order of the ranks, so fusion does not change results.

use super::collectives::{self, Piece};
use super::group::Group;
use super::transport::segment::Failure;
use super::transport::shm::{self, Ringer, Watch};
use super::types::{Element, Error, Header, Kind, Op, Reduction, Result, Statement, Status, agree};
use crate::runtime::{self, env, trace};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a quiet thread sleeps without looking around; and where other machines may have news.
const NAP: Duration = Duration::from_millis(200);
const FAR_NAP: Duration = Duration::from_millis(5);

/// What is to be done. Pointers are the caller's, who keeps them valid until the operation is done.
pub enum Work {
    Allreduce {
        r: Reduction,
        list: Vec<Piece>,
    },
    Allgather {
        element: Element,
        src: *const u8,
        n: usize,
        dst: *mut u8,
        room: usize,
        counts: *mut usize,
    },
    Broadcast {
        element: Element,
        n: usize,
        buffer: *mut u8,
        root: usize,
    },
    Reducescatter {
        r: Reduction,
        counts: Vec<usize>,
        src: *const u8,
        dst: *mut u8,
    },
    Alltoall {
        element: Element,
        counts: Vec<usize>,
        src: *const u8,
        dst: *mut u8,
        room: usize,
        came: *mut usize,
    },
    Barrier,
    /// Nothing: the arguments were wrong, and this is why.
    Refused(String),
}

// SAFETY: the caller gives the buffers to the operation until it is done.
unsafe impl Send for Work {}

impl Work {
    /// What it is; `ranks` are those of the set.
    fn header(&self, ranks: &[u32]) -> Header {
        match self {
            Work::Allreduce { r, list } => collectives::header_of(r, list),
            Work::Allgather { element, n, room, .. } => Header::new(Kind::Allgather, *element, *n, *room as u64),
            Work::Broadcast { element, n, root, .. } => {
                Header::new(Kind::Broadcast, *element, *n, u64::from(ranks[*root]))
            }
            Work::Reducescatter { r, counts, .. } => collectives::header_of_blocks(r, counts),
            Work::Alltoall { element, .. } => Header::new(Kind::Alltoall, *element, 0, 0),
            Work::Barrier => Header::new(Kind::Barrier, Element::U8, 0, 0),
            Work::Refused(_) => Header::new(Kind::Refused, Element::U8, 0, 0),
        }
    }
    /// The same in full.
    fn statement(&self, ranks: &[u32]) -> Statement {
        match self {
            Work::Allreduce { r, list } => collectives::statement_of(r, list),
            Work::Reducescatter { r, counts, .. } => collectives::statement_of_blocks(r, counts),
            Work::Refused(reason) => Statement::refusal(reason),
            _ => self.header(ranks).into(),
        }
    }
}

/// Where the caller waits.
#[derive(Default)]
pub struct Ticket {
    done: Mutex<Option<Result>>,
    bell: Condvar,
}

impl Ticket {
    pub fn is_done(&self) -> bool {
        lock(&self.done).is_some()
    }
    /// The outcome; `None` if it is not there in time.
    pub fn wait(&self, limit: Option<Duration>) -> Option<Result> {
        // An end that no clock reaches is none.
        let deadline = limit.and_then(|l| Instant::now().checked_add(l));
        let mut done = lock(&self.done);
        loop {
            if let Some(outcome) = &*done {
                return Some(outcome.clone());
            }
            match deadline {
                None => done = self.bell.wait(done).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return None;
                    }
                    done = self.bell.wait_timeout(done, left).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }
    fn set(&self, outcome: Result) {
        lock(&self.done).get_or_insert(outcome);
    }
    fn finish(&self, outcome: Result) {
        self.set(outcome);
        self.bell.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Request {
    name: String,
    work: Work,
    ticket: Arc<Ticket>,
}

#[derive(Default)]
struct Inbox {
    /// Submitted and not announced yet.
    new: VecDeque<Request>,
    /// All names under way on this rank; those of refusals are free.
    names: HashSet<String>,
    /// Whoever waits in join.
    join: Option<Arc<Joined>>,
    stopped: Option<Error>,
}

#[derive(Default)]
struct Joined {
    ticket: Ticket,
    last: AtomicU64,
}

/// The named operations of one process set on one rank.
pub struct Queue {
    desk: Arc<Desk>,
    ringer: Ringer,
}

/// Between the callers and the thread. It holds nothing of the shared memory: the thread has it until its very end, later
/// than it says that it has ended.
struct Desk {
    inbox: Mutex<Inbox>,
    bell: Condvar,
    /// What the application waits for: names under way, and join.
    wanted: Arc<AtomicUsize>,
    /// The lane's, which ends the waits of the thread there.
    leaving: Arc<AtomicBool>,
    ended: Mutex<bool>,
    end: Condvar,
}

/// A name as the members have announced it.
struct Entry {
    name: String,
    headers: Vec<Option<Header>>,
    /// When it was first announced, by the watch of the thread.
    since: Duration,
    warned: bool,
}

/// What the thread is doing, for what it knows of the others when nothing works any more.
#[derive(Clone, Copy)]
enum Phase {
    /// Nothing: what all have announced is in the table.
    Between,
    /// A round that began with this step of the lane. In this step nobody has more to go by than who has come to it; in a later
    /// one all on this machine have, with announcements that are not in the table.
    Round(u32),
    /// Operations of all: meanwhile anybody may have submitted anything.
    Running,
}

/// What the thread knows.
struct State {
    group: Group,
    phase: Phase,
    /// Our own requests that were announced, by name.
    mine: HashMap<String, Request>,
    /// Our own refusals that were announced, name and reason, in this order.
    refused: VecDeque<(String, String)>,
    /// All names that some member has announced and that are not ready, in the order of their first announcement, which
    /// is the same on all members.
    table: BTreeMap<u64, Entry>,
    /// Where a name is in the table. More than once if a member has announced it again after a refusal, of which the others
    /// have not come to hear yet: what a member announces goes to the first place that has nothing from it.
    places: HashMap<String, VecDeque<u64>>,
    next: u64,
    joined: Vec<bool>,
    last_joined: usize,
    zeros: Vec<u8>,
    last_was_quiet: bool,
    watch: Watch,
}

impl Queue {
    pub fn start(mut group: Group) -> Result<Arc<Queue>> {
        let (ringer, leaving) = (group.lane().ringer(), group.lane().leaving.clone());
        let wanted = Arc::new(AtomicUsize::new(0));
        group.lane().wanted = wanted.clone();
        let desk = Arc::new(Desk {
            inbox: Mutex::default(),
            bell: Condvar::new(),
            wanted,
            leaving,
            ended: Mutex::new(false),
            end: Condvar::new(),
        });
        let size = group.size();
        let state = State {
            group,
            phase: Phase::Between,
            mine: HashMap::new(),
            refused: VecDeque::new(),
            table: BTreeMap::new(),
            places: HashMap::new(),
            next: 0,
            joined: vec![false; size],
            last_joined: 0,
            zeros: Vec::new(),
            last_was_quiet: false,
            watch: Watch::start(),
        };
        let its = desk.clone();
        let started = runtime::sys::with_signals_blocked(|| {
            std::thread::Builder::new().name("corten-comm".into()).stack_size(512 << 10).spawn(move || its.live(state))
        });
        match started {
            Ok(_) => Ok(Arc::new(Queue { desk, ringer })),
            Err(e) => Err(Error::new(Status::System, format!("cannot start the communication thread: {e}"))),
        }
    }

    /// Hands an operation over.
    pub fn submit(&self, name: &str, work: Work) -> Result<Arc<Ticket>> {
        if name.is_empty() || name.len() > 1000 {
            let text = format!("a name has 1 to 1000 bytes, not {}", name.len());
            return Err(Error::new(Status::Argument, text));
        }
        let ticket = Arc::new(Ticket::default());
        let mut inbox = lock(&self.desk.inbox);
        if let Some(error) = &inbox.stopped {
            return Err(error.clone());
        }
        if inbox.join.is_some() {
            return Err(Error::new(Status::State, "this rank is in corten_join"));
        }
        if inbox.names.contains(name) {
            let text = format!("a tensor named '{name}' is under way already; wait for it or use another name");
            return Err(Error::new(Status::Argument, text));
        }
        if !matches!(work, Work::Refused(_)) {
            inbox.names.insert(name.to_string());
        }
        inbox.new.push_back(Request { name: name.to_string(), work, ticket: ticket.clone() });
        self.desk.count(&inbox);
        drop(inbox);
        self.desk.bell.notify_one();
        self.ringer.ring();
        Ok(ticket)
    }

    /// Lets the others know that this rank's operation of that name was refused, and why; returns the error. Where there
    /// could have been no such operation, they have nothing to hear.
    pub fn refuse(&self, name: &str, error: Error) -> Result {
        let _ = self.submit(name, Work::Refused(error.text.clone()));
        Err(error)
    }

    /// Joins; returns the rank that joined last.
    pub fn join(&self) -> Result<u32> {
        let joined = Arc::new(Joined::default());
        let mut inbox = lock(&self.desk.inbox);
        if let Some(error) = &inbox.stopped {
            return Err(error.clone());
        }
        if inbox.join.is_some() {
            return Err(Error::new(Status::State, "this rank is in corten_join already"));
        }
        inbox.join = Some(joined.clone());
        self.desk.count(&inbox);
        drop(inbox);
        self.desk.bell.notify_one();
        self.ringer.ring();
        joined.ticket.wait(None).unwrap_or(Ok(()))?;
        Ok(joined.last.load(Ordering::Relaxed) as u32)
    }

    /// Tells the thread to end; what is under way ends with an error, for this reason.
    pub fn stop(&self, reason: &str) {
        lock(&self.desk.inbox).stopped.get_or_insert(Error::new(Status::State, reason));
        self.desk.leaving.store(true, Ordering::SeqCst);
        self.desk.bell.notify_all();
        self.ringer.rouse();
    }

    /// Waits for the end of a thread that was told to.
    pub fn stopped(&self) {
        let mut ended = lock(&self.desk.ended);
        let deadline = Instant::now() + Duration::from_secs(5);
        while !*ended && Instant::now() < deadline {
            ended =
                self.desk.end.wait_timeout(ended, Duration::from_millis(100)).unwrap_or_else(PoisonError::into_inner).0;
            self.ringer.rouse();
        }
    }
}

impl Desk {
    fn count(&self, inbox: &Inbox) {
        self.wanted.store(inbox.names.len() + usize::from(inbox.join.is_some()), Ordering::Relaxed);
    }

    fn live(&self, mut state: State) {
        let error = loop {
            if let Err(error) = self.turn(&mut state) {
                break error;
            }
        };
        let mut inbox = lock(&self.inbox);
        let error = inbox.stopped.get_or_insert(error).clone();
        let new: Vec<Request> = inbox.new.drain(..).collect();
        inbox.names.clear();
        let join = inbox.join.take();
        drop(inbox);
        for request in new.iter().chain(state.mine.values()) {
            let error = state.error_of(&request.name, error.clone());
            request.ticket.finish(Err(error.of(&format!("tensor '{}'", request.name))));
        }
        if let Some(join) = join {
            join.ticket.finish(Err(error));
        }
        // With it goes the shared memory: who has called shutdown finds it unmapped.
        drop(state);
        *lock(&self.ended) = true;
        self.end.notify_all();
    }

    /// Sleeps until there is something to do, then one round and what it made ready.
    fn turn(&self, state: &mut State) -> Result {
        let mut payload = vec![0u8];
        {
            let mut inbox = lock(&self.inbox);
            while inbox.new.is_empty() && inbox.join.is_none() && state.is_idle() && inbox.stopped.is_none() {
                inbox = self.bell.wait(inbox).unwrap_or_else(PoisonError::into_inner);
            }
            if let Some(error) = &inbox.stopped {
                return Err(error.clone());
            }
            payload[0] = u8::from(inbox.join.is_some());
            while let Some(request) = inbox.new.front() {
                if payload.len() + Header::BYTES + 4 + request.name.len() > state.group.most() {
                    break;
                }
                let Some(request) = inbox.new.pop_front() else { break };
                write_entry(&mut payload, &request.work.header(&state.group.ranks), &request.name);
                match request.work {
                    Work::Refused(reason) => state.refused.push_back((request.name, reason)),
                    _ => drop(state.mine.insert(request.name.clone(), request)),
                }
            }
        }
        let newly_joined = payload[0] != 0 && !state.joined[state.group.me];
        if payload.len() == 1 && !newly_joined && state.quiet() {
            self.doze(state)?;
            if let Some(error) = &lock(&self.inbox).stopped {
                return Err(error.clone());
            }
            if !lock(&self.inbox).new.is_empty() || !state.group.is_crossing() && !state.group.lane().is_awaited() {
                return Ok(());
            }
        }
        let wanted = state.table.values().filter(|e| e.is_wanted());
        let oldest = wanted.map(|e| e.name.as_str()).take(3).collect::<Vec<_>>().join("', '");
        let mine = state.mine.keys().take(3).cloned().collect::<Vec<_>>().join("', '");
        let named = if oldest.is_empty() { mine } else { oldest };
        state.group.lane().context = match named.as_str() {
            // Only join is waited for.
            "" => String::new(),
            _ => format!(", which has not submitted '{named}'"),
        };
        state.group.lane().healthy()?;
        state.phase = Phase::Round(state.group.lane().now());
        let told = state.group.exchange(Kind::Round, 0, &payload)?;
        state.phase = Phase::Running;
        let news = state.merge(&told);
        state.seen_news(news);
        let ready = state.take_ready();
        self.run(state, ready)?;
        state.phase = Phase::Between;
        if state.joined.iter().all(|j| *j) && state.table.is_empty() {
            state.joined.fill(false);
            let mut inbox = lock(&self.inbox);
            let join = inbox.join.take();
            self.count(&inbox);
            drop(inbox);
            if let Some(join) = join {
                join.last.store(u64::from(state.group.ranks[state.last_joined]), Ordering::Relaxed);
                join.ticket.finish(Ok(()));
            }
        }
        Ok(())
    }

    /// Waits for news, and looks at names that others have not submitted.
    fn doze(&self, state: &mut State) -> Result {
        let nap = if state.group.is_crossing() { FAR_NAP } else { NAP };
        let has_joined = state.joined[state.group.me];
        state.group.lane().doze(nap, || {
            let inbox = lock(&self.inbox);
            !inbox.new.is_empty() || inbox.stopped.is_some() || inbox.join.is_some() && !has_joined
        });
        state.group.lane().healthy()?;
        if !state.group.lane().is_patient() {
            state.group.lane().all_there()?;
        }
        let (warn, limit) = (env::STALL_WARNING.number().unwrap_or(60), shm::timeout());
        let (ranks, joined, me) = (state.group.ranks.clone(), state.joined.clone(), state.group.me);
        let now = state.watch.look();
        for entry in state.table.values_mut() {
            let age = now - entry.since;
            let due = !entry.warned && warn > 0 && age >= Duration::from_secs(warn) && entry.is_wanted();
            if !due && age < limit {
                continue;
            }
            let missing: Vec<u32> = entry.missing(&joined).map(|m| ranks[m]).collect();
            let Some(first) = missing.first() else { continue };
            if age >= limit && entry.is_operation_of(me) {
                let lane = state.group.lane();
                // Of ranks of other machines nothing else is known.
                let (failure, rank) = match lane.ranks.iter().position(|r| r == first) {
                    Some(member) => lane.late(member),
                    None => (Failure::Late(limit.as_secs() as u32), *first),
                };
                return Err(lane.segment().fail(failure, rank));
            }
            if due {
                entry.warned = true;
                let (seconds, name) = (age.as_secs(), &entry.name);
                trace::say(format_args!(
                    "tensor '{name}' has waited {seconds} s: submitted by some ranks, not by {missing:?}"
                ));
            }
        }
        Ok(())
    }

    /// Runs what is ready, in an order and in portions that are the same on all members.
    fn run(&self, state: &mut State, ready: Vec<Entry>) -> Result {
        let threshold = env::FUSION_THRESHOLD.number().unwrap_or(16 << 20) as usize;
        let mut portions: Vec<(Option<Reduction>, usize, Vec<Entry>)> = Vec::new();
        for entry in ready {
            let headers: Vec<Header> = entry.headers.iter().flatten().copied().collect();
            let ranks: Vec<u32> =
                (0..state.group.size()).filter(|&m| entry.headers[m].is_some()).map(|m| state.group.ranks[m]).collect();
            let verdict = match agree(&headers, &ranks) {
                Err(error) => {
                    let mine = state.statement_for(&entry);
                    Err(state.group.explain(error, mine.as_ref()))
                }
                Ok(()) if headers[0].kind() == Kind::Refused => {
                    // By all who have not joined, each for its own reason, which it knows.
                    drop(state.statement_for(&entry));
                    continue;
                }
                Ok(()) => state.allowed(&entry, &headers[0]),
            };
            if let Err(error) = verdict {
                if entry.is_operation_of(state.group.me) {
                    let told = error.clone().of(&format!("tensor '{}'", entry.name));
                    self.finish(state, &entry.name, Err(told));
                }
                fatal(Err(error))?;
                continue;
            }
            let reduction = headers[0].as_reduction().filter(|r| r.op != Op::Adasum);
            let bytes = headers[0].count as usize * reduction.map_or(1, |r| r.element.bytes());
            let fits = |p: &&mut (Option<Reduction>, usize, Vec<Entry>)| p.0 == reduction && p.1 + bytes <= threshold;
            match portions.iter_mut().rev().find(fits).filter(|_| reduction.is_some()) {
                Some(portion) => {
                    portion.1 += bytes;
                    portion.2.push(entry);
                }
                None => portions.push((reduction, bytes, vec![entry])),
            }
        }
        for (reduction, _, entries) in portions {
            match reduction {
                Some(r) => self.run_fused(state, &r, &entries)?,
                None => {
                    for entry in entries {
                        self.run_one(state, &entry)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn run_fused(&self, state: &mut State, r: &Reduction, entries: &[Entry]) -> Result {
        let most = entries.iter().filter(|e| !state.mine.contains_key(&e.name)).map(Entry::count).max().unwrap_or(0);
        // Members in join take part with zeros, in place: zeros in, the result over them, so zeros again before each use.
        state.zeros.clear();
        state.zeros.resize(most * r.element.bytes(), 0);
        let mut list = Vec::new();
        let mut spare = Vec::new();
        for entry in entries {
            match state.mine.get(&entry.name) {
                Some(Request { work: Work::Allreduce { list: pieces, .. }, .. }) => list.extend_from_slice(pieces),
                _ => {
                    let mut target = vec![0u8; entry.count() * r.element.bytes()];
                    list.push(Piece { src: state.zeros.as_ptr(), dst: target.as_mut_ptr(), count: entry.count() });
                    spare.push(target);
                }
            }
        }
        // Lists of different cuts (a grouped tensor here, zeros there) must look the same: the count alone is compared.
        // SAFETY: the callers gave their buffers to the operation; ours live in `zeros` and `spare`.
        let outcome = unsafe { state.group.allreduce_fused(r, &list) };
        // All are done before anybody is told: who waits for them one after the other is woken once.
        let mut told = Vec::with_capacity(entries.len());
        let mut inbox = lock(&self.inbox);
        for entry in entries {
            if let Some(request) = state.mine.remove(&entry.name) {
                inbox.names.remove(&entry.name);
                request.ticket.set(outcome.clone().map_err(|e| e.of(&format!("tensor '{}'", entry.name))));
                told.push(request.ticket);
            }
        }
        self.count(&inbox);
        drop(inbox);
        for ticket in told {
            ticket.bell.notify_all();
        }
        drop(spare);
        fatal(outcome)
    }

    fn run_one(&self, state: &mut State, entry: &Entry) -> Result {
        let Some(request) = state.mine.get(&entry.name) else {
            return Err(Error::new(Status::State, format!("tensor '{}' is not here", entry.name)));
        };
        let group = &mut state.group;
        // SAFETY: the caller gave the buffers to the operation.
        let outcome = unsafe {
            match &request.work {
                Work::Allreduce { r, list } => group.allreduce(r, list),
                Work::Allgather { element, src, n, dst, room, counts } => {
                    group.allgather(*element, *src, *n, *dst, *room).map(|got| put(*counts, &got))
                }
                Work::Broadcast { element, n, buffer, root } => group.broadcast(*element, *n, *buffer, *root),
                Work::Reducescatter { r, counts, src, dst } => group.reducescatter(r, counts, *src, *dst),
                Work::Alltoall { element, counts, src, dst, room, came } => {
                    group.alltoall(*element, counts, *src, *dst, *room).map(|got| put(*came, &got))
                }
                Work::Barrier => group.barrier(),
                Work::Refused(_) => Ok(()),
            }
        };
        let told = outcome.clone().map_err(|e| e.of(&format!("tensor '{}'", entry.name)));
        self.finish(state, &entry.name, told);
        fatal(outcome)
    }

    fn finish(&self, state: &mut State, name: &str, outcome: Result) {
        let Some(request) = state.mine.remove(name) else { return };
        let mut inbox = lock(&self.inbox);
        inbox.names.remove(name);
        self.count(&inbox);
        drop(inbox);
        request.ticket.finish(outcome);
    }
}

/// A disagreement concerns one operation; everything else ends them all.
fn fatal(outcome: Result) -> Result {
    match outcome {
        Err(e) if !matches!(e.status, Status::Mismatch | Status::Argument) => Err(e),
        _ => Ok(()),
    }
}

/// # Safety
/// Null, or room for as many numbers.
unsafe fn put(to: *mut usize, numbers: &[usize]) {
    if !to.is_null() {
        // SAFETY: passed on to the caller.
        unsafe { core::ptr::copy_nonoverlapping(numbers.as_ptr(), to, numbers.len()) };
    }
}

fn write_entry(payload: &mut Vec<u8>, header: &Header, name: &str) {
    payload.extend_from_slice(header.as_bytes());
    payload.extend_from_slice(&(name.len() as u32).to_ne_bytes());
    payload.extend_from_slice(name.as_bytes());
}

fn read_entries(mut payload: &[u8]) -> Vec<(Header, String)> {
    let mut entries = Vec::new();
    while let Some((header, rest)) = payload.split_at_checked(Header::BYTES) {
        let Some((len, rest)) = rest.split_at_checked(4) else { break };
        let len = u32::from_ne_bytes([len[0], len[1], len[2], len[3]]) as usize;
        let Some((name, rest)) = rest.split_at_checked(len) else { break };
        entries.push((Header::from_bytes(header), String::from_utf8_lossy(name).into_owned()));
        payload = rest;
    }
    entries
}

impl Entry {
    /// Members that have neither announced it nor joined.
    fn missing(&self, joined: &[bool]) -> impl Iterator<Item = usize> {
        (0..joined.len()).filter(|&m| self.headers[m].is_none() && !joined[m])
    }
    /// Whether a member has announced it as something to be done, and not refused it.
    fn is_operation_of(&self, member: usize) -> bool {
        self.headers[member].is_some_and(|h| h.kind() != Kind::Refused)
    }
    /// Whether anybody has.
    fn is_wanted(&self) -> bool {
        (0..self.headers.len()).any(|m| self.is_operation_of(m))
    }
    fn count(&self) -> usize {
        self.headers.iter().flatten().next().map_or(0, |h| h.count as usize)
    }
}

impl State {
    /// Nobody had news in the last round.
    fn quiet(&self) -> bool {
        self.last_was_quiet
    }
    fn seen_news(&mut self, news: bool) {
        self.last_was_quiet = !news;
    }
    /// Nothing of this rank is in the table.
    fn is_idle(&self) -> bool {
        self.mine.is_empty() && self.refused.is_empty()
    }

    /// What this rank meant by an entry on which there is no agreement. A refusal has been heard with that.
    fn statement_for(&mut self, entry: &Entry) -> Option<Statement> {
        if entry.is_operation_of(self.group.me) {
            return self.mine.get(&entry.name).map(|request| request.work.statement(&self.group.ranks));
        }
        // The oldest of that name: that is the order in which entries are filled.
        let i =
            self.refused.iter().position(|(name, _)| entry.headers[self.group.me].is_some() && *name == entry.name)?;
        self.refused.remove(i).map(|(_, reason)| Statement::refusal(&reason))
    }

    /// What is told of a tensor that was under way when nothing works any more: at a timeout, who has not submitted it, as
    /// far as that is known.
    fn error_of(&self, name: &str, error: Error) -> Error {
        let Some((failure @ (Failure::Late(_) | Failure::Crossed(_)), rank)) =
            self.group.lane_as_is().segment().failure()
        else {
            return error;
        };
        if error.status != Status::Timeout {
            return error;
        }
        let (me, ranks, lane) = (self.group.me, &self.group.ranks, self.group.lane_as_is());
        let entries = || self.places.get(name).into_iter().flatten().filter_map(|place| self.table.get(place));
        let mine = entries().find(|e| e.is_operation_of(me));
        // Those of whom it is known what they have announced: all, of what we have announced ourselves; or who has not come to
        // the round.
        let known: Vec<u32> = match self.phase {
            Phase::Between if mine.is_some() => ranks.clone(),
            Phase::Round(first) if lane.now() == first => lane.absent(),
            _ => Vec::new(),
        };
        let lacks = |m: usize| match mine {
            Some(entry) => entry.headers[m].is_none(),
            None => entries().all(|e| e.headers[m].is_none()),
        };
        let is_missing = |&m: &usize| known.contains(&ranks[m]) && !self.joined[m] && lacks(m);
        let missing: Vec<u32> = (0..ranks.len()).filter(is_missing).map(|m| ranks[m]).collect();
        let list: Vec<String> = missing.iter().map(u32::to_string).collect();
        let text = match (missing.as_slice(), failure) {
            ([], _) => return error,
            ([one], Failure::Late(seconds)) if *one == rank => {
                format!("not submitted by rank {one}, which did not come within {seconds} s (CORTEN_TIMEOUT)")
            }
            ([one], _) => format!("not submitted by rank {one}; {}", error.text),
            _ => format!("not submitted by ranks {}; {}", list.join(", "), error.text),
        };
        Error::new(Status::Timeout, text)
    }

    /// Takes in what all members announced; whether there was anything new.
    fn merge(&mut self, told: &[Vec<u8>]) -> bool {
        let mut news = false;
        let now = self.watch.look();
        for (m, payload) in told.iter().enumerate() {
            let Some((flags, entries)) = payload.split_first() else { continue };
            if flags & 1 != 0 && !self.joined[m] {
                self.joined[m] = true;
                self.last_joined = m;
                news = true;
            }
            for (header, name) in read_entries(entries) {
                news = true;
                let places = self.places.entry(name.clone()).or_default();
                let lacks = |place: &&u64| self.table.get(place).is_some_and(|e| e.headers[m].is_none());
                let place = places.iter().find(lacks).copied().unwrap_or_else(|| {
                    self.next += 1;
                    places.push_back(self.next);
                    self.next
                });
                let size = self.group.ranks.len();
                let entry = self.table.entry(place).or_insert_with(|| Entry {
                    name,
                    headers: vec![None; size],
                    since: now,
                    warned: false,
                });
                entry.headers[m] = Some(header);
            }
        }
        news
    }

    /// The names that all members who have not joined have announced, in order.
    fn take_ready(&mut self) -> Vec<Entry> {
        let joined = &self.joined;
        let is_ready = |e: &Entry| e.headers.iter().zip(joined).all(|(h, joined)| h.is_some() || *joined);
        let places: Vec<u64> = self.table.iter().filter(|(_, e)| is_ready(e)).map(|(place, _)| *place).collect();
        let ready: Vec<Entry> = places.iter().filter_map(|place| self.table.remove(place)).collect();
        // Of entries of the same name the first is ready first.
        for entry in &ready {
            if let Some(places) = self.places.get_mut(&entry.name) {
                places.pop_front();
                if places.is_empty() {
                    self.places.remove(&entry.name);
                }
            }
        }
        ready
    }

    /// While a member is in join, only what zeros do not change may go on.
    fn allowed(&self, entry: &Entry, header: &Header) -> Result {
        let Some(away) = (0..self.group.size()).find(|&m| entry.headers[m].is_none()) else { return Ok(()) };
        let sums = header.as_reduction().is_some_and(|r| matches!(r.op, Op::Sum | Op::Average));
        if header.kind() == Kind::Allreduce && sums {
            return Ok(());
        }
        let rank = self.group.ranks[away];
        let text = format!("{} cannot go on without rank {rank}, which is in corten_join", header.kind().name());
        Err(Error::new(Status::Mismatch, text))
    }
}
