//! The collectives of one machine, on a lane of shared memory.
//!
//! Every operation begins with a step that carries the header of each rank, so that a disagreement is found by all ranks
//! alike before data is used, and carries data too: all of it if there is little, else the first chunk. Elements are
//! folded in the order of the ranks by whoever does it, so results are equal bit by bit on all ranks and do not depend
//! on sizes, fusion or time.
//!
//! | operation | steps with a synchronisation | bytes a rank reads + writes, N its data, p ranks |
//! |---|---|---|
//! | allreduce, little | 1 | everybody folds all: (p+1) N + 2 N |
//! | allreduce, chunks | N/chunk + 1 | each folds a slice of each chunk: 2 N + 2 N (p-1)/p, staged in cache |
//! | allreduce, buffers of `alloc` | 2 | each folds a slice of all: N + N, the least possible |
//! | reducescatter | blocks/chunk + 1 | N + N (p-1)/p |
//! | allgather, broadcast, alltoall | data/chunk + 1 | in, out |
//!
//! In the chunked allreduce a step works on three chunks at once: it brings in chunk s, folds its slice of chunk s-1 and
//! takes out the results of chunk s-2. A rank's own slice is read from and written to the caller's memory directly.
//! (Pipelined reduce-scatter and allgather: Rabenseifner 2004, through memory as in Li, Hoefler and Snir 2013.)

use super::transport::segment::PAGE;
use super::transport::shm::{CHUNK, INLINE, Lane};
use super::types::{Detail, Element, Error, Fold, Header, Kind, Op, Reduction, Result, Statement, Status};
use crate::kernels;

/// A tensor of an allreduce: where it is, and where the result goes. The same place, or apart.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub src: *const u8,
    pub dst: *mut u8,
    /// Elements.
    pub count: usize,
}

/// Up to so many bytes, of a rank and in all, everybody folds everything.
const LITTLE: usize = 16 << 10;
const LITTLE_IN_ALL: usize = 64 << 10;
/// From so many bytes on, buffers of `alloc` are used where they are.
const DIRECT: usize = 2 << 10;
/// From so many bytes in all on (of p ranks), results that do not overwrite inputs go past the caches.
const PAST: usize = 32 << 20;
/// Slices begin at multiples of this.
const LINE: usize = 64;
/// From so many bytes on, the C library may copy by `rep movsb`.
const STRING: usize = 2048;
/// Bytes by which a target must not be ahead of its source in the page: `rep movsb` of Zen 3 and 4 takes 14 times as
/// long up to 31 (measured; glibc bug 30994). Large buffers of `malloc` begin 16 bytes into a page, staging buffers with
/// one, so every result would be copied out like this. Elsewhere it is the best there is: it does not read the target.
const AHEAD: usize = 64;

/// Several tensors as one vector.
pub struct Pieces<'a> {
    list: &'a [Piece],
    /// First element of each; empty if there is one piece.
    starts: Vec<usize>,
    pub total: usize,
}

