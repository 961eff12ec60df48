//! The collectives over several machines: shared memory inside each, MPI between them.
//!
//! The first rank of each machine, its leader, speaks for it where few bytes are concerned: headers and negotiation. An
//! allreduce uses all links: within the machine every rank folds a slice, slices of the same number on all machines are
//! folded across (each gets a part of the slice from all, folds it in the order of the machines, and gives it to all: the
//! bandwidth-optimal reduce-scatter and allgather), and are then read by the whole machine. Much data goes in chunks, and
//! a step works on five of them at once: one is brought in, one is folded on this machine, one has come from the others
//! and is folded across, the results of one have come, and those of one are taken out. So both transfers of a chunk run
//! while the machine works on others.
//!
//! Elements are folded in the order of the ranks of a machine and then in the order of the machines, at every size: the
//! same bits on all ranks, from run to run, with and without fusion. 16-bit floats are rounded once a machine, for the
//! wire, and once at the end.

use super::collectives::{self, Piece, copy};
use super::transport::mpi::{Mpi, Patience, Requests};
use super::transport::shm::{self, CHUNK, Lane};
use super::types::{Element, Error, Fold, Header, Kind, Reduction, Result, Status, agree};
use crate::kernels;
use core::mem::ManuallyDrop;
use std::sync::Arc;

/// What a group needs to reach its members on other machines.
pub struct Cross {
    mpi: Arc<Mpi>,
    /// Messages of different groups do not mix.
    tag: u32,
    /// The turn of `corten_init`.
    turn: u32,
    /// Members (their numbers in the group) by machine, in the order of each machine's lane.
    nodes: Vec<Vec<usize>>,
    /// Our machine.
    node: usize,
    /// Global ranks of the members.
    ranks: Vec<u32>,
}

/// A slice on its way between the machines.
#[derive(Default)]
struct Flight {
    data: Vec<u8>,
    /// Our part of it, from each machine.
    came: Vec<u8>,
    requests: Requests,
}

/// The slices that are under way at once. If the operation fails, MPI may still write to them: then they are never freed.
#[derive(Default)]
struct Flights {
    list: ManuallyDrop<[Flight; 3]>,
}

impl Flights {
    /// The flight of a chunk, which takes three stages.
    fn of(&mut self, chunk: usize) -> &mut Flight {
        &mut self.list[chunk % 3]
    }
    fn landed(self) {
        drop(ManuallyDrop::into_inner(self.list));
    }
    /// All transfers that are under way.
    fn requests(&mut self) -> Requests {
        let mut all = Requests::default();
        for flight in self.list.iter_mut() {
            all.append(core::mem::take(&mut flight.requests));
        }
        all
    }
}

/// Purposes of messages: two of the same purpose between the same ranks come in order. (3 is MPI's own, for failures.)
const HEADERS: u32 = 0;
const DATA: u32 = 1;
const RESULT: u32 = 2;
const CARDS: u32 = 4;

/// The tag of a purpose of a group, of those that this turn of `corten_init` has. MPI promises tags up to 32767.
fn tag_of(turn: u32, group: u32, purpose: u32) -> u32 {
    (turn % 16 * 256 + group % 256) << 3 | purpose
}

/// The tag of the cards by which the ranks introduce themselves.
pub fn tag_of_cards(turn: u32) -> u32 {
    tag_of(turn, 0, CARDS)
}

impl Cross {
    /// The way between the machines for group number `group` of this turn of `corten_init`.
    pub fn new(
        mpi: Arc<Mpi>,
        (turn, group): (u32, u32),
        nodes: Vec<Vec<usize>>,
        node: usize,
        ranks: Vec<u32>,
    ) -> Cross {
        Cross { mpi, tag: tag_of(turn, group, 0), turn, nodes, node, ranks }
    }

    fn size(&self) -> usize {
        self.ranks.len()
    }
    fn patience<'a>(&'a self, lane: &'a Lane) -> Patience<'a> {
        let crowded = lane.segment().plan.crowded != 0;
        Patience {
            segment: Some(lane.segment()),
            wanted: Some(&lane.wanted),
            leaving: &lane.leaving,
            timeout: shm::timeout() + shm::notice(),
            warn_after: shm::warn_after(),
            turn: self.turn,
            crowded,
        }
    }
    /// The global rank of number `local` on a machine.
    fn rank_at(&self, node: usize, local: usize) -> u32 {
        self.ranks[self.nodes[node][local]]
    }

