//! Direct convolution, forward and backward-data: sums over a window, with pixels read where they lie.
//!
//! Both passes are one thing ([`Window`]): every result is a sum over taps of a source pixel times a matrix of weights.
//! Forward, the source moves by the stride from one result to the next. Backward-data, the results of a stride of s fall into
//! s classes (phases) in each dimension that use different taps, each class with unit stride: so no product with an
//! inserted zero is ever made. Taps that meet padding only are left out.
//!
//! ```text
//! block of results (a task)                       fill its strip of the source, unless it can be read in place
//!   output channels in chunks                     (weights of a chunk and a piece stay in L2)
//!     phases
//!       window in pieces
//!         groups that share the strip
//!           pixels in nr, channels in mr          register tile: kernels/conv.rs
//! ```
//! Where one block has all results, weights that no plan keeps are packed a chunk and a piece at a time, just before they are used.
//!
//! Depthwise windows, and groups that share a vector, on images with their channels side by side need no strip: a block falls
//! into planes of results that have the same planes of taps inside the source ([`Stretch`]), read and written where they lie.
//!
//! A window's taps along the width are consecutive in a strip (and in a channels-last image without padding), so its
//! segments are rows of the window: long loops even for images of three channels. How a window is cut in pieces depends on
//! its size alone, so results have the same bits whatever the number of threads.

mod task;

use task::Task;

use super::memory::{Memory, Room, Shared, bytes};
use super::problem::{FilterStrides, Problem, Strides};
use super::strip::{self, Extent};
use super::{Epilogue, Kit};
use crate::gemm::blocking;
use crate::kernels::conv::{Activation, Finish, LaneRows, Lanewise, Pixels, RUN, Segment, TapRun};
use crate::runtime::{cpu, pool};

/// One dimension of a window.
#[derive(Clone, Debug)]
pub struct Lattice {
    /// Results.
    pub count: usize,
    /// Result i is at `from + i * every`.
    pub from: usize,
    pub every: usize,
    /// Source elements from one result to the next.
    pub step: usize,
    /// Offset in the source and index in the kernel, offsets ascending.
    pub taps: Vec<(isize, usize)>,
    /// Elements of the source.
    pub size: usize,
}

impl Lattice {
    fn new(
        count: usize,
        from: usize,
        every: usize,
        step: usize,
        mut taps: Vec<(isize, usize)>,
        size: usize,
    ) -> Lattice {
        // Those that meet at least one element.
        taps.retain(|&(offset, _)| {
            let first = if offset >= 0 { 0 } else { offset.unsigned_abs().div_ceil(step) };
            count > first && (first * step) as isize + offset < size as isize
        });
        taps.sort_unstable();
        Lattice { count, from, every, step, taps, size }
    }
    fn lowest(&self) -> isize {
        self.taps.first().map_or(0, |t| t.0)
    }
    /// Source elements that `count` results reach over.
    fn reach(&self, count: usize) -> usize {
        let taps = self.taps.last().map_or(0, |t| t.0) - self.lowest();
        (count - 1) * self.step + taps as usize + 1
    }
    /// Results `from..to` in stretches that have the same taps inside the source.
    pub fn stretches(&self, from: usize, to: usize) -> Vec<Stretch> {
        let (low, high) = (self.lowest(), self.taps.last().map_or(0, |t| t.0));
        // Those in the middle have all of them, if there are any.
        let middle = if low < 0 { low.unsigned_abs().div_ceil(self.step) } else { 0 };
        let end = (self.size as isize - high).max(0) as usize;
        let end = end.div_ceil(self.step);
        let mut out: Vec<Stretch> = Vec::new();
        let mut i = from;
        while i < to {
            let (count, taps) = if middle <= i && i < end {
                (end.min(to) - i, (0, self.taps.len()))
            } else {
                let at = (i * self.step) as isize;
                let first = self.taps.partition_point(|t| at + t.0 < 0);
                (1, (first, self.taps.partition_point(|t| at + t.0 < self.size as isize).max(first)))
            };
            match out.last_mut() {
                Some(last) if last.taps == taps => last.count += count,
                _ => out.push(Stretch { from: i, count, taps }),
            }
            i += count;
        }
        out
    }
    /// Whether no result reaches outside.
    fn is_inside(&self) -> bool {
        self.taps.is_empty()
            || self.count == 0
            || self.lowest() >= 0 && self.lowest() as usize + self.reach(self.count) <= self.size
    }
}

/// Results side by side that have the same taps inside the source: the first of them and the one behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub from: usize,
    pub count: usize,
    pub taps: (usize, usize),
}