impl<'a> Pieces<'a> {
    pub fn new(list: &'a [Piece]) -> Pieces<'a> {
        let mut starts = Vec::new();
        let mut total = 0;
        if list.len() > 1 {
            starts.reserve(list.len());
        }
        for piece in list {
            if list.len() > 1 {
                starts.push(total);
            }
            total += piece.count;
        }
        Pieces { list, starts, total }
    }
    /// The parts of the elements `from..to`: calls `f(src, dst, place in the range, elements)` for each.
    #[inline]
    pub fn each(&self, from: usize, to: usize, width: usize, mut f: impl FnMut(*const u8, *mut u8, usize, usize)) {
        if self.list.len() == 1 {
            let piece = &self.list[0];
            if from < to {
                f(piece.src.wrapping_add(from * width), piece.dst.wrapping_add(from * width), 0, to - from);
            }
            return;
        }
        let mut i = self.starts.partition_point(|&start| start <= from).saturating_sub(1);
        let mut at = from;
        while at < to && i < self.list.len() {
            let (piece, start) = (&self.list[i], self.starts[i]);
            let end = (start + piece.count).min(to);
            if at < end {
                let skip = (at - start) * width;
                f(piece.src.wrapping_add(skip), piece.dst.wrapping_add(skip), at - from, end - at);
                at = end;
            }
            i += 1;
        }
    }
}

/// The header of an allreduce of a list.
pub fn header_of(r: &Reduction, list: &[Piece]) -> Header {
    Header::reduction(Kind::Allreduce, r, list.iter().map(|piece| piece.count).sum(), aux_of(list))
}

/// What it says of the cut of the list. Of one tensor that is nothing: then the count says all.
pub fn aux_of(list: &[Piece]) -> u64 {
    if list.len() == 1 { 0 } else { hash(list.iter().map(|piece| piece.count)) }
}

/// The same in full.
pub fn statement_of(r: &Reduction, list: &[Piece]) -> Statement {
    Statement { header: header_of(r, list), detail: Detail::counts(list.iter().map(|piece| piece.count)) }
}

/// A reducescatter in full.
pub fn statement_of_blocks(r: &Reduction, counts: &[usize]) -> Statement {
    Statement { header: header_of_blocks(r, counts), detail: Detail::counts(counts.iter().copied()) }
}

/// The header of it.
pub fn header_of_blocks(r: &Reduction, counts: &[usize]) -> Header {
    Header::reduction(Kind::Reducescatter, r, counts.iter().sum(), hash(counts.iter().copied()))
}

/// What a list of sizes leaves in a header.
pub fn hash(sizes: impl Iterator<Item = usize>) -> u64 {
    sizes.fold(0xcbf2_9ce4_8422_2325, |h, n| (h ^ n as u64).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17))
}

/// Slice k of p of a vector, in elements; slices begin at lines of cache.
pub fn slice(n: usize, width: usize, k: usize, p: usize) -> (usize, usize) {
    let per = n.div_ceil(p).next_multiple_of((LINE / width).max(1));
    ((k * per).min(n), ((k + 1) * per).min(n))
}

/// `copy_nonoverlapping` of bytes, where source and target may also be the same.
///
/// # Safety
/// Valid for so many bytes; equal or apart.
#[inline]
pub unsafe fn copy(src: *const u8, dst: *mut u8, bytes: usize) {
    if core::ptr::eq(src, dst) {
        return;
    }
    let ahead = dst.addr().wrapping_sub(src.addr()) % PAGE;
    // SAFETY: passed on to the caller.
    unsafe {
        if bytes < kernels::fold::FEW {
            kernels::fold::copy_few(bytes, src, dst);
        } else if bytes < STRING || ahead == 0 || ahead >= AHEAD {
            core::ptr::copy_nonoverlapping(src, dst, bytes);
        } else {
            kernels::fold().copy(bytes, src, dst);
        }
    }
}

/// The transfer of f32 data in another type, or of anything in its own.
#[derive(Clone, Copy)]
pub struct Carriage {
    pub element: Element,
    pub wire: Option<Element>,
}

impl Carriage {
    pub fn width(self) -> usize {
        self.wire.unwrap_or(self.element).bytes()
    }
    /// What member m of p does not stage of a chunk of so many elements: its own slice, unless that is rounded too.
    fn left_out(self, n: usize, m: usize, p: usize) -> (usize, usize) {
        if self.wire.is_some() { (0, 0) } else { slice(n, self.width(), m, p) }
    }
    /// # Safety
    /// n elements of the caller's on one side, of the wire's on the other.
    pub unsafe fn load(self, src: *const u8, staged: *mut u8, n: usize) {
        // SAFETY: passed on to the caller.
        unsafe {
            match self.wire {
                None => copy(src, staged, n * self.element.bytes()),
                Some(to) => kernels::fold().narrow(to, n, src.cast(), staged.cast()),
            }
        }
    }
    /// `past`: the result is too large for the caches.
    ///
    /// # Safety
    /// As `load`.
    pub unsafe fn unload(self, staged: *const u8, dst: *mut u8, n: usize, past: bool) {
        // SAFETY: passed on to the caller.
        unsafe {
            match self.wire {
                None if past => kernels::fold::copy_past(n * self.element.bytes(), staged, dst),
                None => copy(staged, dst, n * self.element.bytes()),
                Some(from) => kernels::fold().widen(from, n, staged.cast(), dst.cast()),
            }
        }
    }
}