    /// Whether all members mean the same: the headers of all, in the order of the group.
    pub fn agree(&self, lane: &mut Lane, header: &Header) -> Result<Vec<Header>> {
        let given = self.gather(lane, header, &[])?;
        let headers: Vec<Header> = given.iter().map(|(h, _)| *h).collect();
        agree(&headers, &self.ranks).map(|()| headers)
    }

    /// Most bytes that a member can give to [`Cross::gather`]: all of them fit a buffer.
    pub fn most(&self) -> usize {
        CHUNK / self.size() - Header::BYTES - 16
    }

    /// Header and a few bytes of everybody to all. Also a barrier.
    pub fn gather(&self, lane: &mut Lane, header: &Header, bytes: &[u8]) -> Result<Vec<(Header, Vec<u8>)>> {
        let step = lane.now();
        let n = bytes.len().min(self.most());
        // SAFETY: as many bytes as are claimed.
        unsafe {
            let at = lane.claim_input(8 + n);
            at.cast::<u64>().write(n as u64);
            copy(bytes.as_ptr(), at.add(8), n);
        }
        lane.sync_with(header)?;
        if lane.me == 0 {
            let mut mine = Vec::new();
            for m in 0..lane.size() {
                mine.extend_from_slice(lane.header(m, step).as_bytes());
                // SAFETY: published with the step.
                unsafe {
                    let at = lane.input(m, step);
                    let n = (at.cast::<u64>().read() as usize).min(CHUNK - 8);
                    mine.extend_from_slice(&(n as u64).to_ne_bytes());
                    mine.extend_from_slice(core::slice::from_raw_parts(at.add(8), n));
                }
            }
            let all = self.leaders_exchange(lane, &mine)?;
            let whole: usize = all.iter().map(Vec::len).sum();
            if whole > CHUNK {
                let text = format!("{} ranks are more than one exchange can take", self.size());
                return Err(Error::new(Status::System, text));
            }
            let mut at = lane.claim_output(whole);
            for part in &all {
                // SAFETY: as many bytes as were claimed.
                unsafe { copy(part.as_ptr(), at, part.len()) };
                at = at.wrapping_add(part.len());
            }
        }
        lane.sync_behind_transfers()?;
        let table = lane.output(0, lane.now().wrapping_sub(1));
        let mut given: Vec<(Header, Vec<u8>)> = vec![(*header, Vec::new()); self.size()];
        let mut at = 0;
        for member in self.nodes.iter().flatten() {
            // SAFETY: the leader published as many entries as there are members.
            unsafe {
                let head = core::slice::from_raw_parts(table.add(at), Header::BYTES);
                let n = table.add(at + Header::BYTES).cast::<u64>().read_unaligned() as usize;
                let n = n.min(CHUNK - at - Header::BYTES - 8);
                let data = core::slice::from_raw_parts(table.add(at + Header::BYTES + 8), n);
                given[*member] = (Header::from_bytes(head), data.to_vec());
                at += Header::BYTES + 8 + n;
            }
        }
        Ok(given)
    }

    /// The bytes of each leader to all leaders. What MPI reads and writes is freed only where it has ended.
    fn leaders_exchange(&self, lane: &Lane, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
        let nodes = self.nodes.len();
        let mut lengths = ManuallyDrop::new(vec![0u64; nodes]);
        let own = ManuallyDrop::new(Box::new(mine.len() as u64));
        let others: Vec<usize> = (0..nodes).filter(|n| *n != self.node).collect();
        let mut requests = Requests::default();
        for &n in &others {
            let rank = self.rank_at(n, 0);
            // SAFETY: both live until the wait below, and for ever if it fails.
            unsafe {
                let at = (&raw mut lengths[n]).cast();
                self.mpi.receive(rank, self.tag | HEADERS, at, 8, &mut requests);
                self.mpi.send(rank, self.tag | HEADERS, (&raw const **own).cast(), 8, &mut requests);
            }
        }
        self.mpi.wait(requests, &self.patience(lane))?;
        let (lengths, _) = (ManuallyDrop::into_inner(lengths), ManuallyDrop::into_inner(own));
        let mut all: ManuallyDrop<Vec<Vec<u8>>> =
            ManuallyDrop::new(lengths.iter().map(|n| vec![0; (*n as usize).min(CHUNK)]).collect());
        all[self.node] = mine.to_vec();
        let mut requests = Requests::default();
        for &n in &others {
            let rank = self.rank_at(n, 0);
            let (to, len) = (all[n].as_mut_ptr(), all[n].len());
            // SAFETY: as above.
            unsafe {
                self.mpi.receive(rank, self.tag | HEADERS, to, len, &mut requests);
                self.mpi.send(rank, self.tag | HEADERS, all[self.node].as_ptr(), mine.len(), &mut requests);
            }
        }
        self.mpi.wait(requests, &self.patience(lane))?;
        Ok(ManuallyDrop::into_inner(all))
    }