/// Results that use the same taps.
#[derive(Clone, Debug)]
pub struct Window {
    pub dims: [Lattice; 3],
    pub batch: usize,
    pub groups: usize,
    /// Channels of one group.
    pub cin: usize,
    pub cout: usize,
    pub src: Strides,
    pub dst: Strides,
    /// Weights: `o` from one result channel to the next, `i` from one source channel to the next, `group` from group
    /// to group.
    pub filter: FilterStrides,
    pub group: isize,
    /// Taps of the kernel, of which the window may have some only.
    pub kernel: [usize; 3],
    /// Lanewise, if not 0: groups of so many channels share vectors; `groups` is 1 and `cin` all channels.
    pub lanewise: usize,
}

/// Whether every channel is a group of its own.
pub fn is_depthwise(p: &Problem) -> bool {
    p.groups > 1 && p.icg() == 1 && p.ocg() == 1
}

/// Channels of a group, if some groups share a vector: all of them (depthwise), or as many as come side by side in the image. 0
/// if not.
pub fn lanewise(p: &Problem, kit: &Kit) -> usize {
    let (group, lanes) = (p.icg(), kit.conv.lanes());
    let side_by_side = p.input_strides().c == 1 && group <= lanes && lanes.is_multiple_of(group);
    if p.groups > 1 && group == p.ocg() && (group == 1 || side_by_side) { group } else { 0 }
}

impl Window {
    pub fn forward(p: &Problem) -> Window {
        let lattice = |d: usize| {
            let taps = (0..p.kernel[d]).map(|k| ((k * p.dilation[d]) as isize - p.pad[d] as isize, k)).collect();
            Lattice::new(p.output[d], 0, 1, p.stride[d], taps, p.input[d])
        };
        let filter = p.filter_strides();
        Window {
            dims: [lattice(0), lattice(1), lattice(2)],
            batch: p.batch,
            groups: p.groups,
            cin: p.icg(),
            cout: p.ocg(),
            src: p.input_strides(),
            dst: p.output_strides(),
            filter,
            group: filter.o * p.ocg() as isize,
            kernel: p.kernel,
            lanewise: 0,
        }
    }

    /// Groups that share vectors become one group of all channels.
    pub fn folded(self, p: &Problem, kit: &Kit) -> Window {
        match lanewise(p, kit) {
            0 => self,
            lanewise => Window { lanewise, groups: 1, cin: p.ic, cout: p.ic, ..self },
        }
    }

    /// The phases of backward-data.
    pub fn backward(p: &Problem) -> Vec<Window> {
        let phases = |d: usize| -> Vec<Lattice> {
            let stride = p.stride[d];
            let phase = |a: usize| {
                let taps = (0..p.kernel[d]).filter_map(|k| {
                    let at = (a + p.pad[d]) as isize - (k * p.dilation[d]) as isize;
                    (at.rem_euclid(stride as isize) == 0).then(|| (at.div_euclid(stride as isize), k))
                });
                Lattice::new((p.input[d] - a).div_ceil(stride), a, stride, 1, taps.collect(), p.output[d])
            };
            (0..stride.min(p.input[d])).map(phase).collect()
        };
        let filter = p.filter_strides();
        let group = filter.o * p.ocg() as isize;
        let filter = FilterStrides { o: filter.i, i: filter.o, s: filter.s };
        let [depth, height, width] = [phases(0), phases(1), phases(2)];
        let mut windows = Vec::new();
        for d in &depth {
            for h in &height {
                for w in &width {
                    windows.push(Window {
                        dims: [d.clone(), h.clone(), w.clone()],
                        batch: p.batch,
                        groups: p.groups,
                        cin: p.ocg(),
                        cout: p.icg(),
                        src: p.output_strides(),
                        dst: p.input_strides(),
                        filter,
                        group,
                        kernel: p.kernel,
                        lanewise: 0,
                    });
                }
            }
        }
        windows
    }