/// Pointers of a fold, one for each rank: on the stack for the usual number of them.
struct Places<P> {
    few: [P; 16],
    many: Vec<P>,
}

/// What is folded.
type Sources = Places<*const u8>;

impl Sources {
    fn new(p: usize) -> Sources {
        Places::filled(p, core::ptr::null())
    }
}

impl<P: Copy> Places<P> {
    fn filled(p: usize, place: P) -> Places<P> {
        Places { few: [place; 16], many: if p > 16 { vec![place; p] } else { Vec::new() } }
    }
    #[inline]
    fn get(&mut self, p: usize) -> &mut [P] {
        if p <= 16 { &mut self.few[..p] } else { &mut self.many }
    }
}

/// # Safety
/// Every piece is readable at `src` and writable at `dst` for its elements.
pub unsafe fn allreduce(lane: &mut Lane, r: &Reduction, list: &[Piece]) -> Result {
    // SAFETY: passed on to the caller.
    unsafe { allreduce_of(lane, r, list, aux_of(list)) }
}

/// As `allreduce`, whatever the cut of the list on other members.
///
/// # Safety
/// As `allreduce`.
pub unsafe fn allreduce_as_one(lane: &mut Lane, r: &Reduction, list: &[Piece]) -> Result {
    // SAFETY: passed on to the caller.
    unsafe { allreduce_of(lane, r, list, 0) }
}

unsafe fn allreduce_of(lane: &mut Lane, r: &Reduction, list: &[Piece], aux: u64) -> Result {
    let pieces = Pieces::new(list);
    let p = lane.size();
    let fold = r.fold(p);
    let header = Header::reduction(Kind::Allreduce, r, pieces.total, aux);
    let carriage = Carriage { element: r.element, wire: r.wire };
    let bytes = pieces.total * carriage.width();
    // SAFETY: passed on to the caller.
    unsafe {
        if p == 1 {
            pieces.each(0, pieces.total, r.element.bytes(), |src, dst, _, n| {
                kernels::fold().fold(&Fold { element: r.element, ..fold }, n, &[src], &[dst]);
            });
            Ok(())
        } else if bytes <= INLINE {
            allreduce_inline(lane, &fold, carriage, &header, &pieces)
        } else {
            let little = bytes <= LITTLE && bytes * p <= LITTLE_IN_ALL;
            allreduce_staged(lane, &fold, carriage, &header, &pieces, little)
        }
    }
}

/// All of our data to a place of ours.
unsafe fn bring_all(carriage: Carriage, pieces: &Pieces, to: *mut u8) {
    pieces.each(0, pieces.total, carriage.element.bytes(), |src, _, at, n| {
        // SAFETY: passed on to the caller.
        unsafe { carriage.load(src, to.wrapping_add(at * carriage.width()), n) };
    });
}

/// Everybody folds everything, from what all members have published of it.
unsafe fn fold_all(
    lane: &mut Lane,
    fold: &Fold,
    carriage: Carriage,
    pieces: &Pieces,
    staged: impl Fn(&Lane, usize) -> *mut u8,
) {
    let (p, me, width) = (lane.size(), lane.me, carriage.width());
    let mut sources = Sources::new(p);
    let scratch = if carriage.wire.is_some() { lane.claim_output(pieces.total * width) } else { core::ptr::null_mut() };
    pieces.each(0, pieces.total, carriage.element.bytes(), |src, dst, at, n| {
        let from = sources.get(p);
        for (m, source) in from.iter_mut().enumerate() {
            *source = staged(lane, m).wrapping_add(at * width);
        }
        // Our own data from our own cache.
        if carriage.wire.is_none() {
            from[me] = src;
        }
        // SAFETY: all members have published their data; the scratch was claimed.
        unsafe {
            match carriage.wire {
                None => kernels::fold().fold(fold, n, from, &[dst]),
                Some(_) => {
                    kernels::fold().fold(fold, n, from, &[scratch]);
                    carriage.unload(scratch, dst, n, false);
                }
            }
        }
    });
}