    /// # Safety
    /// As [`collectives::allreduce`].
    pub unsafe fn allreduce(&self, lane: &mut Lane, r: &Reduction, list: &[Piece], aux: u64) -> Result {
        let total: usize = list.iter().map(|piece| piece.count).sum();
        self.agree(lane, &Header::reduction(Kind::Allreduce, r, total, aux))?;
        let size = self.size();
        // Averages and scaled values of integers need more bits than they have: each is folded as it is, in one go.
        let exact = r.element.is_integer() && (r.pre != 1.0 || r.post != 1.0 || r.fold(size).parts != 1);
        // SAFETY: passed on to the caller.
        unsafe {
            if exact { self.allreduce_all_to_all(lane, r, list) } else { self.allreduce_by_slices(lane, r, list) }
        }
    }

    unsafe fn allreduce_by_slices(&self, lane: &mut Lane, r: &Reduction, list: &[Piece]) -> Result {
        let mut flights = Flights::default();
        // SAFETY: passed on to the caller.
        let outcome = unsafe { self.fly(lane, r, list, &mut flights) };
        match outcome {
            Ok(()) => flights.landed(),
            // Where one is waited for others may be under way.
            Err(_) => self.mpi.abandon(flights.requests(), &self.patience(lane)),
        }
        outcome
    }

    /// The steps of the above.
    unsafe fn fly(&self, lane: &mut Lane, r: &Reduction, list: &[Piece], flights: &mut Flights) -> Result {
        let pieces = collectives::Pieces::new(list);
        let carriage = collectives::Carriage { element: r.element, wire: r.wire };
        let whole = r.fold(self.size());
        let inside = Fold { post: 1.0, parts: 1, ..whole };
        let across = Fold { pre: 1.0, ..whole };
        let width = carriage.width();
        // As many slices as the smallest machine has members: each slice has an owner everywhere.
        let owners = self.nodes.iter().map(Vec::len).min().unwrap_or(1);
        let chunk = CHUNK / width / owners / 64 * 64 * owners;
        let chunks = pieces.total.div_ceil(chunk);
        // Steps from one stage of a chunk to the next; a single chunk has nobody to make room for.
        let lag = usize::from(chunks > 1);
        let bounds = |c: usize| (c * chunk, ((c + 1) * chunk).min(pieces.total));
        let is_owner = lane.me < owners;
        let slice_of = |c: usize, m: usize| {
            let (from, to) = bounds(c);
            let (a, b) = collectives::slice(to - from, width, m, owners);
            (from + a, from + b)
        };
        let due = |t: usize, stage: usize| t.checked_sub(stage).filter(|c| *c < chunks);
        let end = chunks + 1 + 2 * lag;
        for t in 0..=end {
            let before = lane.now().wrapping_sub(1);
            if let Some(c) = due(t, 0) {
                let (from, to) = bounds(c);
                let buffer = lane.claim_input((to - from) * width);
                pieces.each(from, to, r.element.bytes(), |src, _, at, n| {
                    // SAFETY: as many elements as were claimed.
                    unsafe { carriage.load(src, buffer.wrapping_add(at * width), n) };
                });
            }
            if let Some(c) = due(t, 1).filter(|_| is_owner) {
                let (a, b) = slice_of(c, lane.me);
                let skip = (a - bounds(c).0) * width;
                let sources: Vec<*const u8> =
                    (0..lane.size()).map(|m| lane.input(m, before).wrapping_add(skip).cast_const()).collect();
                let flight = flights.of(c);
                flight.data.resize((b - a) * width, 0);
                // SAFETY: published with the step before; as many elements of our own.
                unsafe { kernels::fold().fold(&inside, b - a, &sources, &[flight.data.as_mut_ptr()]) };
                self.depart(lane, flight, width);
            }
            if let Some(c) = due(t, 1 + lag).filter(|_| is_owner) {
                self.turn_round(lane, flights.of(c), &across)?;
            }
            if let Some(c) = due(t, 1 + 2 * lag).filter(|_| is_owner) {
                let flight = flights.of(c);
                self.mpi.wait(core::mem::take(&mut flight.requests), &self.patience(lane))?;
                let bytes = flight.data.len();
                // SAFETY: as many bytes as are claimed.
                unsafe { copy(flight.data.as_ptr(), lane.claim_output(bytes), bytes) };
            }
            if let Some(c) = due(t, 2 + 2 * lag) {
                for m in 0..owners {
                    let (a, b) = slice_of(c, m);
                    let result = lane.output(m, before);
                    pieces.each(a, b, r.element.bytes(), |_, dst, at, n| {
                        // SAFETY: published with the step before.
                        unsafe { carriage.unload(result.wrapping_add(at * width), dst, n, false) };
                    });
                }
            }
            if t < end {
                lane.sync_behind_transfers()?;
            }
        }
        Ok(())
    }