    /// Elements of the window of one group.
    pub fn steps(&self) -> usize {
        self.dims.iter().map(|d| d.taps.len()).product::<usize>() * self.cin
    }
    pub fn results(&self) -> usize {
        self.batch * self.dims.iter().map(|d| d.count).product::<usize>()
    }
    /// Whether the source is read where it lies.
    pub fn is_in_place(&self) -> bool {
        self.src.c == 1 && (self.is_rows() || self.dims.iter().all(Lattice::is_inside))
    }
    /// Lanewise on images with their channels side by side: rows of pixels, taps that meet padding left out.
    fn is_rows(&self) -> bool {
        self.lanewise > 0 && self.src.c == 1 && self.dst.c == 1
    }
    /// Whether rows of it are read once for all taps (kernels/conv/lanewise.rs).
    pub fn slides(&self, kit: &Kit) -> bool {
        let three = |d: &Lattice| d.taps.len() == 3 && d.taps[2].0 - d.taps[0].0 == 2 && d.step == 1;
        let [z, y, x] = &self.dims;
        kit.conv.slides() && self.is_rows() && z.taps.len() == 1 && three(y) && three(x)
    }
    /// Whether channels are read in long runs rather than a pixel once for all taps that meet it: depthwise taps that share few pixels. (Zen
    /// 5, 16 images, GFLOPS of a loop alone that takes two vectors of channels and all taps of a row, and of one that takes four and a tap at
    /// a time: 256 channels at 28x28 to 14x14 67 and 76, 512 at 14x14 to 7x7 63 and 70. The phases of their backward-data, row by row, 77
    /// and 62, 74 and 67.)
    fn is_long(&self) -> bool {
        self.lanewise == 1 && self.dims[2].step == 2
    }
    /// Whether a copy is read in place of pixels that fall in the same sets of L1 (a way of it is a page): too few of them would
    /// stay there, and vectors that are less than a cache line fetch lines again. Depthwise, Zen 4, where they lie and copied: 1024
    /// channels at 7x7 28 and 33 GFLOPS, AVX2 17 and 27; 512 at 14x14 40 and 35, AVX2 26 and 28; few taps are not worth it. Windows
    /// that slide load a pixel once or twice: 1024 at 7x7 39 copied and row by row, 56 sliding where they lie.
    fn is_copied(&self, kit: &Kit) -> bool {
        let apart = if kit.conv.lanes() * size_of::<f32>() < 64 { 2048 } else { 4096 };
        self.lanewise == 1
            && self.taps() > 4
            && !self.slides(kit)
            && (self.src.s[2] as usize * size_of::<f32>()).is_multiple_of(apart)
    }
    /// Elements of packed weights.
    pub fn packed(&self, kit: &Kit) -> usize {
        if self.lanewise > 0 {
            return self.cin.div_ceil(kit.conv.lanes()) * self.lanewise_block(kit);
        }
        self.groups * self.cout.next_multiple_of(self.panel(kit)) * self.steps()
    }

    /// Output channels of a panel.
    fn panel(&self, kit: &Kit) -> usize {
        kit.conv.panel(self.cout)
    }
    fn taps(&self) -> usize {
        self.dims.iter().map(|d| d.taps.len()).product()
    }
    /// Elements from one vector's block of weights to the next: all taps of its channels.
    fn lanewise_block(&self, kit: &Kit) -> usize {
        self.taps() * self.lanewise * kit.conv.lanes()
    }

    /// The window's elements in order, as runs of consecutive ones at distances from a pixel; the pixels of the source
    /// are `s` apart and its channels side by side.
    fn segments(&self, s: [isize; 3]) -> Vec<Segment> {
        let mut out: Vec<Segment> = Vec::new();
        for z in &self.dims[0].taps {
            for y in &self.dims[1].taps {
                for x in &self.dims[2].taps {
                    let offset = z.0 * s[0] + y.0 * s[1] + x.0 * s[2];
                    match out.last_mut() {
                        Some(last) if last.offset + last.len as isize == offset => last.len += self.cin,
                        _ => out.push(Segment { offset, len: self.cin }),
                    }
                }
            }
        }
        out
    }

    /// Whether the weights of all steps, in the window's order, are equally far apart, and those of a step side by side.
    fn is_one_matrix(&self) -> bool {
        let whole = (0..3).all(|d| {
            let taps = &self.dims[d].taps;
            taps.len() == self.kernel[d] && taps.iter().enumerate().all(|(i, t)| t.1 == i)
        });
        let [_, h, w] = self.kernel.map(|n| n as isize);
        let s = self.filter.s;
        let even = s[2] == self.cin as isize * self.filter.i && s[1] == w * s[2] && s[0] == h * s[1];
        self.lanewise == 0 && self.filter.o == 1 && whole && even
    }

    /// Where the weights of a tap are.
    fn tap(&self, tap: usize) -> isize {
        let (x, rest) = (tap % self.dims[2].taps.len(), tap / self.dims[2].taps.len());
        let (y, z) = (rest % self.dims[1].taps.len(), rest / self.dims[1].taps.len());
        let index = [self.dims[0].taps[z].1, self.dims[1].taps[y].1, self.dims[2].taps[x].1];
        (0..3).map(|d| index[d] as isize * self.filter.s[d]).sum()
    }