/// So few bytes that they fit the control line.
unsafe fn allreduce_inline(
    lane: &mut Lane,
    fold: &Fold,
    carriage: Carriage,
    header: &Header,
    pieces: &Pieces,
) -> Result {
    let step = lane.now();
    // SAFETY: our own line of this step.
    unsafe { bring_all(carriage, pieces, lane.inline(lane.me, step)) };
    lane.sync_with(header)?;
    if !lane.unanimous(header) {
        lane.agreed()?;
    }
    // SAFETY: published with the step.
    unsafe { fold_all(lane, fold, carriage, pieces, |lane, m| lane.inline(m, step)) };
    Ok(())
}

/// Offsets of the caller's buffers in the segment, in the control line.
const NOWHERE: u64 = u64::MAX;

/// Where the buffers of a member are that published a step with its offsets.
fn place_at(lane: &Lane, member: usize, step: u32) -> [u64; 2] {
    // SAFETY: published with the step.
    unsafe { lane.inline(member, step).cast::<[u64; 2]>().read_unaligned() }
}

/// The first step carries the data of those whose buffers the others cannot see, all of it or the first chunk, and the
/// offsets of those whose they can. What follows depends on whether all can be seen.
unsafe fn allreduce_staged(
    lane: &mut Lane,
    fold: &Fold,
    carriage: Carriage,
    header: &Header,
    pieces: &Pieces,
    little: bool,
) -> Result {
    let (p, me, step) = (lane.size(), lane.me, lane.now());
    let place = place_of(lane, carriage, pieces);
    // SAFETY: two numbers fit the control line, which is ours in this step.
    unsafe { lane.inline(me, step).cast::<[u64; 2]>().write_unaligned(place) };
    let chunk = chunk_of(pieces.total, carriage.width(), p);
    // SAFETY: what is brought was claimed.
    let bring = |lane: &mut Lane| unsafe {
        if little {
            bring_all(carriage, pieces, lane.claim_input(pieces.total * carriage.width()));
        } else {
            bring_in(lane, carriage, pieces, 0, chunk);
        }
    };
    if place[0] == NOWHERE {
        bring(lane);
    }
    lane.sync_with(header)?;
    if !lane.unanimous(header) {
        lane.agreed()?;
    }
    let seen = (0..p).filter(|&m| place_at(lane, m, step)[0] != NOWHERE).count();
    if seen == p {
        // SAFETY: passed on to the caller.
        return unsafe { allreduce_direct(lane, fold, pieces, step) };
    }
    if seen > 0 {
        // Some have not brought in their data: everybody does it again.
        bring(lane);
        lane.sync()?;
    }
    // SAFETY: published with the step before; the rest is passed on to the caller.
    unsafe {
        if !little {
            return allreduce_chunks(lane, fold, carriage, pieces, chunk);
        }
        let step = lane.now().wrapping_sub(1);
        fold_all(lane, fold, carriage, pieces, |lane, m| lane.input(m, step));
    }
    Ok(())
}

fn place_of(lane: &Lane, carriage: Carriage, pieces: &Pieces) -> [u64; 2] {
    let bytes = pieces.total * carriage.element.bytes();
    if pieces.list.len() != 1 || carriage.wire.is_some() || bytes < DIRECT {
        return [NOWHERE; 2];
    }
    let piece = &pieces.list[0];
    match (lane.segment().offset_of(piece.src, bytes), lane.segment().offset_of(piece.dst, bytes)) {
        (Some(src), Some(dst)) => [src, dst],
        _ => [NOWHERE; 2],
    }
}

/// Elements of a chunk: as many as a claim may have, or half of all, so that the steps overlap, if that is worth a step.
fn chunk_of(n: usize, width: usize, p: usize) -> usize {
    let few = (n * width / 2).clamp(64 << 10, CHUNK);
    // Slices of whole lines: a chunk of p slices fits its buffer.
    let slice = (few / p / LINE * LINE).max(LINE);
    slice * p / width
}

