//! A lane: what a fixed list of ranks of one machine needs to work together, one operation after the other.
//!
//! An operation is a number of steps. In a step every member does its work, publishes the step's number, and waits until
//! all others have published it. For each member a lane holds two lines of control words, of which step n uses that of
//! parity n mod 2, and a ring of staging memory, of which each step takes what it needs and says in its line where
//! that is. One synchronisation a step is enough, because
//!
//! - what a member wrote before it published step n may be read by all in step n+1 (release, acquire), and
//! - it is overwritten at the earliest in step n+2, when the writer has seen everybody publish step n+1, which they do
//!   after their reads.
//!
//! So nobody ever waits for the *end* of an operation of others. The last reads of an operation happen in the first step
//! of the next one; `model.rs` goes through all
//! interleavings of this.
//!
//! Why a ring, where two buffers would do: to write a line of cache that another core has read takes 7 ns, for its copy
//! has to be taken away, one line after the other; if both cores have meanwhile driven it out of their second-level
//! caches, 1.5 ns; to read what another core has just written, 1 ns (measured on Zen 4). So memory is used again as late
//! as the shared cache allows.
//!
//! Waiting: awake for a moment, then asleep in short naps, between which the others' lives are looked at. Who sleeps does
//! so until the step is complete: the first to find it so wakes all at once, and nobody is woken for less. Each
//! member publishes with a step on which processor it did so. A waiting member spins while those who are missing were
//! last seen on other processors; if one was seen on its own, it gives way, for it is itself what the other waits for.
//! This serves more ranks than processors, and ranks that other work has driven together, with one rule; nobody has to
//! be told how many processors there are. Beside foreign work giving way is dear (Linux hands over a whole slice, and
//! since 6.18 takes a full one off the account of who yields; measured: 0.8 ms a call, where sleeping costs 6 µs). So
//! a member keeps account of it ([`Manners`]) and sleeps at once while giving way does not pay.
//!
//! Numbers of steps wrap around after 2^32. They are only ever compared for being equal, with one that is at most two
//! older, and their parity goes on.

use super::super::sys;
use super::super::types::{Error, Header, Result, Status, agree};
use super::segment::{Failure, JOINED, LEFT, PAGE, Segment};
use crate::runtime::{env, trace};
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most bytes of one claim to staging memory, and most claims of a step.
pub const CHUNK: usize = 256 << 10;
const CLAIMS: usize = 3;
/// Claims up to so many bytes use the same memory every other step: to fetch so few lines from the shared cache would take
/// longer than to take them away from others (1 KiB, 2 ranks: 0.33 µs against 0.47).
const SHORT: usize = 4 << 10;
/// Memory for all other claims: what goes round once drives it out of a second-level cache of a mebibyte or two.
const RING: usize = 2 << 20;
const _: () = assert!(RING >= 2 * CLAIMS * CHUNK + CHUNK);
/// Staging memory of a member.
const STAGING: usize = 2 * CLAIMS * SHORT + RING;
/// Claims begin at multiples of this.
const UNIT: usize = 64;
const _: () = assert!(STAGING / UNIT <= 1 << 16);

/// Bytes that travel in the control line itself.
pub const INLINE: usize = 128 - 4 - 2 - 2 - Header::BYTES - 2;

/// What a member publishes in a step. Two lines of cache: the pair that x86 prefetches together.
#[repr(C, align(128))]
struct Line {
    step: AtomicU32,
    /// The processor on which the step was published. A hint: it may be out of date when it is read.
    processor: AtomicU16,
    /// Where the step's input is in the ring, in units, if there is any.
    input: u16,
    header: Header,
    data: [u8; INLINE],
    /// The same of its output. The second of the two lines of cache: few bytes have none.
    output: u16,
}
const _: () = assert!(size_of::<Line>() == 128);

/// What members sleep on: it changes when it is rung.
#[repr(C, align(128))]
struct Bell {
    rung: AtomicU32,
    sleepers: AtomicU32,
}

/// The bells of a lane.
#[repr(C)]
struct Bells {
    /// Rung when all have published a step: says which.
    complete: Bell,
    /// Rung when a member of a negotiation has news.
    news: Bell,
}

/// A member's line of each parity.
type Control = [Line; 2];

