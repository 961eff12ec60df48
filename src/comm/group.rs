//! A list of ranks that work together: their lane on this machine and, if there are several machines, the way between.

use super::collectives::{self, Piece};
use super::transport::shm::{CHUNK, Lane};
use super::two_level::Cross;
use super::types::{
    Element, Error, Fold, Header, Join, Kind, Op, Reduction, Result, Statement, Status, agree, agree_in_full,
};
use crate::kernels;
use core::mem::ManuallyDrop;

pub struct Group {
    /// Global ranks of the members.
    pub ranks: Vec<u32>,
    /// Our number in the list.
    pub me: usize,
    lane: Lane,
    cross: Option<Cross>,
}

impl Group {
    pub fn new(ranks: Vec<u32>, me: usize, lane: Lane, cross: Option<Cross>) -> Group {
        Group { ranks, me, lane, cross }
    }
    pub fn size(&self) -> usize {
        self.ranks.len()
    }
    pub fn lane(&mut self) -> &mut Lane {
        &mut self.lane
    }
    /// The same, to be looked at.
    pub fn lane_as_is(&self) -> &Lane {
        &self.lane
    }

    /// # Safety
    /// As [`collectives::allreduce`].
    #[inline]
    pub unsafe fn allreduce(&mut self, r: &Reduction, list: &[Piece]) -> Result {
        self.lane.healthy()?;
        // SAFETY: passed on to the caller.
        let outcome = unsafe {
            match (r.op, &self.cross) {
                (Op::Adasum, _) => self.adasum(r, list),
                (_, None) => collectives::allreduce(&mut self.lane, r, list),
                (_, Some(cross)) => cross.allreduce(&mut self.lane, r, list, collectives::aux_of(list)),
            }
        };
        self.settled(outcome, || collectives::statement_of(r, list))
    }
    /// As `allreduce`, for lists that all members know to add up to the same, cut as they may be.
    ///
    /// # Safety
    /// As [`collectives::allreduce`].
    pub unsafe fn allreduce_fused(&mut self, r: &Reduction, list: &[Piece]) -> Result {
        self.lane.healthy()?;
        // SAFETY: passed on to the caller.
        unsafe {
            match &self.cross {
                None => collectives::allreduce_as_one(&mut self.lane, r, list),
                Some(cross) => cross.allreduce(&mut self.lane, r, list, 0),
            }
        }
    }
    pub fn barrier(&mut self) -> Result {
        self.lane.healthy()?;
        let header = Header::new(Kind::Barrier, Element::U8, 0, 0);
        let outcome = match &self.cross {
            None => collectives::barrier(&mut self.lane),
            Some(_) => self.agree(&header),
        };
        self.settled(outcome, || header.into())
    }
    /// # Safety
    /// As [`collectives::broadcast`].
    pub unsafe fn broadcast(&mut self, element: Element, n: usize, buffer: *mut u8, root: usize) -> Result {
        self.lane.healthy()?;
        let from = u64::from(self.ranks[root]);
        // SAFETY: passed on to the caller.
        let outcome = unsafe {
            match &self.cross {
                None => collectives::broadcast(&mut self.lane, element, n, buffer, root),
                Some(cross) => cross.broadcast(&mut self.lane, element, n, buffer, root),
            }
        };
        self.settled(outcome, || Header::new(Kind::Broadcast, element, n, from).into())
    }
    /// # Safety
    /// As [`collectives::allgather`].
    pub unsafe fn allgather(
        &mut self,
        element: Element,
        src: *const u8,
        n: usize,
        dst: *mut u8,
        room: usize,
    ) -> Result<Vec<usize>> {
        self.lane.healthy()?;
        // SAFETY: passed on to the caller.
        let outcome = unsafe {
            match &self.cross {
                None => collectives::allgather(&mut self.lane, element, src, n, dst, room),
                Some(cross) => cross.allgather(&mut self.lane, element, src, n, dst, room),
            }
        };
        self.settled(outcome, || Header::new(Kind::Allgather, element, n, room as u64).into())
    }
    /// # Safety
    /// As [`collectives::reducescatter`].
    pub unsafe fn reducescatter(&mut self, r: &Reduction, counts: &[usize], src: *const u8, dst: *mut u8) -> Result {
        self.lane.healthy()?;
        // SAFETY: passed on to the caller.
        let outcome = unsafe {
            match &self.cross {
                None => collectives::reducescatter(&mut self.lane, r, counts, src, dst),
                Some(cross) => cross.reducescatter(&mut self.lane, r, counts, src, dst),
            }
        };
        self.settled(outcome, || collectives::statement_of_blocks(r, counts))
    }
    /// # Safety
    /// As [`collectives::alltoall`].
    pub unsafe fn alltoall(
        &mut self,
        element: Element,
        counts: &[usize],
        src: *const u8,
        dst: *mut u8,
        room: usize,
    ) -> Result<Vec<usize>> {
        self.lane.healthy()?;
        // SAFETY: passed on to the caller.
        let outcome = unsafe {
            match &self.cross {
                None => collectives::alltoall(&mut self.lane, element, counts, src, dst, room),
                Some(cross) => cross.alltoall(&mut self.lane, element, counts, src, dst, room),
            }
        };
        self.settled(outcome, || Header::new(Kind::Alltoall, element, 0, room as u64).into())
    }
    /// A few bytes of everybody to all.
    pub fn exchange(&mut self, kind: Kind, aux: u64, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.lane.healthy()?;
        let Some(cross) = &self.cross else { return collectives::exchange(&mut self.lane, kind, aux, bytes) };
        let header = Header::new(kind, Element::U8, bytes.len(), aux);
        let given = cross.gather(&mut self.lane, &header, bytes)?;
        let headers: Vec<Header> = given.iter().map(|(h, _)| *h).collect();
        agree(&headers, &self.ranks)?;
        Ok(given.into_iter().map(|(_, bytes)| bytes).collect())
    }
    /// Most bytes that each member can give to an exchange.
    pub fn most(&self) -> usize {
        self.cross.as_ref().map_or(CHUNK, Cross::most)
    }
    /// Whether news of other members can come from another machine, which rings no bell here.
    pub fn is_crossing(&self) -> bool {
        self.cross.is_some()
    }
    /// Whether all members mean the same, before an operation that is made of others.
    fn agree(&mut self, header: &Header) -> Result {
        if let Some(cross) = &self.cross {
            return cross.agree(&mut self.lane, header).map(|_| ());
        }
        self.lane.sync_with(header)?;
        self.lane.agreed().map(|_| ())
    }
    /// Whether all members mean the same, as an operation of its own.
    pub fn agree_on(&mut self, statement: Statement) -> Result {
        self.lane.healthy()?;
        let outcome = self.agree(&statement.header);
        self.settled(outcome, || statement)
    }
    /// Takes part in an operation only to say that its arguments are wrong here, and why.
    pub fn refuse(&mut self, reason: &str) -> Result {
        self.agree_on(Statement::refusal(reason))
    }
    /// The outcome of an operation. A disagreement, which all members find in the same step, is followed by one more step in
    /// which each says in full what it meant.
    #[inline]
    fn settled<T>(&mut self, outcome: Result<T>, mine: impl FnOnce() -> Statement) -> Result<T> {
        match outcome {
            Err(error) if error.status == Status::Mismatch => Err(self.explain(error, Some(&mine()))),
            outcome => outcome,
        }
    }
    /// Puts a disagreement into words. All members come, those who have nothing to say as well.
    #[cold]
    pub fn explain(&mut self, error: Error, mine: Option<&Statement>) -> Error {
        let most = self.most();
        let mine = mine.map(|statement| statement.to_bytes(most)).unwrap_or_default();
        let told = match self.exchange(Kind::Dispute, 0, &mine) {
            Ok(told) => told,
            Err(lost) => return lost,
        };
        let (statements, ranks): (Vec<Statement>, Vec<u32>) =
            told.iter().zip(&self.ranks).filter_map(|(t, rank)| Some((Statement::from_bytes(t)?, *rank))).unzip();
        agree_in_full(&statements, &ranks).err().unwrap_or(error)
    }