    /// Part k of a slice of so many elements: machine k folds it.
    fn part(&self, flight: &Flight, width: usize, k: usize) -> (usize, usize) {
        let (a, b) = collectives::slice(flight.data.len() / width, width, k, self.nodes.len());
        (a * width, b * width)
    }

    /// Sends each machine its part of a slice, and begins to receive ours from all.
    fn depart(&self, lane: &Lane, flight: &mut Flight, width: usize) {
        let nodes = self.nodes.len();
        let (a, b) = self.part(flight, width, self.node);
        flight.came.resize((b - a) * nodes, 0);
        for k in (0..nodes).filter(|k| *k != self.node) {
            let rank = self.rank_at(k, lane.me);
            let (from, to) = self.part(flight, width, k);
            // SAFETY: memory of the flight, which lives until it has landed.
            unsafe {
                let room = flight.came.as_mut_ptr().add(k * (b - a));
                let theirs = flight.data.as_ptr().add(from);
                self.mpi.receive(rank, self.tag | DATA, room, b - a, &mut flight.requests);
                self.mpi.send(rank, self.tag | DATA, theirs, to - from, &mut flight.requests);
            }
        }
    }

    /// Folds our part of a slice, in the order of the machines, and sends the result to all.
    fn turn_round(&self, lane: &Lane, flight: &mut Flight, fold: &Fold) -> Result {
        let (nodes, width) = (self.nodes.len(), fold.element.bytes());
        self.mpi.wait(core::mem::take(&mut flight.requests), &self.patience(lane))?;
        let (a, b) = self.part(flight, width, self.node);
        let mut sources: Vec<*const u8> = (0..nodes).map(|k| flight.came[k * (b - a)..].as_ptr()).collect();
        // SAFETY: our part, from all machines, to where it is; the other parts have left.
        unsafe {
            let own = flight.data.as_mut_ptr().add(a);
            sources[self.node] = own;
            kernels::fold().fold(fold, (b - a) / width, &sources, &[own]);
        }
        for k in (0..nodes).filter(|k| *k != self.node) {
            let rank = self.rank_at(k, lane.me);
            let (from, to) = self.part(flight, width, k);
            // SAFETY: as above; parts do not overlap.
            unsafe {
                let room = flight.data.as_mut_ptr().add(from);
                self.mpi.receive(rank, self.tag | RESULT, room, to - from, &mut flight.requests);
                let own = flight.data.as_ptr().add(a);
                self.mpi.send(rank, self.tag | RESULT, own, b - a, &mut flight.requests);
            }
        }
        Ok(())
    }