/// How long a nap lasts: the bound within which a dead rank is noticed.
const NAP: Duration = Duration::from_millis(200);
/// Who is on its way out of join may be seen in it for so long, on a busy machine.
const JOIN_ENDS: Duration = Duration::from_secs(5);
/// Turns of the spin loop before the clock is looked at.
const TURNS: u32 = 64;
const SPIN: Duration = Duration::from_micros(50);
/// The same for threads that run beside a computation: about as long as it takes to sleep.
const SPIN_NAMED: Duration = Duration::from_micros(10);
/// Times a member gives way before it sleeps.
const WAYS: u32 = 100;

/// Whether to give way or to sleep, for a member that keeps others from running: what costs less, by experience.
///
/// Giving way to another member is cheaper than sleeping by `SLEEP`; giving way to foreign work costs a slice of time. The
/// one is earned, the other spent; who is in debt sleeps for as many waits as the debt is worth, and for longer each time
/// until giving way has paid for long enough.
#[derive(Default)]
struct Manners {
    earned: Duration,
    /// Waits for which we still sleep at once.
    shy: u32,
    /// How often in a row there was debt.
    times: u32,
    /// Times that were not looked at, one after the other.
    untimed: u32,
}

impl Manners {
    const SLEEP: Duration = Duration::from_micros(8);
    /// A member that was let through publishes sooner than this.
    const DEAR: Duration = Duration::from_micros(200);
    const MOST: Duration = Duration::from_millis(8);

    /// Whether to give way in this wait.
    fn polite(&mut self) -> bool {
        self.shy = self.shy.saturating_sub(1);
        self.shy == 0
    }
    /// Gives way. While that has paid for long, it is enough to look at the clock now and then.
    fn give_way(&mut self) {
        self.untimed += 1;
        if self.earned == Manners::MOST && self.untimed < 8 {
            return sys::give_way();
        }
        self.untimed = 0;
        let start = Instant::now();
        sys::give_way();
        self.took(start.elapsed());
    }
    /// Giving way once took so long.
    fn took(&mut self, time: Duration) {
        if time < Manners::DEAR {
            self.earned += Manners::SLEEP;
            if self.earned >= Manners::MOST {
                self.earned = Manners::MOST;
                self.times = 0;
            }
        } else if self.earned >= time {
            self.earned -= time;
        } else {
            let debt = time - self.earned;
            let waits = (debt.as_micros() / Manners::SLEEP.as_micros()) << self.times;
            self.shy = u32::try_from(waits).unwrap_or(u32::MAX).min(1 << 14);
            self.times = (self.times + 1).min(5);
            self.earned = Duration::ZERO;
        }
    }
}