    /// Where step `at` of a panel (counted over groups) is among the packed weights.
    fn place_of(&self, panel: usize, at: usize, mr: usize) -> usize {
        let (k, panels) = (self.steps(), self.cout.div_ceil(mr));
        let (group, first, piece) = (panel / panels, panel % panels * mr, piece(k));
        let within = at % piece;
        let start = at - within;
        group * panels * mr * k + start * panels * mr + first * piece.min(k - start) + within * mr
    }

    /// Whether the taps of a weight are side by side, and few enough to be packed together.
    fn has_taps_together(&self, kit: &Kit) -> bool {
        let all: usize = self.kernel.iter().product();
        let rows = [self.kernel[1] * self.kernel[2], self.kernel[2], 1].map(|n| n as isize);
        self.lanewise == 0 && all > 1 && all * self.panel(kit) <= TOGETHER && self.filter.s == rows
    }

    /// Packs one panel (counted over groups) of the weights of all windows of a pass, whose taps are side by side: some source channels
    /// at a time are transposed with all their taps, and each window takes its own.
    ///
    /// # Safety
    /// As [`Window::pack`]; `to` has room for the packed weights of all windows, one behind the other.
    unsafe fn pack_together(windows: &[Window], kit: &Kit, weights: *const f32, to: *mut f32, panel: usize) {
        let (w, mr) = (&windows[0], windows[0].panel(kit));
        let panels = w.cout.div_ceil(mr);
        let (group, first) = (panel / panels, panel % panels * mr);
        let lanes = mr.min(w.cout - first);
        let all: usize = w.kernel.iter().product();
        let most = TOGETHER / (all * mr);
        let mut together = [0.0f32; TOGETHER];
        let from = weights.wrapping_offset(group as isize * w.group + first as isize * w.filter.o);
        for first in (0..w.cin).step_by(most) {
            let some = most.min(w.cin - first);
            let src = from.wrapping_offset(first as isize * w.filter.i);
            // The source channels may be consecutive, too.
            let (joined, count) = if w.filter.i == all as isize { (some, 1) } else { (1, some) };
            for i in 0..count {
                let src = src.wrapping_offset(i as isize * w.filter.i);
                // SAFETY: weights of the panel's lanes; `most` source channels fit.
                unsafe {
                    let to = together.as_mut_ptr().add(i * all * mr);
                    kit.conv.to_last(lanes, joined * all, src, w.filter.o, 1, to, mr);
                }
            }
            let mut to = to;
            for w in windows {
                let piece = piece(w.steps());
                for tap in 0..w.taps() {
                    let (mut at, end) = (tap * w.cin + first, tap * w.cin + first + some);
                    let mut c = 0;
                    while at < end {
                        // Up to the end of the piece.
                        let run = (end - at).min(piece - at % piece);
                        // SAFETY: what was just transposed, to steps of the window's panel.
                        unsafe {
                            let one = together.as_ptr().offset(w.tap(tap) * mr as isize);
                            let to = to.add(w.place_of(panel, at, mr));
                            for i in 0..run {
                                core::ptr::copy_nonoverlapping(one.add((c + i) * all * mr), to.add(i * mr), mr);
                            }
                        }
                        at += run;
                        c += run;
                    }
                }
                to = to.wrapping_add(w.packed(kit));
            }
        }
    }

    /// Packs one panel (counted over groups) of the weights.
    ///
    /// # Safety
    /// `weights` is the tensor that `filter` describes; `to` has room for [`Window::packed`] elements.
    unsafe fn pack(&self, kit: &Kit, weights: *const f32, to: *mut f32, panel: usize) {
        debug_assert!(self.lanewise == 0);
        let mr = self.panel(kit);
        let panels = self.cout.div_ceil(mr);
        let (group, first) = (panel / panels, panel % panels * mr);
        let lanes = mr.min(self.cout - first);
        let piece = piece(self.steps());
        // SAFETY: steps of the panel in order, each from an element of the weights.
        unsafe {
            let from = weights.wrapping_offset(group as isize * self.group + first as isize * self.filter.o);
            let mut at = 0;
            for tap in 0..self.taps() {
                let offset = self.tap(tap);
                let mut c = 0;
                while c < self.cin {
                    // Up to the end of the tap or of the piece.
                    let some = (self.cin - c).min(piece - at % piece);
                    let src = from.wrapping_offset(offset + c as isize * self.filter.i);
                    let to = to.add(self.place_of(panel, at, mr));
                    kit.conv.pack(mr, lanes, some, src, self.filter.o, self.filter.i, to);
                    c += some;
                    at += some;
                }
            }
        }
    }
}