    /// Every rank gets a slice of everybody's elements, folds it, and gives the result to all.
    unsafe fn allreduce_all_to_all(&self, lane: &mut Lane, r: &Reduction, list: &[Piece]) -> Result {
        let pieces = collectives::Pieces::new(list);
        let (n, size, width) = (pieces.total, self.size(), r.element.bytes());
        // Freed only where MPI has ended with it.
        let mut mine = ManuallyDrop::new(vec![0u8; n * width]);
        let at = mine.as_mut_ptr();
        // SAFETY: n elements in all.
        pieces.each(0, n, width, |src, _, i, n| unsafe { copy(src, at.wrapping_add(i * width), n * width) });
        let counts: Vec<usize> = (0..size)
            .map(|k| {
                let (a, b) = collectives::slice(n, width, k, size);
                b - a
            })
            .collect();
        let me = self.nodes[self.node][lane.me];
        let own = counts[me];
        let mut slices = ManuallyDrop::new(vec![0u8; own * size * width]);
        // SAFETY: counts add up to n; a slice of our width comes from everybody.
        unsafe { self.alltoall(lane, r.element, &counts, mine.as_ptr(), slices.as_mut_ptr(), own * size)? };
        let sources: Vec<*const u8> = (0..size).map(|k| slices[k * own * width..].as_ptr()).collect();
        let result = slices.as_ptr().cast_mut();
        // SAFETY: the result replaces the first of the sources.
        unsafe {
            kernels::fold().fold(&r.fold(size), own, &sources, &[result]);
            self.allgather(lane, r.element, result, own, at, n)?;
        }
        // SAFETY: n elements in all.
        pieces.each(0, n, width, |_, dst, i, n| unsafe { copy(at.wrapping_add(i * width), dst, n * width) });
        drop((ManuallyDrop::into_inner(mine), ManuallyDrop::into_inner(slices)));
        Ok(())
    }

    /// # Safety
    /// As [`collectives::broadcast`].
    pub unsafe fn broadcast(
        &self,
        lane: &mut Lane,
        element: Element,
        n: usize,
        buffer: *mut u8,
        root: usize,
    ) -> Result {
        self.agree(lane, &Header::new(Kind::Broadcast, element, n, u64::from(self.ranks[root])))?;
        let home = self.nodes.iter().position(|members| members.contains(&root)).unwrap_or(0);
        // Who has the data first on each machine: the root, or the leader.
        let first = if home == self.node { self.nodes[home].iter().position(|m| *m == root).unwrap_or(0) } else { 0 };
        let bytes = n * element.bytes();
        let mut from = 0;
        while from < bytes {
            let part = (bytes - from).min(CHUNK);
            let step = lane.now();
            if lane.me == first {
                let staged = lane.claim_input(part);
                let mut requests = Requests::default();
                // SAFETY: as many bytes as were claimed; all live until the wait, and longer if it fails: the segment stays.
                unsafe {
                    if home == self.node {
                        copy(buffer.wrapping_add(from), staged, part);
                        for k in (0..self.nodes.len()).filter(|k| *k != home) {
                            self.mpi.send(self.rank_at(k, 0), self.tag | DATA, staged, part, &mut requests);
                        }
                    } else {
                        self.mpi.receive(self.ranks[root], self.tag | DATA, staged, part, &mut requests);
                    }
                }
                self.mpi.wait(requests, &self.patience(lane))?;
            }
            lane.sync_behind_transfers()?;
            if !(home == self.node && lane.me == first) {
                // SAFETY: published with the step.
                unsafe { copy(lane.input(first, step), buffer.wrapping_add(from), part) };
            }
            from += part;
        }
        Ok(())
    }