    /// Adasum (Maleki et al. 2020): instead of a sum, vectors are added pairwise after each has lost half its part in
    /// the other's direction: `(1 - a·b/2a²) a + (1 - a·b/2b²) b`. Pairs are neighbours in the order of ranks, then pairs
    /// of pairs; an odd one waits for the next level, so any number of ranks will do.
    ///
    /// Every rank gets a slice of all vectors and does all levels on it; only the dot products need everybody, in f64.
    unsafe fn adasum(&mut self, r: &Reduction, list: &[Piece]) -> Result {
        self.agree(&collectives::header_of(r, list))?;
        for piece in list {
            // SAFETY: passed on to the caller.
            unsafe {
                match r.element {
                    Element::F64 => self.adasum_of::<f64>(r, piece)?,
                    _ => self.adasum_of::<f32>(r, piece)?,
                }
            }
        }
        Ok(())
    }

    unsafe fn adasum_of<T: Working>(&mut self, r: &Reduction, piece: &Piece) -> Result {
        let (n, p, me) = (piece.count, self.size(), self.me);
        // Freed only where MPI, if it was needed, has ended with it.
        let mut mine = ManuallyDrop::new(vec![T::default(); n]);
        // SAFETY: n elements on both sides.
        unsafe {
            match r.element {
                Element::Bf16 | Element::F16 => {
                    kernels::fold().widen(r.element, n, piece.src.cast(), mine.as_mut_ptr().cast());
                }
                _ => collectives::copy(piece.src, mine.as_mut_ptr().cast(), n * size_of::<T>()),
            }
        }
        let scale = |values: &mut [T], factor: f64| {
            let fold = Fold { element: T::ELEMENT, join: Join::Sum, pre: factor, post: 1.0, parts: 1, past: 0 };
            let at = values.as_mut_ptr().cast::<u8>();
            // SAFETY: in place.
            unsafe { kernels::fold().fold(&fold, values.len(), &[at], &[at]) };
        };
        if r.pre != 1.0 {
            scale(&mut mine, r.pre);
        }
        let cuts: Vec<(usize, usize)> = (0..p).map(|k| collectives::slice(n, size_of::<T>(), k, p)).collect();
        let counts: Vec<usize> = cuts.iter().map(|c| c.1 - c.0).collect();
        let width = counts[me];
        let mut slices = ManuallyDrop::new(vec![T::default(); width * p]);
        // SAFETY: counts add up to n; p slices of our width come.
        unsafe {
            let (from, to) = (mine.as_ptr().cast(), slices.as_mut_ptr().cast());
            self.alltoall(T::ELEMENT, &counts, from, to, width * p)?;
        }
        let mut at: Vec<usize> = (0..p).map(|k| k * width).collect();
        while at.len() > 1 {
            let pairs = at.len() / 2;
            let mut dots = vec![0f64; 3 * pairs];
            for (i, dot) in dots.chunks_exact_mut(3).enumerate() {
                for j in 0..width {
                    let (a, b) = (slices[at[2 * i] + j].to_f64(), slices[at[2 * i + 1] + j].to_f64());
                    dot[0] += a * b;
                    dot[1] += a * a;
                    dot[2] += b * b;
                }
            }
            let sum = Reduction { element: Element::F64, op: Op::Sum, pre: 1.0, post: 1.0, wire: None };
            let d = dots.as_mut_ptr().cast::<u8>();
            // SAFETY: in place.
            unsafe { self.allreduce(&sum, &[Piece { src: d, dst: d, count: dots.len() }])? };
            let mut next = Vec::with_capacity(at.len().div_ceil(2));
            for (i, dot) in dots.chunks_exact(3).enumerate() {
                let half = |square: f64| if square > 0.0 { 1.0 - dot[0] / (2.0 * square) } else { 1.0 };
                let (fa, fb) = (half(dot[1]), half(dot[2]));
                for j in 0..width {
                    let (a, b) = (slices[at[2 * i] + j].to_f64(), slices[at[2 * i + 1] + j].to_f64());
                    slices[at[2 * i] + j] = T::from_f64(fa * a + fb * b);
                }
                next.push(at[2 * i]);
            }
            if at.len() % 2 == 1 {
                next.push(at[at.len() - 1]);
            }
            at = next;
        }
        // SAFETY: the slices of all make up n elements.
        unsafe {
            let (from, to) = (slices.as_ptr().cast(), mine.as_mut_ptr().cast());
            self.allgather(T::ELEMENT, from, width, to, n)?;
        }
        if r.post != 1.0 {
            scale(&mut mine, r.post);
        }
        // SAFETY: n elements on both sides.
        unsafe {
            match r.element {
                Element::Bf16 | Element::F16 => {
                    kernels::fold().narrow(r.element, n, mine.as_ptr().cast(), piece.dst.cast());
                }
                _ => collectives::copy(mine.as_ptr().cast(), piece.dst, n * size_of::<T>()),
            }
        }
        drop((ManuallyDrop::into_inner(mine), ManuallyDrop::into_inner(slices)));
        Ok(())
    }
}

/// What Adasum computes in.
trait Working: Copy + Default {
    const ELEMENT: Element;
    fn to_f64(self) -> f64;
    fn from_f64(value: f64) -> Self;
}
impl Working for f32 {
    const ELEMENT: Element = Element::F32;
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
}
impl Working for f64 {
    const ELEMENT: Element = Element::F64;
    fn to_f64(self) -> f64 {
        self
    }
    fn from_f64(value: f64) -> f64 {
        value
    }
}