impl Window {
    /// Packs steps `start..start + k` of the weights of `lanes` result channels from `c` on, which is where a panel begins: panels of k steps,
    /// one behind the other.
    ///
    /// # Safety
    /// As [`Window::pack`], of a window of one group; `to` has room for the steps.
    unsafe fn pack_some(
        &self,
        kit: &Kit,
        weights: *const f32,
        to: *mut f32,
        (c, lanes): (usize, usize),
        (start, k): (usize, usize),
    ) {
        let mr = self.panel(kit);
        let from = weights.wrapping_offset(c as isize * self.filter.o);
        // SAFETY: steps in order, each from an element of the weights.
        unsafe {
            if self.is_one_matrix() {
                let from = from.wrapping_offset(start as isize * self.filter.i);
                return kit.conv.spread(mr, lanes, k, from, self.filter.i, to, k);
            }
            for first in (0..lanes).step_by(mr) {
                let mut at = start;
                while at < start + k {
                    let (tap, channel) = (at / self.cin, at % self.cin);
                    let some = (self.cin - channel).min(start + k - at);
                    let place = self.tap(tap) + channel as isize * self.filter.i + first as isize * self.filter.o;
                    let (src, to) = (from.wrapping_offset(place), to.add(first * k + (at - start) * mr));
                    kit.conv.pack(mr, mr.min(lanes - first), some, src, self.filter.o, self.filter.i, to);
                    at += some;
                }
            }
        }
    }

    /// Packs lanewise weights: a block for each vector of channels; lanes that are not there are zero.
    ///
    /// # Safety
    /// As [`Window::pack`].
    unsafe fn pack_lanewise(&self, kit: &Kit, weights: *const f32, to: *mut f32) {
        let (lanes, block, group) = (kit.conv.lanes(), self.lanewise_block(kit), self.lanewise);
        let taps: Vec<isize> = (0..self.taps()).map(|tap| self.tap(tap)).collect();
        // Channels side by side: a vector at a time, as far as they fill one.
        let whole = if (group, self.group) == (1, 1) { self.cin / lanes } else { 0 };
        for i in 0..whole {
            for (tap, &from) in taps.iter().enumerate() {
                // SAFETY: weights, and their place in their block.
                unsafe {
                    let from = weights.offset(from).add(i * lanes);
                    core::ptr::copy_nonoverlapping(from, to.add(i * block + tap * lanes), lanes);
                }
            }
        }
        for c in whole * lanes..self.cin.next_multiple_of(lanes) {
            let (mut place, there) = (c / lanes * block + c % lanes, c < self.cin);
            let first = (c / group) as isize * self.group + (c % group) as isize * self.filter.o;
            for &tap in &taps {
                for i in 0..group as isize {
                    // SAFETY: a weight, and its place in its block.
                    unsafe {
                        let weight = weights.wrapping_offset(first + tap + i * self.filter.i);
                        *to.add(place) = if there { *weight } else { 0.0 };
                    }
                    place += lanes;
                }
            }
        }
    }

    /// The runs of some planes of taps, numbered in the order of the window's.
    fn runs(&self, planes: (usize, usize), s: isize, out: &mut Vec<TapRun>) {
        let [_, h, w] = self.dims.each_ref().map(|d| d.taps.len());
        runs(&self.dims, planes, s, |[z, y, x]| (z * h + y) * w + x, out);
    }
}

/// The taps in a range of planes, of a source whose planes are `s` apart, as runs; `number` is that of a tap by its places in the
/// lattices.
pub fn runs(
    dims: &[Lattice; 3],
    planes: (usize, usize),
    s: isize,
    number: impl Fn([usize; 3]) -> usize,
    out: &mut Vec<TapRun>,
) {
    out.clear();
    let most = if dims[2].step > 2 { 1 } else { RUN };
    for z in planes.0..planes.1 {
        for (y, &(row, _)) in dims[1].taps.iter().enumerate() {
            let src = dims[0].taps[z].0 * s;
            for (x, &(column, _)) in dims[2].taps.iter().enumerate() {
                match out.last_mut() {
                    Some(run) if x > 0 && run.len < most && run.column + run.len as isize == column => run.len += 1,
                    _ => out.push(TapRun { src, row, column, len: 1, first: number([z, y, x]) }),
                }
            }
            // Where results are two columns apart, runs are whole or of one tap.
            if let Some(&run) = out.last().filter(|run| dims[2].step == 2 && run.len == 2) {
                out.pop();
                out.extend([0, 1].map(|i| TapRun {
                    column: run.column + i,
                    len: 1,
                    first: run.first + i as usize,
                    ..run
                }));
            }
        }
    }
}