impl Bell {
    /// Called after what is waited for is there to be seen: who goes to sleep counts itself, then looks. The fence keeps
    /// the two in this order here too.
    fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            self.rung.fetch_add(1, Ordering::SeqCst);
            sys::futex_wake(&self.rung);
        }
    }
    /// The same, once for all who find the step complete. (Should the bell have last been rung for a step of the same
    /// number, 2^32 steps ago, the sleepers' naps end by themselves.)
    #[inline]
    fn ring_for(&self, step: u32) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) != 0 && self.rung.swap(step, Ordering::SeqCst) != step {
            sys::futex_wake(&self.rung);
        }
    }
    /// Wakes all who sleep for another reason than the one that the bell is for. What it says then is the number of no step
    /// that anybody is near to, so that the next [`Bell::ring_for`] is not taken for one that was; and another one each time,
    /// so that one who is about to sleep sees that it was rung, however often.
    fn rouse(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            self.rung.fetch_add(1 << 24, Ordering::SeqCst);
            sys::futex_wake(&self.rung);
        }
    }
    /// Sleeps until the bell is rung or the nap is over, unless there is reason not to. The order matters: what the bell
    /// says is noted, the sleeper counts itself, and only then looks for a reason; who rings makes the reason first, then
    /// looks for sleepers. (`model.rs` finds what happens otherwise.)
    fn sleep(&self, nap: Duration, awake: impl FnOnce() -> bool) {
        let heard = self.rung.load(Ordering::SeqCst);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if !awake() {
            sys::futex_wait(&self.rung, heard, nap);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A clock for patience. It stands still while this process does: a job that was suspended, or a machine that slept, sees
/// much time pass at once, in which the others could not come either.
pub struct Watch {
    last: Instant,
    passed: Duration,
}

impl Watch {
    /// The most that counts between two looks: a few naps.
    const MOST: Duration = Duration::from_secs(1);

    pub fn start() -> Watch {
        Watch { last: Instant::now(), passed: Duration::ZERO }
    }
    /// The time that has passed. To be looked at every second or more often.
    pub fn look(&mut self) -> Duration {
        let before = core::mem::replace(&mut self.last, Instant::now());
        self.passed += (self.last - before).min(Watch::MOST);
        self.passed
    }
}

/// Wakes the members of a lane.
pub struct Ringer {
    bells: *const Bells,
    _segment: Arc<Segment>,
}

// SAFETY: the bells are atomics in memory that the segment keeps mapped.
unsafe impl Send for Ringer {}
// SAFETY: as above.
unsafe impl Sync for Ringer {}

impl Ringer {
    fn bells(&self) -> &Bells {
        // SAFETY: as above.
        unsafe { &*self.bells }
    }
    /// There is news: for those who doze.
    pub fn ring(&self) {
        self.bells().news.ring();
    }
    /// There is reason to leave, which was made known before this: also for those who wait for a step.
    pub fn rouse(&self) {
        self.ring();
        self.bells().complete.rouse();
    }
}

/// What of its staging memory a member has claimed.
#[derive(Default)]
struct Claims {
    /// Where in the ring the next claim begins.
    at: usize,
    /// Bytes that were claimed in this step, short ones and others.
    short: usize,
    long: usize,
}

impl Claims {
    /// Room for so many bytes in this step. It is not given away again in this step or the next: of short claims each
    /// parity has its own; others, of two steps, and what is left at the end of the ring, are less than the ring.
    fn take(&mut self, bytes: usize, step: u32) -> usize {
        let bytes = bytes.next_multiple_of(UNIT);
        if bytes <= SHORT {
            self.short += bytes;
            debug_assert!(self.short <= CLAIMS * SHORT, "{} short bytes in this step", self.short);
            return (step as usize & 1) * CLAIMS * SHORT + self.short - bytes;
        }
        self.long += bytes;
        debug_assert!(bytes <= CHUNK && self.long <= CLAIMS * CHUNK, "{bytes} bytes, {} in this step", self.long);
        let at = if self.at + bytes <= RING { self.at } else { 0 };
        self.at = at + bytes;
        2 * CLAIMS * SHORT + at
    }
    fn next_step(&mut self) {
        (self.short, self.long) = (0, 0);
    }
}

pub struct Lane {
    segment: Arc<Segment>,
    base: *mut u8,
    /// The other lane of the same members: of two, one is for blocking and one for named operations.
    sibling: *mut u8,
    /// Global ranks of the members, and their numbers on this machine.
    pub ranks: Vec<u32>,
    locals: Vec<usize>,
    pub me: usize,
    step: u32,
    claims: Claims,
    timeout: Duration,
    warn_after: Duration,
    /// How long one sleeps without looking around.
    nap: Duration,
    /// Whether the next step, or the one that is being waited for, comes after transfers between machines.
    behind_transfers: bool,
    manners: Manners,
    /// Whether this is a lane of named operations: it goes on while members are in join, and it has a bell.
    named: bool,
    /// Set when whoever waits here is to stop: when this process leaves; in a lane of named operations, one of its own, when
    /// their thread is to end.
    pub leaving: Arc<AtomicBool>,
    /// In a lane of named operations: how many of them the application waits for. With none, whoever waits here does so only
    /// for others to hear of it, without an end.
    pub wanted: Arc<AtomicUsize>,
    /// What is being waited for, for warnings.
    pub context: String,
}

// SAFETY: as Segment; a lane is used by one thread at a time.
unsafe impl Send for Lane {}

/// Time after which a rank that does not come is given up.
pub fn timeout() -> Duration {
    Duration::from_secs(env::COMM_TIMEOUT.number().unwrap_or(300).min(env::LONGEST))
}

/// How much longer one waits for another machine than for a rank of one's own: those who wait for the rank itself, on its
/// machine, know best who it is, and tell the others in this time. Who waits for a rank that waits for another machine
/// gives it as much time again.
pub fn notice() -> Duration {
    (timeout() / 2).clamp(Duration::from_secs(1), Duration::from_secs(5))
}

/// Time after which a waiting rank says for whom it waits; zero: never.
pub fn warn_after() -> Duration {
    Duration::from_secs(env::STALL_WARNING.number().unwrap_or(60))
}

impl Lane {
    /// Bytes that a lane of so many members takes in the segment.
    pub fn bytes(members: usize) -> usize {
        Lane::controls(members) + members * STAGING
    }
    fn controls(members: usize) -> usize {
        (members * size_of::<Control>() + size_of::<Bells>()).next_multiple_of(PAGE)
    }

    /// A lane at an offset that was never used by another list of ranks, or whose memory was zeroed since; its sibling's
    /// offset.
    pub fn new(
        segment: &Arc<Segment>,
        leaving: &Arc<AtomicBool>,
        (offset, sibling): (usize, usize),
        ranks: Vec<u32>,
        locals: Vec<usize>,
        me: usize,
    ) -> Lane {
        Lane {
            base: segment.lane(offset),
            sibling: segment.lane(sibling),
            segment: segment.clone(),
            ranks,
            locals,
            me,
            step: 0,
            claims: Claims::default(),
            timeout: timeout(),
            warn_after: warn_after(),
            nap: NAP,
            behind_transfers: false,
            manners: Manners::default(),
            named: false,
            leaving: leaving.clone(),
            wanted: Arc::new(AtomicUsize::new(1)),
            context: String::new(),
        }
    }
    /// The same lane, for named operations.
    pub fn named(mut self) -> Lane {
        self.named = true;
        self.leaving = Arc::default();
        self
    }
    pub fn size(&self) -> usize {
        self.ranks.len()
    }
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    fn control(&self, member: usize) -> *mut Control {
        debug_assert!(member < self.size());
        self.base.cast::<Control>().wrapping_add(member)
    }
    fn line(&self, member: usize, step: u32) -> *mut Line {
        // SAFETY: a projection inside the lane's memory.
        unsafe { &raw mut (*self.control(member))[step as usize & 1] }
    }
    fn word(&self, member: usize, step: u32) -> &AtomicU32 {
        // SAFETY: an atomic inside the lane's memory, which the segment keeps mapped.
        unsafe { &(*self.line(member, step)).step }
    }
    fn processor(&self, member: usize, step: u32) -> &AtomicU16 {
        // SAFETY: as above.
        unsafe { &(*self.line(member, step)).processor }
    }
    /// A place in the staging memory of a member.
    fn staging(&self, member: usize, unit: u16) -> *mut u8 {
        self.base.wrapping_add(Lane::controls(self.size()) + member * STAGING + usize::from(unit) * UNIT)
    }
    /// The step that is being worked on.
    pub fn now(&self) -> u32 {
        self.step.wrapping_add(1)
    }
    /// Staging memory for our input of this step, at most [`CHUNK`] bytes; the last claim of a step is what others see.
    #[inline]
    pub fn claim_input(&mut self, bytes: usize) -> *mut u8 {
        let unit = (self.claims.take(bytes, self.now()) / UNIT) as u16;
        // SAFETY: our own line of this step; nobody reads it before it is published.
        unsafe { (*self.line(self.me, self.now())).input = unit };
        self.staging(self.me, unit)
    }
    /// The same for our output.
    #[inline]
    pub fn claim_output(&mut self, bytes: usize) -> *mut u8 {
        let unit = (self.claims.take(bytes, self.now()) / UNIT) as u16;
        // SAFETY: as above.
        unsafe { (*self.line(self.me, self.now())).output = unit };
        self.staging(self.me, unit)
    }
    /// The input of a member, which published it with a step.
    #[inline]
    pub fn input(&self, member: usize, step: u32) -> *mut u8 {
        // SAFETY: the member writes to the line again two steps later. Without a claim it is some place of its ring.
        self.staging(member, unsafe { (*self.line(member, step)).input })
    }
    /// The same of its output.
    #[inline]
    pub fn output(&self, member: usize, step: u32) -> *mut u8 {
        // SAFETY: as above.
        self.staging(member, unsafe { (*self.line(member, step)).output })
    }
    /// The header that a member published with a step.
    pub fn header(&self, member: usize, step: u32) -> Header {
        // SAFETY: the member has published the step, and writes to the line again two steps later.
        unsafe { (*self.line(member, step)).header }
    }
    /// The bytes of the control line, INLINE of them.
    pub fn inline(&self, member: usize, step: u32) -> *mut u8 {
        // SAFETY: a projection.
        unsafe { (&raw mut (*self.line(member, step)).data).cast() }
    }

    /// Ends this step with a header: publishes it and waits for the others.
    #[inline]
    pub fn sync_with(&mut self, header: &Header) -> Result {
        // SAFETY: our own line of this step; nobody reads it before it is published.
        unsafe { (*self.line(self.me, self.now())).header = *header };
        self.sync()
    }

    /// Ends this step: publishes it and waits for the others. What they wrote in it may be read from now on.
    #[inline]
    pub fn sync(&mut self) -> Result {
        let step = self.now();
        self.processor(self.me, step).store(sys::processor() as u16, Ordering::Relaxed);
        // Release is enough: our line and those of the others come at the same time, not one after the other. What keeps
        // sleepers from being missed is the fence of the bell, when the step is complete.
        self.word(self.me, step).store(step, Ordering::Release);
        if self.named {
            self.bells().news.ring();
        }
        if let Some(member) = self.missing(0, step) {
            self.wait(member, step)?;
        }
        self.bells().complete.ring_for(step);
        self.step = step;
        self.claims.next_step();
        self.behind_transfers = false;
        Ok(())
    }

    /// The same for a step before which some members wait for other machines: they are given more time, in which they find
    /// out, or are told, who is missing.
    pub fn sync_behind_transfers(&mut self) -> Result {
        self.end_with_transfers();
        self.sync()
    }
    /// Says that this operation ends with transfers between machines: where others still wait for theirs, the next step,
    /// of whatever operation, comes behind them.
    pub fn end_with_transfers(&mut self) {
        self.behind_transfers = true;
    }

    /// The first member, from `first` on, that has not published the step.
    #[inline]
    fn missing(&self, first: usize, step: u32) -> Option<usize> {
        let mut member = first;
        while member < self.size() {
            if self.word(member, step).load(Ordering::Acquire) != step {
                return Some(member);
            }
            member += 1;
        }
        None
    }

    fn bells(&self) -> &Bells {
        // SAFETY: behind the controls; atomics.
        unsafe { &*self.control(0).wrapping_add(self.size()).cast::<Bells>() }
    }
    /// A way to wake this member from [`Lane::doze`], for another thread.
    pub fn ringer(&self) -> Ringer {
        Ringer { bells: self.bells(), _segment: self.segment.clone() }
    }
    /// Sleeps until there is news or the nap is over, unless `news` or some member has gone on to the next step.
    pub fn doze(&self, nap: Duration, news: impl FnOnce() -> bool) {
        self.bells().news.sleep(nap, || self.is_awaited() || news());
    }
    /// Whether another member waits in the next step already.
    pub fn is_awaited(&self) -> bool {
        let step = self.now();
        (0..self.size()).any(|m| m != self.me && self.word(m, step).load(Ordering::SeqCst) == step)
    }
    /// Why nothing works, if so: looked at before an operation begins.
    pub fn healthy(&self) -> Result {
        match self.segment.failure() {
            None => Ok(()),
            Some(known) => Err(self.segment.error(known)),
        }
    }

    /// Whether all members are still there: for one that waits for none in particular.
    pub fn all_there(&self) -> Result {
        for member in (0..self.size()).filter(|&m| m != self.me) {
            if let Some(failure) = self.gone(member) {
                return Err(self.segment.fail(failure, self.ranks[member]));
            }
        }
        Ok(())
    }
    fn gone(&self, member: usize) -> Option<Failure> {
        let local = self.locals[member];
        if self.segment.state(local) == LEFT {
            Some(Failure::Left)
        } else if !self.segment.is_alive(local) {
            Some(Failure::Ended)
        } else {
            None
        }
    }

    /// The headers of all members, which published them with the last step, if they agree.
    pub fn agreed(&self) -> Result<Vec<Header>> {
        let headers: Vec<Header> = (0..self.size()).map(|m| self.header(m, self.step)).collect();
        agree(&headers, &self.ranks).map(|()| headers)
    }

    /// Whether all members published this very header with the last step.
    #[inline]
    pub fn unanimous(&self, header: &Header) -> bool {
        (0..self.size()).all(|m| self.header(m, self.step) == *header)
    }

    /// Waits until all have published the step; `first` is the first who has not.
    #[inline(never)]
    fn wait(&mut self, first: usize, step: u32) -> Result {
        let (mut member, mut ways) = (first, 0);
        // Time that was spent spinning, but for the first turns; when it was last looked at.
        let (mut spun, mut last) = (Duration::ZERO, None);
        let spin = if self.named { SPIN_NAMED } else { SPIN };
        while spun < spin && ways < WAYS {
            let in_the_way = self.is_in_the_way(step);
            if in_the_way {
                if !self.manners.polite() {
                    break;
                }
                self.manners.give_way();
                ways += 1;
                last = None;
            } else {
                let mut turn = 0;
                while turn < TURNS && self.word(member, step).load(Ordering::Acquire) != step {
                    core::hint::spin_loop();
                    turn += 1;
                }
            }
            match self.missing(member, step) {
                None => return Ok(()),
                Some(next) => member = next,
            }
            if !in_the_way {
                let now = Instant::now();
                spun += last.map_or(Duration::ZERO, |last| now - last);
                last = Some(now);
            }
        }
        self.sleep(step)
    }

    /// Whether a member that has not published the step was last seen on the processor that we run on.
    fn is_in_the_way(&self, step: u32) -> bool {
        let (here, before) = (sys::processor() as u16, step.wrapping_sub(1));
        (0..self.size()).any(|m| {
            self.word(m, step).load(Ordering::Relaxed) != step
                && self.processor(m, before).load(Ordering::Relaxed) == here
        })
    }

    /// Waits asleep until the step is complete.
    #[cold]
    fn sleep(&self, step: u32) -> Result {
        let mut watch = Watch::start();
        let mut warned = self.warn_after.is_zero();
        while let Some(first) = self.missing(0, step) {
            self.bells()
                .complete
                .sleep(self.nap, || self.missing(first, step).is_none() || self.leaving.load(Ordering::SeqCst));
            if self.is_patient() {
                // Who waits for nothing has no time to lose, and nobody to miss.
                watch = Watch::start();
                self.may_stay()?;
                self.healthy()?;
                continue;
            }
            let waited = watch.look();
            let missing: Vec<usize> =
                (first..self.size()).filter(|&m| self.word(m, step).load(Ordering::SeqCst) != step).collect();
            // One that has ended is named, though another may be missing that is only slow.
            for &member in &missing {
                self.look_at(member, step, waited)?;
            }
            if waited >= self.warn_after && !warned && !missing.is_empty() {
                warned = true;
                self.warn(&missing, waited);
            }
        }
        Ok(())
    }

    fn warn(&self, missing: &[usize], waited: Duration) {
        let list: Vec<String> = missing.iter().map(|&m| self.ranks[m].to_string()).collect();
        let (me, seconds, what) = (self.ranks[self.me], waited.as_secs(), &self.context);
        let (s, list) = (if list.len() == 1 { "" } else { "s" }, list.join(", "));
        let crossed = match missing.iter().find(|&&m| self.crosses(m)) {
            Some(&m) if self.named => format!("; rank {} waits in a blocking call for this one", self.ranks[m]),
            Some(&m) => format!("; rank {} has made asynchronous calls that this one has not", self.ranks[m]),
            None => String::new(),
        };
        let behind = match missing.len() {
            _ if !self.behind_transfers => "",
            1 => "; that one may be waiting for another machine",
            _ => "; these may be waiting for another machine",
        };
        trace::say(format_args!("rank {me} has waited {seconds} s for rank{s} {list}{what}{crossed}{behind}"));
    }

    /// Whether the application waits for nothing here.
    pub fn is_patient(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) == 0
    }

    /// The member waits for us in the sibling of this lane: it has published a step there that we have not. If that
    /// lasts, one calls an operation blocking and the other asynchronously; or the member is only late, and has made an
    /// asynchronous call that was refused, which it wants us to hear of.
    fn crosses(&self, member: usize) -> bool {
        let word = |member: usize, step: u32| {
            let line = self.sibling.cast::<Control>().wrapping_add(member).cast::<Line>();
            // SAFETY: an atomic of the sibling, which is as large as this lane and lies in the same segment.
            unsafe { &(*line.wrapping_add(step as usize & 1)).step }.load(Ordering::SeqCst)
        };
        let (even, odd) = (word(self.me, 0), word(self.me, 1));
        let last = if odd.wrapping_sub(even) == 1 { odd } else { even };
        let next = last.wrapping_add(1);
        word(member, next) == next
    }

    /// The failure of a member that did not come in time, and the rank it is about.
    pub fn late(&self, member: usize) -> (Failure, u32) {
        let (me, other) = (self.ranks[self.me], self.ranks[member]);
        match (self.crosses(member), self.named) {
            (false, _) => (Failure::Late(self.timeout.as_secs() as u32), other),
            (true, false) => (Failure::Crossed(other), me),
            (true, true) => (Failure::Crossed(me), other),
        }
    }

    /// The ranks that have not come to the step which we have published; none if we are between two steps.
    pub fn absent(&self) -> Vec<u32> {
        let step = self.now();
        let has_come = |m: usize| self.word(m, step).load(Ordering::SeqCst) == step;
        if !has_come(self.me) {
            return Vec::new();
        }
        (0..self.size()).filter(|&m| !has_come(m)).map(|m| self.ranks[m]).collect()
    }

    /// Whether this rank is not about to leave. (Why a thread of named operations is to end, its queue knows better.)
    fn may_stay(&self) -> Result {
        if self.leaving.load(Ordering::Relaxed) {
            return Err(Error::new(Status::State, "corten_shutdown was called"));
        }
        Ok(())
    }

    /// Whether there is still reason to wait.
    fn look_at(&self, member: usize, step: u32, waited: Duration) -> Result {
        let (local, rank) = (self.locals[member], self.ranks[member]);
        self.may_stay()?;
        let (failure, rank) = if let Some(known) = self.segment.failure() {
            known
        } else if let Some(failure) = self.gone(member) {
            (failure, rank)
        } else if self.segment.state(local) == JOINED && !self.named && waited >= JOIN_ENDS {
            (Failure::Joined, rank)
        } else if waited >= self.timeout + if self.behind_transfers { 2 * notice() } else { Duration::ZERO } {
            self.late(member)
        } else {
            return Ok(());
        };
        // What it published before it went counts.
        if self.word(member, step).load(Ordering::SeqCst) == step {
            return Ok(());
        }
        Err(self.segment.fail(failure, rank))
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::Plan;
    use super::*;

    /// As many claims in each step as there may be, of all sizes: none lies across one of its step or of the step before.
    #[test]
    fn claims_live_for_two_steps() {
        let mut claims = Claims::default();
        let (mut before, mut seed) = (Vec::new(), 1u32);
        let mut passed = 0;
        for step in u32::MAX - 5_000..=u32::MAX {
            let mut now: Vec<(usize, usize)> = Vec::new();
            for _ in 0..CLAIMS {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // All sizes up to the largest, half of them short, now and then the largest itself.
                let most = if seed >> 31 == 0 { SHORT } else { CHUNK };
                let bytes = if seed >> 28 & 7 == 0 { most } else { (seed >> 4) as usize % most };
                let at = claims.take(bytes, step);
                assert!(at % UNIT == 0 && at + bytes <= STAGING, "{bytes} bytes at {at}");
                for &(other, its) in before.iter().chain(&now) {
                    assert!(at + bytes <= other || other + its <= at, "{bytes} at {at}, {its} at {other}");
                }
                now.push((at, bytes));
                passed += usize::from(bytes > SHORT) * bytes;
            }
            claims.next_step();
            before = now;
        }
        assert!(passed > 100 * RING);
    }

    const CHEAP: Duration = Duration::from_micros(1);
    const SLICE: Duration = Duration::from_millis(2);

    #[test]
    fn giving_way_that_pays_goes_on() {
        let mut manners = Manners::default();
        for i in 0..10_000 {
            assert!(manners.polite(), "wait {i}");
            // Foreign work now and then: less than what was earned meanwhile.
            manners.took(if i % 500 == 499 { SLICE } else { CHEAP });
        }
    }

    #[test]
    fn giving_way_to_foreign_work_ends() {
        let mut manners = Manners::default();
        let mut given = 0;
        for _ in 0..100_000 {
            if manners.polite() {
                given += 1;
                manners.took(SLICE);
            }
        }
        assert!((2..100).contains(&given), "{given} times");
        // When the foreign work is gone, the next tries pay again.
        let mut last = 0;
        for i in 0..100_000 {
            if manners.polite() {
                manners.took(CHEAP);
            } else {
                last = i;
            }
        }
        assert!(last < 1 << 14, "shy until wait {last}");
        assert_eq!(manners.times, 0);
    }

    /// Whoever is about to sleep when the bell is rung does not, however often it is.
    #[test]
    fn to_be_roused_twice_is_to_be_roused() {
        for times in 1..5 {
            let bell = Bell { rung: AtomicU32::new(7), sleepers: AtomicU32::new(0) };
            let began = Instant::now();
            bell.sleep(Duration::from_secs(100), || {
                (0..times).for_each(|_| bell.rouse());
                false
            });
            assert!(began.elapsed() < Duration::from_secs(50), "slept on after {times}");
        }
    }

    /// Who is told to leave while it waits for a step does so without a nap coming to its end; and those who stay are still
    /// woken by the step.
    #[test]
    fn who_is_told_to_leave_does_not_sleep_on() {
        let plan = Plan::new(1, false, 1 << 30);
        let memory = sys::shared_memory(plan.total()).unwrap();
        let segment = Arc::new(Segment::join(memory, plan, 0, 0).unwrap());
        let lane = |me: usize| {
            let leaving = Arc::new(AtomicBool::new(false));
            let offsets = (0, Lane::bytes(3));
            let mut lane = Lane::new(&segment, &leaving, offsets, vec![0, 1, 2], vec![0, 0, 0], me).named();
            // Nobody wakes by itself before the test is given up.
            lane.nap = Duration::from_secs(1000);
            lane
        };
        let asleep = |bell: &Bell, n: u32| {
            let began = Instant::now();
            while bell.sleepers.load(Ordering::SeqCst) != n {
                assert!(began.elapsed() < Duration::from_secs(100), "not {n} asleep");
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let (mut first, mut second, mut third) = (lane(0), lane(1), lane(2));
        let (ringer, leaving) = (first.ringer(), first.leaving.clone());
        let bell = &ringer.bells().complete;
        std::thread::scope(|scope| {
            let leaver = scope.spawn(move || first.sync());
            let stayer = scope.spawn(move || second.sync());
            asleep(bell, 2);
            leaving.store(true, Ordering::SeqCst);
            ringer.rouse();
            // Until it has left, it may be seen asleep; the other sleeps again.
            let began = Instant::now();
            while !leaver.is_finished() {
                assert!(began.elapsed() < Duration::from_secs(100), "still asleep");
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(leaver.join().unwrap().is_err());
            asleep(bell, 1);
            third.sync().unwrap();
            let began = Instant::now();
            while !stayer.is_finished() {
                assert!(began.elapsed() < Duration::from_secs(100), "the step woke nobody");
                std::thread::sleep(Duration::from_millis(1));
            }
            stayer.join().unwrap().unwrap();
        });
    }

    /// Two members in two threads, across the last number of a step; both spin, and in turn keep the other waiting until
    /// it sleeps.
    #[test]
    fn numbers_of_steps_wrap_around() {
        let plan = Plan::new(1, false, 1 << 30);
        let memory = sys::shared_memory(plan.total()).unwrap();
        let segment = Arc::new(Segment::join(memory, plan, 0, 0).unwrap());
        let leaving = Arc::new(AtomicBool::new(false));
        let run = |me: usize| {
            let mut lane = Lane::new(&segment, &leaving, (0, Lane::bytes(2)), vec![0, 1], vec![0, 1], me);
            lane.step = u32::MAX - 100;
            for i in 0..200u32 {
                if i % 40 == 20 * me as u32 {
                    std::thread::sleep(Duration::from_millis(2));
                }
                let step = lane.now();
                // SAFETY: our own line of this step, and that of the other when it has published it.
                unsafe {
                    lane.inline(me, step).cast::<u32>().write_unaligned(i);
                    lane.sync().unwrap();
                    assert_eq!(lane.inline(1 - me, step).cast::<u32>().read_unaligned(), i);
                }
            }
            assert_eq!(lane.step, 99);
        };
        std::thread::scope(|scope| {
            scope.spawn(|| run(1));
            run(0);
        });
    }
}