/// Brings chunk s into staging memory, without our own slice where it can be used in place.
unsafe fn bring_in(lane: &mut Lane, carriage: Carriage, pieces: &Pieces, s: usize, chunk: usize) {
    let (p, me, width) = (lane.size(), lane.me, carriage.width());
    let (from, to) = (s * chunk, ((s + 1) * chunk).min(pieces.total));
    let own = carriage.left_out(to - from, me, p);
    let mut buffer = lane.claim_input((to - from - (own.1 - own.0)) * width);
    for (a, b) in [(0, own.0), (own.1, to - from)] {
        pieces.each(from + a, from + b, carriage.element.bytes(), |src, _, at, n| {
            // SAFETY: as many elements as were claimed.
            unsafe { carriage.load(src, buffer.wrapping_add(at * width), n) };
        });
        buffer = buffer.wrapping_add((b - a) * width);
    }
}

/// The first chunk was brought in with the step before.
unsafe fn allreduce_chunks(lane: &mut Lane, fold: &Fold, carriage: Carriage, pieces: &Pieces, chunk: usize) -> Result {
    let (p, me, width) = (lane.size(), lane.me, carriage.width());
    let chunks = pieces.total.div_ceil(chunk);
    let mut sources = Sources::new(p);
    let past = pieces.total * width * p >= PAST;
    let bounds = |s: usize| (s * chunk, ((s + 1) * chunk).min(pieces.total));
    for s in 1..chunks + 2 {
        let before = lane.now().wrapping_sub(1);
        if s < chunks {
            // SAFETY: passed on to the caller.
            unsafe { bring_in(lane, carriage, pieces, s, chunk) };
        }
        if s <= chunks {
            let (from, to) = bounds(s - 1);
            let (a, b) = slice(to - from, width, me, p);
            let result = lane.claim_output((b - a) * width);
            pieces.each(from + a, from + b, carriage.element.bytes(), |src, dst, at, n| {
                let sources = sources.get(p);
                for (m, source) in sources.iter_mut().enumerate() {
                    let out = carriage.left_out(to - from, m, p);
                    let skip = a - if m < me { out.1 - out.0 } else { 0 };
                    *source = lane.input(m, before).wrapping_add((skip + at) * width);
                }
                let result = result.wrapping_add(at * width);
                // SAFETY: the others published their chunk; the result was claimed; dst is the caller's.
                unsafe {
                    if carriage.wire.is_none() {
                        sources[me] = src;
                        let past = usize::from(past && !core::ptr::eq(src, dst));
                        kernels::fold().fold(&Fold { past, ..*fold }, n, sources, &[dst, result]);
                    } else {
                        kernels::fold().fold(fold, n, sources, &[result]);
                    }
                }
            });
        }
        if s >= 2 {
            let (from, to) = bounds(s - 2);
            for m in 0..p {
                if m == me && carriage.wire.is_none() {
                    continue;
                }
                let (a, b) = slice(to - from, width, m, p);
                let result = lane.output(m, before);
                pieces.each(from + a, from + b, carriage.element.bytes(), |src, dst, at, n| {
                    let past = past && !core::ptr::eq(src, dst);
                    // SAFETY: published with the step before.
                    unsafe { carriage.unload(result.wrapping_add(at * width), dst, n, past) };
                });
            }
        }
        if s <= chunks {
            lane.sync()?;
        }
    }
    Ok(())
}

/// All buffers are mapped by all: slice k is folded by rank k, from everywhere to everywhere. Their offsets were published
/// with the step before, which is `step`.
unsafe fn allreduce_direct(lane: &mut Lane, fold: &Fold, pieces: &Pieces, step: u32) -> Result {
    let (p, me, width) = (lane.size(), lane.me, fold.element.bytes());
    let (a, b) = slice(pieces.total, width, me, p);
    let (mut sources, mut targets) = (Sources::new(p), Places::filled(p, core::ptr::null_mut::<u8>()));
    let (src, dst) = (sources.get(p), targets.get(p));
    let mut past = pieces.total * width * p >= PAST;
    for m in 0..p {
        let [from, to] = place_at(lane, m, step);
        src[m] = lane.segment().at(from).wrapping_add(a * width);
        dst[m] = lane.segment().at(to).wrapping_add(a * width);
        past &= from != to;
    }
    // SAFETY: all ranks are in this operation, which owns their buffers; slices do not overlap.
    unsafe { kernels::fold().fold(&Fold { past: if past { p } else { 0 }, ..*fold }, b - a, src, dst) };
    lane.sync()
}