impl Window {
    /// Results of a block that are the window's.
    fn len(&self, from: [usize; 4], block: [usize; 4]) -> [usize; 4] {
        let counts = [self.batch, self.dims[0].count, self.dims[1].count, self.dims[2].count];
        [0, 1, 2, 3].map(|d| block[d].min(counts[d].saturating_sub(from[d])))
    }
    /// Elements of a dimension of the source that `count` results with such taps reach over.
    fn reach(&self, taps: [(isize, isize); 3], dim: usize, count: usize) -> usize {
        (count - 1) * self.dims[dim].step + (taps[dim].1 - taps[dim].0) as usize + 1
    }
    /// The part of the source that a block of results reaches over.
    fn extent(&self, from: [usize; 4], len: [usize; 4]) -> Extent {
        Extent {
            from: [0, 1, 2].map(|d| (from[d + 1] * self.dims[d].step) as isize + self.dims[d].lowest()),
            len: [0, 1, 2].map(|d| self.dims[d].reach(len[d + 1])),
        }
    }
    /// Whether the last cache does not hold a batch of images that are n elements apart.
    fn is_far(&self, n: isize, kit: &Kit) -> bool {
        self.batch * n.unsigned_abs() * size_of::<f32>() > kit.far
    }
    /// Where result i of a dimension is.
    fn place(&self, dim: usize, i: usize) -> isize {
        (self.dims[dim].from + i * self.dims[dim].every) as isize * self.dst.s[dim]
    }
}

/// Most steps of a piece of a window: with fewer, results are read and written too often; with more, a panel
/// leaves the cache.
const PIECE: usize = 640;

/// Elements of the weights of a lanewise pass over some pixels: they stay near. Long runs of channels are what memory likes.
const ROW_WEIGHTS: usize = 4608;
/// Channels of a copy of pixels that would push each other out of L1.
const COPIED: usize = 64;

/// Channels of groups that share a task: as many as make a pixel's part of a strip a few cache lines.
pub const GROUPED: usize = 64;

/// Elements of a panel that are transposed together.
const TOGETHER: usize = 8192;

/// Steps of each piece of a window.
fn piece(steps: usize) -> usize {
    blocking::kc(steps, PIECE).max(1)
}

/// How the windows of a pass are cut for so many threads. Results do not depend on it.
#[derive(Clone, Debug)]
pub struct Cut {
    /// Images, and results in each dimension, of a block: those of the first phase, which has the most.
    block: [usize; 4],
    blocks: [usize; 4],
    /// Output channels of a task, and of a pass over the pixels.
    part: usize,
    chunk: usize,
    /// Groups of a task, which share a strip; more than one only if a chunk is all of a group's channels.
    together: usize,
    strip: usize,
    pixels: usize,
    in_place: bool,
    /// The lowest and the highest tap of any phase, in each dimension.
    taps: [(isize, isize); 3],
    /// Phases of a row. Their results are collected together, and go to where they belong as one.
    phases: usize,
    /// Elements of the weights that a pass over the pixels packs for itself; 0 if it is given all of them.
    own: usize,
}

/// Results of a block at most; of all phases of a row, if they are collected.
const PIXELS: usize = 768;
/// The same where windows slide: no address is kept of any, and the more rows, the fewer are read twice.
const SLID: usize = 2048;