    /// # Safety
    /// As [`collectives::allgather`].
    pub unsafe fn allgather(
        &self,
        lane: &mut Lane,
        element: Element,
        src: *const u8,
        n: usize,
        dst: *mut u8,
        room: usize,
    ) -> Result<Vec<usize>> {
        let headers = self.agree(lane, &Header::new(Kind::Allgather, element, n, room as u64))?;
        let counts: Vec<usize> = headers.iter().map(|h| h.count as usize).collect();
        let (starts, width) = (collectives::starts_of(&counts), element.bytes());
        let me = self.nodes[self.node][lane.me];
        let own = dst.wrapping_add(starts[me] * width);
        // SAFETY: the room was checked; our part may stand there already.
        unsafe { core::ptr::copy(src, own, n * width) };
        let mut requests = Requests::default();
        for k in (1..self.size()).map(|k| (me + k) % self.size()) {
            // SAFETY: parts of the output do not overlap; our own part stays as it is.
            unsafe {
                let to = dst.wrapping_add(starts[k] * width);
                self.mpi.receive(self.ranks[k], self.tag | DATA, to, counts[k] * width, &mut requests);
                self.mpi.send(self.ranks[k], self.tag | DATA, own, n * width, &mut requests);
            }
        }
        self.mpi.wait(requests, &self.patience(lane))?;
        lane.end_with_transfers();
        Ok(counts)
    }

    /// # Safety
    /// As [`collectives::alltoall`].
    pub unsafe fn alltoall(
        &self,
        lane: &mut Lane,
        element: Element,
        counts: &[usize],
        src: *const u8,
        dst: *mut u8,
        room: usize,
    ) -> Result<Vec<usize>> {
        let (size, width) = (self.size(), element.bytes());
        let me = self.nodes[self.node][lane.me];
        let row: Vec<u8> = counts.iter().flat_map(|n| (*n as u64).to_ne_bytes()).collect();
        if row.len() > self.most() {
            return Err(Error::new(
                Status::System,
                format!("alltoall of {size} ranks is more than one exchange takes"),
            ));
        }
        let given = self.gather(lane, &Header::new(Kind::Alltoall, element, 0, room as u64), &row)?;
        let headers: Vec<Header> = given.iter().map(|(h, _)| *h).collect();
        agree(&headers, &self.ranks)?;
        let number = |from: usize, to: usize| {
            given[from]
                .1
                .get(to * 8..to * 8 + 8)
                .map_or(0, |b| u64::from_ne_bytes(b.try_into().unwrap_or([0; 8])) as usize)
        };
        for (k, header) in headers.iter().enumerate() {
            let total: usize = (0..size).map(|m| number(m, k)).sum();
            if header.aux < total as u64 {
                let (rank, room) = (self.ranks[k], header.aux);
                let text = format!("alltoall: rank {rank} is given {total} elements and has room for {room}");
                return Err(Error::new(Status::Mismatch, text));
            }
        }
        let came: Vec<usize> = (0..size).map(|m| number(m, me)).collect();
        let (starts, ends) = (collectives::starts_of(counts), collectives::starts_of(&came));
        let mut requests = Requests::default();
        for k in (1..size).map(|k| (me + k) % size) {
            // SAFETY: blocks do not overlap, and the room was checked.
            unsafe {
                let (to, from) = (dst.wrapping_add(ends[k] * width), src.wrapping_add(starts[k] * width));
                self.mpi.receive(self.ranks[k], self.tag | DATA, to, came[k] * width, &mut requests);
                self.mpi.send(self.ranks[k], self.tag | DATA, from, counts[k] * width, &mut requests);
            }
        }
        // SAFETY: our own block.
        unsafe { copy(src.wrapping_add(starts[me] * width), dst.wrapping_add(ends[me] * width), counts[me] * width) };
        self.mpi.wait(requests, &self.patience(lane))?;
        lane.end_with_transfers();
        Ok(came)
    }

    /// # Safety
    /// As [`collectives::reducescatter`].
    pub unsafe fn reducescatter(
        &self,
        lane: &mut Lane,
        r: &Reduction,
        counts: &[usize],
        src: *const u8,
        dst: *mut u8,
    ) -> Result {
        let total: usize = counts.iter().sum();
        self.agree(lane, &collectives::header_of_blocks(r, counts))?;
        let width = r.element.bytes();
        let mut all = vec![0u8; total * width];
        let me = self.nodes[self.node][lane.me];
        // SAFETY: the whole into memory of our own, our block of it to the caller.
        unsafe {
            self.allreduce(lane, r, &[Piece { src, dst: all.as_mut_ptr(), count: total }], 0)?;
            let start = collectives::starts_of(counts)[me] * width;
            copy(all.as_ptr().wrapping_add(start), dst, counts[me] * width);
        }
        Ok(())
    }
}