/// Waits until all have come.
pub fn barrier(lane: &mut Lane) -> Result {
    let header = Header::new(Kind::Barrier, Element::U8, 0, 0);
    lane.sync_with(&header)?;
    if lane.unanimous(&header) { Ok(()) } else { lane.agreed().map(|_| ()) }
}

/// `buffer` of the root (a member's number) to all.
///
/// # Safety
/// The buffer is readable on the root, writable elsewhere, for n elements.
pub unsafe fn broadcast(lane: &mut Lane, element: Element, n: usize, buffer: *mut u8, root: usize) -> Result {
    let header = Header::new(Kind::Broadcast, element, n, u64::from(lane.ranks[root]));
    let bytes = n * element.bytes();
    let (me, step) = (lane.me, lane.now());
    // SAFETY: as many bytes as are claimed.
    let bring = |lane: &mut Lane, s: usize| unsafe {
        let from = (s * CHUNK).min(bytes);
        let n = (bytes - from).min(CHUNK);
        copy(buffer.wrapping_add(from), lane.claim_input(n), n);
    };
    let inline = bytes <= INLINE;
    if me == root && inline {
        // SAFETY: little data fits the line.
        unsafe { copy(buffer, lane.inline(me, step), bytes) };
    } else if me == root {
        bring(lane, 0);
    }
    lane.sync_with(&header)?;
    if !lane.unanimous(&header) {
        lane.agreed()?;
    }
    if inline {
        if me != root {
            // SAFETY: published with the step.
            unsafe { copy(lane.inline(root, step), buffer, bytes) };
        }
        return Ok(());
    }
    for s in 0..bytes.div_ceil(CHUNK) {
        let more = (s + 1) * CHUNK < bytes;
        if me == root {
            if more {
                bring(lane, s + 1);
            }
        } else {
            let from = s * CHUNK;
            // SAFETY: published with the step before.
            unsafe {
                let staged = lane.input(root, lane.now().wrapping_sub(1));
                copy(staged, buffer.wrapping_add(from), (bytes - from).min(CHUNK));
            }
        }
        if more {
            lane.sync()?;
        }
    }
    Ok(())
}

/// Everybody's data, one behind the other, to all. Returns the number of elements of each member.
///
/// # Safety
/// `src` is readable for n elements, `dst` writable for `room`.
pub unsafe fn allgather(
    lane: &mut Lane,
    element: Element,
    src: *const u8,
    n: usize,
    dst: *mut u8,
    room: usize,
) -> Result<Vec<usize>> {
    let header = Header::new(Kind::Allgather, element, n, room as u64);
    let (me, p, width) = (lane.me, lane.size(), element.bytes());
    // SAFETY: as many bytes as are claimed.
    let bring = |lane: &mut Lane, s: usize| unsafe {
        let from = (s * CHUNK).min(n * width);
        let bytes = (n * width - from).min(CHUNK);
        copy(src.wrapping_add(from), lane.claim_input(bytes), bytes);
    };
    bring(lane, 0);
    lane.sync_with(&header)?;
    let counts: Vec<usize> = lane.agreed()?.iter().map(|h| h.count as usize).collect();
    let most = counts.iter().max().copied().unwrap_or(0) * width;
    let mut starts = Vec::with_capacity(p);
    let mut total = 0;
    for count in &counts {
        starts.push(total * width);
        total += count;
    }
    // SAFETY: the room was checked; in place means that our part stands there already.
    unsafe { copy_within(src, dst.wrapping_add(starts[me]), n * width) };
    for s in 0..most.div_ceil(CHUNK) {
        let more = (s + 1) * CHUNK < most;
        if more {
            bring(lane, s + 1);
        }
        let before = lane.now().wrapping_sub(1);
        for (m, count) in counts.iter().enumerate() {
            let (from, bytes) = (s * CHUNK, count * width);
            if m != me && from < bytes {
                // SAFETY: published with the step before; inside the room that was checked.
                unsafe {
                    copy(lane.input(m, before), dst.wrapping_add(starts[m] + from), (bytes - from).min(CHUNK));
                }
            }
        }
        if more {
            lane.sync()?;
        }
    }
    Ok(counts)
}