impl Cut {
    /// `in_turn`: weights are packed as they are used.
    pub fn new(windows: &[Window], kit: &Kit, threads: usize, in_turn: bool) -> Cut {
        let w = &windows[0];
        let counts = [w.batch, w.dims[0].count, w.dims[1].count, w.dims[2].count];
        let in_place = windows.iter().all(|w| w.is_in_place() || w.steps() == 0);
        let of_row = |v: &&Window| v.dims[0].from == w.dims[0].from && v.dims[1].from == w.dims[1].from;
        let phases = windows.iter().take_while(of_row).count();
        let taps = [0, 1, 2].map(|d| {
            let all = || windows.iter().flat_map(|w| &w.dims[d].taps).map(|tap| tap.0);
            (all().min().unwrap_or(0), all().max().unwrap_or(0))
        });
        let nr = kit.conv.nr();
        let most = if w.slides(kit) {
            SLID
        } else if w.dst.c == 1 {
            PIXELS
        } else {
            PIXELS / phases
        };
        let enough = if in_turn { most } else { w.results().div_ceil(4 * threads).max(8 * nr).min(most).max(1) };
        let together = (GROUPED / w.cin.max(w.cout)).clamp(1, w.groups);
        let size = |b: [usize; 4]| -> usize {
            (0..3).map(|d| w.reach(taps, d, b[d + 1])).product::<usize>() * b[0] * w.cin * together
        };
        // What is read where it lies needs no room. Rows that are read for each of some phases should stay near, or those below a
        // sliding tile until it comes to them; a window alone needs the few rows that it meets.
        let strip = |b: [usize; 4]| match () {
            () if w.is_rows() && windows.iter().any(|w| w.is_copied(kit)) => size(b) / b[0] / w.cin * COPIED,
            () if in_place => 0,
            () => size(b),
        };
        let times = match () {
            () if w.slides(kit) => 3,
            () if windows.len() > 1 => 4,
            () => 1,
        };
        let near = |b: [usize; 4]| if w.is_rows() { times * size(b) } else { strip(b) };
        let block = strip::block(counts, enough, near);
        let blocks = [0, 1, 2, 3].map(|d| counts[d].div_ceil(block[d]));
        let tasks = blocks.iter().product::<usize>() * w.groups.div_ceil(together);
        let mr = if w.lanewise > 0 { kit.conv.lanes() } else { w.panel(kit) };
        let parts = if tasks == 0 { 1 } else { (3 * threads).div_ceil(tasks) };
        let parts = if threads == 1 || together > 1 { 1 } else { parts.min(w.cout.div_ceil(mr)) };
        let part = w.cout.div_ceil(parts).next_multiple_of(mr);
        let longest = windows.iter().map(|w| piece(w.steps())).max().unwrap_or(1);
        // Besides weights that are packed in turn, those that they are packed from and the pixels pass through L2.
        let fits = cpu::caches().l2 / if in_turn { 4 } else { 2 } / (4 * longest);
        let chunk = (fits / mr * mr).clamp(mr, part);
        // Chunks of even size.
        let chunk = part.div_ceil(part.div_ceil(chunk)).next_multiple_of(mr);
        let chunk = if w.lanewise > 0 || together > 1 { part } else { chunk };
        let (strip, pixels) = (strip(block), block.iter().product());
        let own = if in_turn { chunk * longest } else { 0 };
        Cut { block, blocks, part, chunk, together, strip, pixels, in_place, taps, phases, own }
    }
    /// Whether lanewise phases take turns row by row, as memory has their results: those of planes that are read where they lie, unless
    /// results are far: then they are stored past the caches, which settle after each part. (Zen 5, a loop alone, phases of four rows and of one: 256 channels at 28x28 to 14x14 63 and 77 GFLOPS, 512 at 14x14 to 7x7 62 and 74.)
    fn is_in_turn(&self, windows: &[Window], kit: &Kit) -> bool {
        let flat =
            |w: &Window| self.block[1] == 1 && w.dims[0].every == 1 && !w.is_copied(kit) && !w.is_far(w.dst.n, kit);
        windows.len() > 1 && windows.iter().all(flat)
    }
    fn tasks(&self, w: &Window) -> usize {
        self.blocks.iter().product::<usize>() * w.groups.div_ceil(self.together) * w.cout.div_ceil(self.part)
    }
    /// Elements from one pixel's results to the next's, where they are collected.
    fn pitch(&self, w: &Window) -> usize {
        if self.together > 1 { self.together * w.cout } else { self.chunk }
    }
    /// Elements of collected results.
    fn temporary(&self, w: &Window) -> usize {
        if w.dst.c == 1 { 0 } else { self.pixels * self.phases * self.pitch(w) }
    }
    /// Bytes that a thread needs.
    pub fn each(&self, w: &Window) -> usize {
        2 * bytes::<isize>(self.pixels)
            + bytes::<f32>(self.strip)
            + bytes::<f32>(self.temporary(w))
            + bytes::<f32>(self.own)
    }
}

/// The windows of a pass with all that does not depend on the data.
pub struct Direct {
    windows: Vec<Window>,
    /// Whether weights that are not packed are so as they are used: never all of them are there.
    in_turn: bool,
}