/// A move within memory that may overlap: a gather whose input is a part of its output.
unsafe fn copy_within(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: passed on to the caller.
    unsafe { core::ptr::copy(src, dst, bytes) }
}

/// Block k of everybody's data, `counts[k]` elements, folded, to member k.
///
/// # Safety
/// `src` is readable for the sum of the counts, `dst` writable for our own. `dst` may be our block of `src`, or `src`.
pub unsafe fn reducescatter(lane: &mut Lane, r: &Reduction, counts: &[usize], src: *const u8, dst: *mut u8) -> Result {
    let (me, p, width) = (lane.me, lane.size(), r.element.bytes());
    let fold = r.fold(p);
    let header = header_of_blocks(r, counts);
    let starts = starts_of(counts);
    // Slot k of each chunk holds a part of block k.
    let slot = CHUNK / p / LINE * LINE / width;
    // SAFETY: p slots are claimed.
    let bring = |lane: &mut Lane, s: usize| unsafe {
        let buffer = lane.claim_input(p * slot * width);
        for k in (0..p).filter(|&k| k != me) {
            let from = (s * slot).min(counts[k]);
            let n = (counts[k] - from).min(slot);
            copy(src.wrapping_add((starts[k] + from) * width), buffer.wrapping_add(k * slot * width), n * width);
        }
    };
    bring(lane, 0);
    lane.sync_with(&header)?;
    if !lane.unanimous(&header) {
        lane.agreed()?;
    }
    let mut sources = Sources::new(p);
    let most = counts.iter().max().copied().unwrap_or(0);
    // A result at the front of the input would overwrite what later chunks bring in: our own block moves only at the end.
    let aliased = core::ptr::eq(src, dst) && starts[me] != 0;
    let target = if aliased { src.cast_mut().wrapping_add(starts[me] * width) } else { dst };
    for s in 0..most.div_ceil(slot) {
        let more = (s + 1) * slot < most;
        if more {
            bring(lane, s + 1);
        }
        let before = lane.now().wrapping_sub(1);
        let from = (s * slot).min(counts[me]);
        let n = (counts[me] - from).min(slot);
        if n > 0 {
            let sources = sources.get(p);
            for (m, source) in sources.iter_mut().enumerate() {
                *source = lane.input(m, before).wrapping_add(me * slot * width);
            }
            sources[me] = src.wrapping_add((starts[me] + from) * width);
            // SAFETY: published with the step before; our block is the caller's.
            unsafe { kernels::fold().fold(&fold, n, sources, &[target.wrapping_add(from * width)]) };
        }
        if more {
            lane.sync()?;
        }
    }
    if aliased {
        // SAFETY: both inside the caller's buffer.
        unsafe { copy_within(target, dst, counts[me] * width) };
    }
    Ok(())
}

/// Where each block begins.
pub fn starts_of(counts: &[usize]) -> Vec<usize> {
    let mut total = 0;
    counts
        .iter()
        .map(|n| {
            total += n;
            total - n
        })
        .collect()
}

/// Block k of our data, `counts[k]` elements, to member k; what comes from all stands one behind the other in `dst`.
/// Returns how many elements came from each.
///
/// # Safety
/// `src` is readable for the sum of the counts, `dst` writable for `room`, apart from `src`.
pub unsafe fn alltoall(
    lane: &mut Lane,
    element: Element,
    counts: &[usize],
    src: *const u8,
    dst: *mut u8,
    room: usize,
) -> Result<Vec<usize>> {
    let (me, p, width) = (lane.me, lane.size(), element.bytes());
    let most = counts.iter().max().copied().unwrap_or(0);
    let header = Header::new(Kind::Alltoall, element, most, room as u64);
    let step = lane.now();
    // The numbers of MAX_LOCAL members are less than a chunk.
    let mine = lane.claim_input(size_of_val(counts)).cast::<u64>();
    for (k, n) in counts.iter().enumerate() {
        // SAFETY: as many numbers as were claimed.
        unsafe { mine.add(k).write(*n as u64) };
    }
    lane.sync_with(&header)?;
    let headers = lane.agreed()?;
    // SAFETY: published with the step.
    let given = |m: usize, k: usize| unsafe { lane.input(m, step).cast::<u64>().add(k).read() as usize };
    let came: Vec<usize> = (0..p).map(|m| given(m, me)).collect();
    for (k, h) in headers.iter().enumerate() {
        let total: usize = (0..p).map(|m| given(m, k)).sum();
        if (h.aux as usize) < total {
            let (rank, room) = (lane.ranks[k], h.aux);
            let text = format!("alltoall: rank {rank} is given {total} elements and has room for {room}");
            return Err(Error::new(Status::Mismatch, text));
        }
    }
    let most = headers.iter().map(|h| h.count as usize).max().unwrap_or(0);
    let (starts, ends) = (starts_of(counts), starts_of(&came));
    let slot = CHUNK / p / LINE * LINE / width;
    for s in 0..most.div_ceil(slot) + 1 {
        let more = s * slot < most;
        if more {
            let buffer = lane.claim_input(p * slot * width);
            for k in (0..p).filter(|&k| k != me) {
                let from = (s * slot).min(counts[k]);
                let n = (counts[k] - from).min(slot);
                // SAFETY: p slots were claimed.
                unsafe {
                    copy(
                        src.wrapping_add((starts[k] + from) * width),
                        buffer.wrapping_add(k * slot * width),
                        n * width,
                    );
                }
            }
        }
        if s > 0 {
            let before = lane.now().wrapping_sub(1);
            for m in (0..p).filter(|&m| m != me) {
                let from = ((s - 1) * slot).min(came[m]);
                let n = (came[m] - from).min(slot);
                // SAFETY: published with the step before; the room was checked.
                unsafe {
                    let staged = lane.input(m, before).wrapping_add(me * slot * width);
                    copy(staged, dst.wrapping_add((ends[m] + from) * width), n * width);
                }
            }
        }
        if more {
            lane.sync()?;
        }
    }
    // SAFETY: both are the caller's.
    unsafe { copy(src.wrapping_add(starts[me] * width), dst.wrapping_add(ends[me] * width), counts[me] * width) };
    Ok(came)
}

/// A few bytes of everybody to all: at most [`CHUNK`] each.
pub fn exchange(lane: &mut Lane, kind: Kind, aux: u64, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    debug_assert!(bytes.len() <= CHUNK);
    let header = Header::new(kind, Element::U8, bytes.len(), aux);
    let step = lane.now();
    // SAFETY: as many bytes as are claimed.
    unsafe { copy(bytes.as_ptr(), lane.claim_input(bytes.len()), bytes.len()) };
    lane.sync_with(&header)?;
    let headers = lane.agreed()?;
    let of = |(m, h): (usize, &Header)| {
        let n = (h.count as usize).min(CHUNK);
        // SAFETY: published with the step.
        unsafe { core::slice::from_raw_parts(lane.input(m, step), n) }.to_vec()
    };
    Ok(headers.iter().enumerate().map(of).collect())
}

/// Whether a reduction makes sense.
pub fn check(r: &Reduction) -> Result {
    let bad = |text: String| Err(Error::new(Status::Argument, text));
    if r.op == Op::Adasum && r.element.is_integer() {
        return bad(format!("op is adasum and type is {}, expected a floating-point type", r.element.name()));
    }
    if r.wire.is_some() && (r.element != Element::F32 || r.op == Op::Adasum) {
        return bad(format!(
            "op is {} with CORTEN_WIRE_BF16 or CORTEN_WIRE_F16, and type is {}: only f32 can travel in 16 bits, by any op but adasum",
            r.op.name(),
            r.element.name()
        ));
    }
    if r.pre.is_nan() || r.post.is_nan() {
        return bad(format!("prescale is {} and postscale is {}, expected numbers", r.pre, r.post));
    }
    Ok(())
}