impl Direct {
    pub fn new(windows: Vec<Window>, kit: &Kit) -> Direct {
        let w = &windows[0];
        let suits = w.lanewise == 0 && w.groups == 1 && !w.has_taps_together(kit);
        let large = windows.iter().map(|w| w.packed(kit)).sum::<usize>() * size_of::<f32>() > cpu::caches().l2 / 2;
        // Once, by the only block there is.
        let in_turn = suits && large && Cut::new(&windows, kit, 1, true).blocks == [1; 4];
        Direct { windows, in_turn }
    }
    /// Whether a call whose weights no plan keeps has no need of [`Direct::pack`].
    pub fn is_in_turn(&self) -> bool {
        self.in_turn
    }
    /// Elements of packed weights.
    pub fn packed(&self, kit: &Kit) -> usize {
        self.windows.iter().map(|w| w.packed(kit)).sum()
    }
    /// Memory besides the packed weights.
    pub fn room(&self, kit: &Kit, threads: usize, kept: bool) -> Room {
        let cut = Cut::new(&self.windows, kit, threads, self.in_turn && !kept);
        Room { shared: 0, each: cut.each(&self.windows[0]) }
    }
    pub fn is_in_place(&self) -> bool {
        self.windows.iter().all(Window::is_in_place)
    }
    pub fn phases(&self) -> usize {
        self.windows.len()
    }

    /// Packs the weights.
    ///
    /// # Safety
    /// The tensor of the problem; `to` has room for [`Direct::packed`] elements.
    pub unsafe fn pack(&self, kit: &Kit, weights: *const f32, to: *mut f32, threads: usize) {
        let w = &self.windows[0];
        if w.has_taps_together(kit) {
            let (from, dst) = (Shared(weights.cast_mut()), Shared(to));
            pool::run(w.groups * w.cout.div_ceil(w.panel(kit)), threads, &|panel| {
                // SAFETY: each task has its panel of every window.
                unsafe { Window::pack_together(&self.windows, kit, from.get(), dst.get(), panel) }
            });
            return;
        }
        let mut at = to;
        for w in &self.windows {
            if w.lanewise > 0 {
                // SAFETY: this function's contract.
                unsafe { w.pack_lanewise(kit, weights, at) };
            } else if w.steps() > 0 && w.is_one_matrix() {
                let (k, piece) = (w.steps(), piece(w.steps()));
                let (pieces, mr) = (k.div_ceil(piece), w.panel(kit));
                let rows = w.cout.next_multiple_of(mr);
                let (from, dst) = (Shared(weights.cast_mut()), Shared(at));
                pool::run(w.groups * pieces, threads, &|task| {
                    let (group, start) = (task / pieces, task % pieces * piece);
                    let src = from.get().wrapping_offset(group as isize * w.group + start as isize * w.filter.i);
                    let to = dst.get().wrapping_add((group * k + start) * rows);
                    let len = piece.min(k - start);
                    // SAFETY: each task has its piece, all panels of it.
                    unsafe { kit.conv.spread(mr, w.cout, len, src, w.filter.i, to, len) }
                });
            } else if w.steps() > 0 {
                let panels = w.groups * w.cout.div_ceil(w.panel(kit));
                let (from, dst) = (Shared(weights.cast_mut()), Shared(at));
                pool::run(panels, threads, &|panel| {
                    // SAFETY: each task has its panel.
                    unsafe { w.pack(kit, from.get(), dst.get(), panel) }
                });
            }
            at = at.wrapping_add(w.packed(kit));
        }
    }

    /// Computes all results from packed weights, or from those of the problem if they are packed in turn.
    ///
    /// # Safety
    /// `src` and `dst` are the tensors of the problem, which do not overlap; weights that are kept were packed by this plan.
    pub unsafe fn run(
        &self,
        kit: &Kit,
        (packed, kept): (*const f32, bool),
        src: *const f32,
        dst: *mut f32,
        epilogue: &Epilogue,
        memory: &Memory,
        threads: usize,
    ) {
        // All phases of a block together: they read the same rows, and write to the same ones.
        let cut = Cut::new(&self.windows, kit, threads, self.in_turn && !kept);
        let (from, weights, to) = (Shared(src.cast_mut()), Shared(packed.cast_mut()), Shared(dst));
        let (bias, beta, activation) = (Shared(epilogue.bias.cast_mut()), epilogue.beta, epilogue.activation);
        pool::run_neighbours(cut.tasks(&self.windows[0]), threads.min(memory.threads()), &|index| {
            let task = Task { windows: &self.windows, cut: &cut, kit, memory, index };
            let epilogue = Epilogue { beta, bias: bias.get(), activation };
            // SAFETY: tasks have their own results.
            unsafe { task.run(from.get(), weights.get(), to.get(), &epilogue) }
        });
    }
}
