//! Backward-weights by direct sums: a product of the result's gradient with pieces of the image, over all pixels.
//!
//! ```text
//! dW[lane][o] = sum over pixels p of dy[p][o] * x[p + tap][i]        lane = (tap, i)
//!
//! chunk of the pixels (partial sums of its own)
//!   block of pixels                          pack dy; fill the strip of x
//!     lanes in groups                        gather the strip into panels
//!       lanes in nr, output channels in mr   register tile: kernels/tile.rs
//! ```
//! Of images with few channels nothing is gathered: windows are read from the strip (kernels/conv/windows.rs).
//! Of 1x1 kernels on channels-first images with many pixels nothing is packed: the sums are dot products of channels, as
//! they lie (kernels/conv/planes.rs). Where the weights lie as the sums do, those of the first chunk are made there,
//! without a copy. Depthwise weights, and those of groups that share vectors, are sums lane by lane (kernels/conv/lanewise.rs).
//!
//! The sum is cut in blocks and chunks that depend on the problem alone; threads share output channels, lanes and chunks,
//! never a sum. Partial sums are added in an order that depends on their number alone: the same bits for any number of
//! threads, and an error that grows with the length of a block rather than with the number of all pixels.

use super::Kit;
use super::bias::{self, Bias, Totals};
use super::direct::{GROUPED, Lattice, Stretch, Window, lanewise, runs};
use super::memory::{Memory, Room, Shared, bytes};
use super::problem::{FilterStrides, Problem, Strides};
use super::strip::{self, Extent};
use crate::gemm::{blocking, driver};
use crate::kernels::conv::{LONG, LaneRows, LanewiseSums, PlaneSums, Segment, WindowSums};
use crate::kernels::tile::{Source, prefetch};
use crate::runtime::{cpu, pool};

/// Pixels of a block at most: the steps for which the register tile was measured.
const BLOCK: usize = 384;
/// Pixels of an image from which on channels are multiplied as they lie, and those of a block: with fewer, adding up the
/// lanes of a vector takes too long; with more, the channels of a register tile leave L1.
const PLANE: usize = 512;
const PLANE_BLOCK: usize = 784;
/// Accumulators of a tile from which on that is faster. (512 channels to 128 at 28x28, packed and as they lie: AVX-512, 24 of them,
/// 78 and 89 GFLOPS; AVX2, 12 of them, 91 and 46.)
const PLANE_TILE: usize = 24;
/// Lanes that are gathered at a time.
const LANES: usize = 384;
/// Bytes of partial sums beyond the first.
const PARTIAL: usize = 4 << 20;
const MOST_CHUNKS: usize = 16;
/// Output channels, and input channels, of which weights are stored at a time.
const STORED: usize = 32;
/// Elements of a cache line.
const LINE: usize = 64 / size_of::<f32>();
/// Pixels of a block at most of windows that slide.
const LANE_BLOCK: usize = 2048;
/// Lanewise sums of a block of pixels that are made at a time.
const LANE_SUMS: usize = 1152;
/// The same where channels are read in long runs.
const LONG_SUMS: usize = 4608;
/// Channels of an image whose windows are read by address, and of the result, at most: of more, panels that are gathered once serve as well
/// (16 channels to 128 at 56x56, 5x5, gathered and so: 197 and 203 GFLOPS). Pixels of a block: their gradients stay near while the rows of
/// the window pass.
const FEW: usize = 16;
const FEW_RESULTS: usize = 128;
const FEW_BLOCK: usize = 256;
/// Work of a chunk at least; of lanewise sums, pixels for each of them.
const CHUNK_WORK: f64 = 2e8;
const CHUNK_PIXELS: usize = 16;

/// The problem, cut.
pub struct Gradient {
    p: Problem,
    /// Channels of a group if groups share vectors, else 0: as in [`Window::lanewise`].
    lanewise: usize,
    x: Strides,
    dy: Strides,
    /// Weights, and elements from one group's to the next's.
    filter: FilterStrides,
    group: isize,
    /// One tap that meets every pixel: image and gradient may exchange their parts, and do if the weights' input channels
    /// lie side by side.
    exchanged: bool,
    /// The weights lie as the sums do: those of the first chunk are made there.
    direct: bool,
    /// Of one group (of all, if lanewise).
    icg: usize,
    ocg: usize,
    groups: usize,
    taps: Vec<[usize; 3]>,
    /// (tap, input channel) pairs.
    lanes: usize,
    /// Elements from one lane's sums to the next.
    pitch: usize,
    block: [usize; 4],
    blocks: [usize; 4],
    chunks: usize,
    strip: usize,
    /// Groups that share a strip.
    together: usize,
    in_place: bool,
    /// Whether windows slide (kernels/conv/lanewise.rs).
    slides: bool,
    /// Results and taps in each dimension, as the forward pass has them.
    dims: [Lattice; 3],
    /// One tap that meets every pixel of a channels-first image: panels are made of it as it lies.
    flat: bool,
    /// One that does, of images with enough pixels: the sums are dot products of channels, both as they lie.
    planes: bool,
    /// Few channels: windows are read by address (kernels/conv/windows.rs).
    windows: bool,
    /// One tap that meets every pixel of a channels-last image: the sums are a product of two matrices.
    plain: bool,
}

/// Whether so many places, in order, are `step` apart each.
///
/// # Safety
/// There are so many.
unsafe fn even(places: *const isize, count: usize, step: isize) -> bool {
    // SAFETY: as this function's. None is less than a step behind the one before.
    unsafe { *places.add(count - 1) - *places == (count as isize - 1) * step }
}

/// Output channels whose panels of so many pixels stay in L2.
fn rows_at_a_time(pixels: usize, mr: usize) -> usize {
    (cpu::caches().l2 / 2 / (size_of::<f32>() * pixels) / mr * mr).max(mr)
}

impl Gradient {
    pub fn new(p: &Problem, kit: &Kit) -> Gradient {
        let lanewise = lanewise(p, kit);
        let (mut icg, mut ocg, groups) = if lanewise > 0 { (p.ic, p.oc, 1) } else { (p.icg(), p.ocg(), p.groups) };
        let mut taps = Vec::new();
        for z in 0..p.kernel[0] {
            for y in 0..p.kernel[1] {
                for x in 0..p.kernel[2] {
                    taps.push([z, y, x]);
                }
            }
        }
        let reach = |d: usize, n: usize| (n - 1) * p.stride[d] + (p.kernel[d] - 1) * p.dilation[d] + 1;
        let inside = |d: usize| p.pad[d] == 0 && (p.output[d] == 0 || reach(d, p.output[d]) <= p.input[d]);
        let (mut x, mut dy, mut filter) = (p.input_strides(), p.output_strides(), p.filter_strides());
        let group = filter.o * ocg as isize;
        let every = taps.len() == 1 && p.pad == [0; 3] && p.stride == [1; 3] && p.input == p.output;
        let exchanged = lanewise == 0 && every && filter.i == 1 && filter.o != 1;
        if exchanged {
            (x, dy, icg, ocg) = (dy, x, ocg, icg);
            (filter.o, filter.i) = (filter.i, filter.o);
        }
        let in_place = x.c == 1 && (lanewise > 0 || (0..3).all(inside));
        let flat = lanewise == 0 && x.c != 1 && every;
        let plain = lanewise == 0 && every && x.c == 1 && dy.c == 1;
        let in_place = in_place || flat;
        let windows = lanewise == 0 && groups == 1 && taps.len() > 1 && p.dilation[2] == 1;
        let windows = windows && icg <= FEW && ocg <= FEW_RESULTS;
        let counts = [p.batch, p.output[0], p.output[1], p.output[2]];
        let together = (GROUPED / icg.max(ocg)).clamp(1, groups);
        let size = |b: [usize; 4]| -> usize {
            let pixels = (0..3).map(|d| reach(d, b[d + 1])).product::<usize>() * b[0];
            if in_place { 0 } else { pixels * icg * together }
        };
        let accumulators = kit.conv.mr() / kit.conv.lanes() * kit.conv.nr();
        let planes = flat && dy.c != 1 && p.output.iter().product::<usize>() >= PLANE && accumulators >= PLANE_TILE;
        let slides = Window::forward(p).folded(p, kit).slides(kit);
        let most = match () {
            () if planes => PLANE_BLOCK,
            () if slides => LANE_BLOCK,
            () if windows => FEW_BLOCK,
            () => BLOCK.min(kit.gemm.kc()),
        };
        // A block of both tensors and what is asked for of the next are in L2.
        let near = |b: [usize; 4]| {
            let pixels = b.iter().product::<usize>();
            4 * pixels * p.ic
        };
        let block = strip::block(counts, most, |b| size(b).max(if slides { near(b) } else { 0 }));
        let blocks = [0, 1, 2, 3].map(|d| counts[d].div_ceil(block[d]));
        let lanes = taps.len() * if lanewise > 0 { lanewise } else { icg };
        let [_, h, w] = p.kernel.map(|n| n as isize);
        let next = icg as isize * filter.i;
        let even = taps.len() == 1 || filter.s[2] == next && filter.s[1] == w * next && filter.s[0] == h * w * next;
        let direct = lanewise == 0 && groups == 1 && filter.o == 1 && filter.i == ocg as isize && even;
        let direct = direct && !counts.contains(&0) && (!windows || ocg.is_multiple_of(kit.conv.lanes()));
        let pitch = if direct { ocg } else { ocg.next_multiple_of(kit.conv.lanes()) };
        let one = groups * lanes * pitch * size_of::<f32>();
        let pixels: usize = counts.iter().product();
        let chunks = if lanewise > 0 { pixels / (CHUNK_PIXELS * lanes) } else { (p.flops() / CHUNK_WORK) as usize };
        let chunks = chunks.min(1 + PARTIAL / one.max(1)).min(blocks.iter().product());
        // A power of two: mostly as many for each thread.
        let chunks = 1 << chunks.clamp(1, MOST_CHUNKS).ilog2();
        let strip = size(block);
        Gradient {
            p: *p,
            lanewise,
            x,
            dy,
            filter,
            group,
            exchanged,
            direct,
            icg,
            ocg,
            groups,
            taps,
            lanes,
            pitch,
            block,
            blocks,
            chunks,
            strip,
            together,
            in_place,
            slides,
            dims: Window::forward(p).dims,
            flat,
            planes,
            windows,
            plain,
        }
    }

    /// Elements of all sums of a chunk.
    pub fn sums(&self) -> usize {
        self.groups * self.lanes * self.pitch
    }
    pub fn chunks(&self) -> usize {
        self.chunks
    }
    /// How threads share a chunk: parts of the groups, output channels and lanes of a task.
    fn share(&self, kit: &Kit, threads: usize) -> (usize, usize, usize) {
        // Chunks first: they share nothing. Then output channels and lanes.
        let wanted = (2 * threads).div_ceil(self.chunks);
        // Groups of a block one after the other, where there are enough tasks: they share cache lines.
        let shares = if threads == 1 { 1 } else { wanted.min(self.groups) };
        let wanted = wanted.div_ceil(shares);
        let (mr, nr) = (kit.conv.mr(), kit.conv.nr());
        let (rows, cols) = if threads == 1 || wanted <= 1 {
            (1, 1)
        } else if self.lanewise > 0 {
            (wanted.min(self.ocg.div_ceil(self.unit(kit))), 1)
        } else {
            blocking::grid(wanted, self.ocg, self.lanes, mr, nr)
        };
        let mt = self.ocg.div_ceil(rows).next_multiple_of(if self.lanewise > 0 { self.unit(kit) } else { mr });
        let nt = if self.lanewise > 0 { self.lanes } else { self.lanes.div_ceil(cols).next_multiple_of(nr) };
        (shares, mt, nt)
    }
    /// Elements of what is made of the image for so many pixels: panels, or lanewise sums.
    fn gathered(&self, kit: &Kit, pixels: usize) -> usize {
        match () {
            () if self.planes => 0,
            () if self.lanewise > 0 => (self.lanes + 1) * self.together_channels(kit),
            () => (LANES + kit.conv.nr()) * pixels + 16,
        }
    }
    /// Channels whose lanewise sums are made at a time: they stay in L1 (as many as have LANE_SUMS of them).
    fn together_channels(&self, kit: &Kit) -> usize {
        let (most, unit) = if self.is_long(kit) { (LONG_SUMS, self.unit(kit)) } else { (LANE_SUMS, kit.conv.lanes()) };
        (most / self.lanes.max(1) / unit * unit).max(unit)
    }
    /// Channels between which threads may cut lanewise sums. Those of a long run are added in another order than the few behind the last
    /// one: where the runs begin must not depend on the cut.
    fn unit(&self, kit: &Kit) -> usize {
        if self.is_long(kit) { LONG * kit.conv.lanes() } else { kit.conv.mr() }
    }
    /// Whether channels are read in long runs, where there are registers for them: depthwise windows that share few pixels, where they lie.
    fn is_long(&self, kit: &Kit) -> bool {
        kit.conv.slides() && self.lanewise == 1 && self.in_place && self.p.stride[2] == 2
    }
    pub fn room(&self, kit: &Kit, threads: usize) -> Room {
        let pixels: usize = self.block.iter().product();
        let (_, mt, _) = self.share(kit, threads);
        let width = kit.conv.mr().max(kit.conv.lanes());
        let each = 2 * bytes::<isize>(pixels)
            + bytes::<f32>(self.strip)
            + bytes::<f32>(if self.planes { 0 } else { mt.next_multiple_of(width) * pixels })
            + bytes::<f32>(self.gathered(kit, pixels));
        let each = each.max(bytes::<f32>(STORED * STORED * self.taps.len()));
        Totals::behind(Room { shared: self.all_sums(), each }, self.p.oc, self.chunks)
    }
    /// Bytes of the sums of all chunks that have no other place.
    fn all_sums(&self) -> usize {
        bytes::<f32>(self.sums() * (self.chunks - self.direct as usize))
    }

    /// `dw := sums + beta dw`, and the same for the bias, if there is one.
    ///
    /// # Safety
    /// The tensors of the problem; `dw` and the bias overlap neither of the others.
    pub unsafe fn run(
        &self,
        kit: &Kit,
        x: *const f32,
        dy: *const f32,
        dw: *mut f32,
        beta: f32,
        bias: Option<Bias>,
        memory: &Memory,
        threads: usize,
    ) {
        let (shares, mt, nt) = self.share(kit, threads);
        let threads = threads.min(memory.threads());
        let (rows, cols) = (self.ocg.div_ceil(mt), self.lanes.div_ceil(nt));
        let (x, dy) = if self.exchanged { (dy, x) } else { (x, dy) };
        let (x, dy, sums) = (Shared(x.cast_mut()), Shared(dy.cast_mut()), Shared(memory.shared::<f32>()));
        // The sums of the first chunk, and the others' behind.
        let (one, others) =
            if self.direct { (Shared(dw), sums) } else { (sums, Shared(sums.get().wrapping_add(self.sums()))) };
        let start = if self.direct { beta } else { 0.0 };
        let totals = memory.shared::<u8>().wrapping_add(self.all_sums());
        let totals = Totals::new(totals, self.p.oc, bias.is_some());
        // Chunks of a part are neighbours: where a chunk has several parts, threads read its pixels at the same time.
        pool::run_neighbours(rows * cols * shares * self.chunks, threads, &|task| {
            let (chunk, rest) = (task % self.chunks, task / self.chunks);
            let (row, rest) = (rest % rows, rest / rows);
            let (col, share) = (rest % cols, rest / cols);
            let part = Part {
                groups: (share * self.groups / shares, (share + 1) * self.groups / shares),
                chunk,
                o: row * mt,
                m: mt.min(self.ocg - row * mt),
                l: col * nt,
                n: nt.min(self.lanes - col * nt),
            };
            let sums = if chunk == 0 { one.get() } else { others.get().wrapping_add((chunk - 1) * self.sums()) };
            let start = if chunk == 0 { start } else { 0.0 };
            // SAFETY: each task has its own sums.
            unsafe { self.part(kit, &part, mt, x.get(), dy.get(), sums, start, &totals, memory) }
        });
        if let Some(bias) = bias {
            // SAFETY: all parts of them are there.
            unsafe { totals.finish(self.chunks, bias) };
        }
        // The chunks' sums to the first one's, then to where the caller wants them.
        const PIECE: usize = 4096;
        let all = self.sums();
        pool::run_neighbours(if self.chunks > 1 { all.div_ceil(PIECE) } else { 0 }, threads, &|task| {
            let (from, to) = (others.get().wrapping_add(task * PIECE), one.get().wrapping_add(task * PIECE));
            let count = PIECE.min(all - task * PIECE);
            // SAFETY: each task has its own piece of all chunks.
            unsafe { kit.conv.add_rows(count, self.chunks - 1, from, all as isize, to) }
        });
        if self.direct {
            return;
        }
        let dw = Shared(dw);
        let strips = self.ocg.div_ceil(STORED);
        pool::run_neighbours(self.groups * strips, threads, &|task| {
            let (group, o) = (task / strips, task % strips * STORED);
            // SAFETY: each task has its own weights.
            unsafe { self.store(kit, group, o, STORED.min(self.ocg - o), sums.get(), dw.get(), beta, memory) }
        });
    }

    /// One task: some output channels and lanes of a group, over the blocks of a chunk; `sums` are the chunk's, to which
    /// the first block's are added, `start` times what is there.
    unsafe fn part(
        &self,
        kit: &Kit,
        part: &Part,
        mt: usize,
        x: *const f32,
        dy: *const f32,
        sums: *mut f32,
        start: f32,
        totals: &Totals,
        memory: &Memory,
    ) {
        let &Part { groups, chunk, o, m, l, n } = part;
        let (mr, nr) = (kit.conv.mr(), kit.conv.nr());
        let all: usize = self.blocks.iter().product();
        let (first, end) = (chunk * all / self.chunks, (chunk + 1) * all / self.chunks);
        let mut slot = memory.slot();
        let most: usize = self.block.iter().product();
        let (at, places) = (slot.take::<isize>(most), slot.take::<isize>(most));
        let strip = slot.take::<f32>(self.strip);
        let a = slot.take::<f32>(if self.planes { 0 } else { mt.next_multiple_of(mr.max(kit.conv.lanes())) * most });
        let b = slot.take::<f32>(self.gathered(kit, most));
        let p = &self.p;
        let (all_x, all_dy) = (x, dy);
        let sums_of = |group: usize| {
            let base = sums.wrapping_add(group * self.lanes * self.pitch);
            base.wrapping_add(l * self.pitch + o)
        };
        // Channels of the result's gradient, of a group: their sums are those of the first of the tasks that have them.
        let (side, o_first, o_count) = if self.exchanged { (&self.x, l, n) } else { (&self.dy, o, m) };
        let sums_up = totals.wanted() && (if self.exchanged { o } else { l }) == 0;
        let of_group = p.oc / self.groups;
        let mut offsets = Vec::with_capacity(n);
        let mut segments: Vec<Segment> = Vec::new();
        let counts = [p.batch, p.output[0], p.output[1], p.output[2]];
        // SAFETY: pixels of the problem; the slot has room for a block.
        unsafe {
            for group in if self.lanewise > 0 || first == end { groups.0..groups.1 } else { 0..0 } {
                for lane in 0..n {
                    sums_of(group).add(lane * self.pitch).write_bytes(0, m);
                }
            }
            for group in if sums_up { groups.0..groups.1 } else { 0..0 } {
                totals.begin(chunk, group * of_group + o_first, o_count);
            }
            for number in first..end {
                let (mut from, mut len, mut rest) = ([0; 4], [0; 4], number);
                for d in [3, 2, 1, 0] {
                    from[d] = rest % self.blocks[d] * self.block[d];
                    len[d] = self.block[d].min(counts[d] - from[d]);
                    rest /= self.blocks[d];
                }
                let pixels: usize = len.iter().product();
                let extent = Extent {
                    from: [0, 1, 2].map(|d| (from[d + 1] * p.stride[d]) as isize - p.pad[d] as isize),
                    len: [0, 1, 2].map(|d| (len[d + 1] - 1) * p.stride[d] + (p.kernel[d] - 1) * p.dilation[d] + 1),
                };
                let c = (self.icg * self.together) as isize;
                let (s, n_stride, origin) = if self.in_place {
                    (self.x.s, self.x.n, from)
                } else {
                    let s = [(extent.len[1] * extent.len[2]) as isize * c, extent.len[2] as isize * c, c];
                    (s, s[0] * extent.len[0] as isize, [0; 4])
                };
                let mut q = 0;
                for n in 0..len[0] {
                    for z in 0..len[1] {
                        for y in 0..len[2] {
                            for w in 0..len[3] {
                                *at.add(q) = (origin[0] + n) as isize * n_stride
                                    + ((origin[1] + z) * p.stride[0]) as isize * s[0]
                                    + ((origin[2] + y) * p.stride[1]) as isize * s[1]
                                    + ((origin[3] + w) * p.stride[2]) as isize * s[2];
                                *places.add(q) = (from[0] + n) as isize * self.dy.n
                                    + (from[1] + z) as isize * self.dy.s[0]
                                    + (from[2] + y) as isize * self.dy.s[1]
                                    + (from[3] + w) as isize * self.dy.s[2];
                                q += 1;
                            }
                        }
                    }
                }
                let tap =
                    |t: usize| -> isize { (0..3).map(|d| (self.taps[t][d] * p.dilation[d]) as isize * s[d]).sum() };
                for group in groups.0..groups.1 {
                    let x = all_x.wrapping_offset((group * self.icg) as isize * self.x.c);
                    let dy = all_dy.wrapping_offset((group * self.ocg) as isize * self.dy.c);
                    let sums = sums_of(group);
                    // A strip of a few groups, made when the first of them comes.
                    let nth = (group - groups.0) % self.together;
                    let src: *const f32 = if self.in_place { x } else { strip.add(nth * self.icg) };
                    for n in 0..if self.in_place || nth > 0 { 0 } else { len[0] } {
                        let image = x.wrapping_offset((from[0] + n) as isize * self.x.n);
                        let to = strip.offset(n as isize * n_stride);
                        let channels = self.together.min(groups.1 - group) * self.icg;
                        strip::fill(kit.conv, channels, image, &self.x, p.input, &extent, to, self.together * self.icg);
                    }
                    if self.lanewise > 0 {
                        // The channels of dy side by side: where they are, or in a copy.
                        let copied = self.dy.c != 1;
                        if copied {
                            self.runs(&self.dy, from, len, |q, count, place| {
                                let run = dy.wrapping_offset(place + o as isize * self.dy.c);
                                kit.conv.to_last(m, count, run, self.dy.c, self.dy.s[2], a.add(q * m), m);
                            });
                        }
                        let row = (m * len[3]) as isize;
                        let of_copy = Strides {
                            n: row * (len[1] * len[2]) as isize,
                            c: 1,
                            s: [row * len[2] as isize, row, m as isize],
                        };
                        let (g, g_strides, g_origin) = if copied {
                            (a.cast_const(), &of_copy, [0; 4])
                        } else {
                            (dy.wrapping_add(o), &self.dy, from)
                        };
                        let x_strides = Strides { n: n_stride, c: 1, s };
                        let sides = (
                            Side { at: src.wrapping_add(o), s: &x_strides, origin },
                            Side { at: g, s: g_strides, origin: g_origin },
                        );
                        self.lanewise_block(kit, from, len, sides, m, b, sums, &|c, count, sums| {
                            if sums_up {
                                totals.collect(chunk, o + c, count, sums);
                            }
                        });
                        continue;
                    }
                    let beta = if number == first { start } else { 1.0 };
                    if self.planes {
                        let x = x.wrapping_offset(l as isize * self.x.c);
                        let dy = dy.wrapping_offset(o as isize * self.dy.c);
                        self.planes(kit, from, len, (m, n), dy, x, beta, sums);
                        continue;
                    }
                    if self.windows {
                        segments.clear();
                        for lane in l..l + n {
                            let offset = tap(lane / self.icg) + (lane % self.icg) as isize;
                            match segments.last_mut() {
                                Some(Segment { offset: first, len }) if *first + *len as isize == offset => *len += 1,
                                _ => segments.push(Segment { offset, len: 1 }),
                            }
                        }
                        let dy = dy.wrapping_offset(o as isize * self.dy.c);
                        let more = number + 1 < end;
                        self.windows(kit, (from, len), m, (src, at), &segments, (dy, places, a), more, beta, sums);
                        continue;
                    }
                    if self.plain && even(at, pixels, self.x.s[2]) && even(places, pixels, self.dy.s[2]) {
                        let (x, dy) = (src.offset(*at).add(l), dy.offset(*places).add(o));
                        self.product(kit, (m, n, pixels), (dy, a), (x, b), beta, sums);
                        continue;
                    }
                    self.runs(&self.dy, from, len, |q, count, place| {
                        if self.dy.c == 1 {
                            let run = dy.wrapping_offset(place).wrapping_add(o);
                            return kit.conv.spread(mr, m, count, run, self.dy.s[2], a.add(q * mr), pixels);
                        }
                        for i in (0..m).step_by(mr) {
                            let lanes = mr.min(m - i);
                            let run = dy.wrapping_offset(place + (o + i) as isize * self.dy.c);
                            let to = a.add(i * pixels + q * mr);
                            kit.gemm.pack_a(lanes, count, run, self.dy.c, self.dy.s[2], false, to);
                        }
                    });
                    let mc = rows_at_a_time(pixels, mr);
                    let step = LANES / nr * nr;
                    for j in (0..n).step_by(step) {
                        let some = step.min(n - j);
                        offsets.clear();
                        for lane in l + j..l + j + some {
                            offsets.push(tap(lane / self.icg) + (lane % self.icg) as isize);
                        }
                        if self.flat {
                            self.runs(&self.x, from, len, |q, count, place| {
                                let run = x.wrapping_offset(place + (l + j) as isize * self.x.c);
                                kit.conv.gather_across(count, run, self.x.c, some, b.add(q * nr), pixels);
                            });
                        } else {
                            kit.conv.gather(pixels, src, at, &offsets, b);
                        }
                        for i in (0..m).step_by(mc) {
                            let from_a = Source::panels(a.add(i * pixels), pixels, mr);
                            let from_b = Source::panels(b, pixels, nr);
                            let c = sums.add(j * self.pitch + i);
                            let rows = mc.min(m - i);
                            kit.gemm.block(rows, some, pixels, 1.0, from_a, from_b, beta, c, self.pitch as isize);
                        }
                    }
                }
                if !sums_up || self.lanewise > 0 {
                    continue;
                }
                // The block's pixels once more, while they are near: all groups at once, if the task has all channels of each.
                let (count, step) = match groups.1 - groups.0 {
                    some if o_count == of_group => (some * of_group, some),
                    _ => (o_count, 1),
                };
                for group in (groups.0..groups.1).step_by(step.max(1)) {
                    let channel = group * of_group + o_first;
                    let all = if self.exchanged { all_x } else { all_dy }.wrapping_offset(channel as isize * side.c);
                    self.runs(side, from, len, |_, pixels, place| {
                        let ptr = all.wrapping_offset(place);
                        let run = bias::Run { ptr, pixels, channel: side.c, pixel: side.s[2] };
                        totals.add(kit, chunk, channel, count, &run);
                    });
                }
            }
        }
    }

    /// `sums := dy x^T + beta sums` for m channels of dy and n of x, of pixels at even distances: as a product of the BLAS, with
    /// operands that are used a few times only where they are, and room for those that are packed.
    unsafe fn product(
        &self,
        kit: &Kit,
        (m, n, pixels): (usize, usize, usize),
        (dy, a): (*const f32, *mut f32),
        (x, b): (*const f32, *mut f32),
        beta: f32,
        sums: *mut f32,
    ) {
        let (mr, nr) = (kit.conv.mr(), kit.conv.nr());
        let (dy_step, x_step) = (self.dy.s[2], self.x.s[2]);
        let spreads = |step: isize| blocking::spreads(step, size_of::<f32>(), pixels, &cpu::caches());
        // SAFETY: pixels of the problem; the caller's room for a block.
        unsafe {
            let from_a = if n <= driver::few_columns(kit.gemm) && spreads(dy_step) {
                Source::in_place(dy, 1, dy_step)
            } else {
                kit.gemm.pack_a(m, pixels, dy, 1, dy_step, false, a);
                Source::panels(a.cast_const(), pixels, mr)
            };
            let mc = if from_a.packed { rows_at_a_time(pixels, mr) } else { m };
            let step = LANES / nr * nr;
            for j in (0..n).step_by(step) {
                let some = step.min(n - j);
                let from_b = if m <= driver::FEW_ROWS && spreads(x_step) {
                    Source::in_place(x.add(j), 1, x_step)
                } else {
                    kit.gemm.pack_b(some, pixels, x.add(j), 1, x_step, false, b);
                    Source::panels(b.cast_const(), pixels, nr)
                };
                for i in (0..m).step_by(mc) {
                    let c = sums.add(j * self.pitch + i);
                    let rows = mc.min(m - i);
                    kit.gemm.block(rows, some, pixels, 1.0, from_a.from(i, 0), from_b, beta, c, self.pitch as isize);
                }
            }
        }
    }

    /// `sums := dy x^T + beta sums` for m channels of dy and the elements of a window, of a block's pixels at `at`. dy is read at `places`,
    /// or copied to `a`, and the places changed. `more`: another block follows.
    unsafe fn windows(
        &self,
        kit: &Kit,
        (from, len): ([usize; 4], [usize; 4]),
        m: usize,
        (x, at): (*const f32, *const isize),
        segments: &[Segment],
        (mut dy, places, a): (*const f32, *mut isize, *mut f32),
        more: bool,
        beta: f32,
        sums: *mut f32,
    ) {
        let (pixels, channels) = (len.iter().product::<usize>(), m.next_multiple_of(kit.conv.lanes()));
        let mut ahead_len = 0;
        // SAFETY: pixels of the problem; the caller's room for a block in whole vectors of channels.
        unsafe {
            if self.dy.c != 1 || channels > m {
                if channels > m {
                    a.write_bytes(0, pixels * channels);
                }
                self.runs(&self.dy, from, len, |q, count, place| {
                    let run = dy.wrapping_offset(place);
                    kit.conv.to_last(m, count, run, self.dy.c, self.dy.s[2], a.add(q * channels), channels);
                });
                for q in 0..pixels {
                    *places.add(q) = (q * channels) as isize;
                }
                dy = a.cast_const();
            } else if more && even(places, pixels, self.dy.s[2]) {
                // It goes on behind this one.
                ahead_len = pixels * m;
            }
            kit.conv.window_sums(&WindowSums {
                pixels,
                x,
                x_at: at,
                segments: segments.as_ptr(),
                count: segments.len(),
                dy,
                dy_at: places,
                channels,
                sums,
                pitch: self.pitch,
                beta,
                ahead: dy.wrapping_offset(*places.add(pixels - 1)).wrapping_add(m),
                ahead_len,
            });
        }
    }

    /// `sums := dy x^T + beta sums` for m channels of dy and n of x, of a block's pixels where they lie.
    unsafe fn planes(
        &self,
        kit: &Kit,
        from: [usize; 4],
        len: [usize; 4],
        (m, n): (usize, usize),
        dy: *const f32,
        x: *const f32,
        beta: f32,
        sums: *mut f32,
    ) {
        // A block is of one image, since two are more than PLANE_BLOCK; its sizes are the same in both tensors, and so are the
        // pixels of each run.
        let mut places = Vec::new();
        self.runs(&self.dy, from, len, |_, _, place| places.push(place));
        let mut run = 0;
        self.runs(&self.x, from, len, |_, pixels, place| {
            let rows = rows_at_a_time(2 * pixels, kit.conv.lanes());
            for i in (0..m).step_by(rows) {
                // SAFETY: pixels of the problem, and the block's sums.
                unsafe {
                    kit.conv.plane_sums(&PlaneSums {
                        pixels,
                        a: dy.wrapping_offset(places[run] + i as isize * self.dy.c),
                        a_step: self.dy.c,
                        rows: rows.min(m - i),
                        b: x.wrapping_offset(place),
                        b_step: self.x.c,
                        lanes: n,
                        sums: sums.add(i),
                        pitch: self.pitch,
                        beta: if run == 0 { beta } else { 1.0 },
                    });
                }
            }
            run += 1;
        });
    }

    /// Lanewise: the sums of a block of pixels, in planes that have the same planes of taps inside the image. They begin at zero, in
    /// `new`, and are added to `sums` at the end: the error grows with the block and the number of blocks, not with their product.
    /// `collect` gets those of dy itself: the first channel, how many, and where they are.
    unsafe fn lanewise_block(
        &self,
        kit: &Kit,
        from: [usize; 4],
        len: [usize; 4],
        (x, dy): (Side, Side),
        m: usize,
        new: *mut f32,
        sums: *mut f32,
        collect: &dyn Fn(usize, usize, *mut f32),
    ) {
        let p = &self.p;
        // A strip has its padding written out, and begins with its block.
        let before = |d: usize| if self.in_place { 0 } else { p.pad[d] };
        let planes = if self.in_place {
            self.dims[0].stretches(from[1], from[1] + len[1])
        } else {
            vec![Stretch { from: from[1], count: len[1], taps: (0, self.dims[0].taps.len()) }]
        };
        let reach = |d: usize| (len[d + 1] - 1) * p.stride[d] + (p.kernel[d] - 1) * p.dilation[d] + 1;
        let there = [1, 2].map(|d| if self.in_place { p.input[d] } else { reach(d) });
        let kernel = |at: [usize; 3]| {
            let [z, y, x] = [0, 1, 2].map(|d| self.dims[d].taps[at[d]].1);
            (z * p.kernel[1] + y) * p.kernel[2] + x
        };
        let mut taps = Vec::new();
        let long = self.is_long(kit);
        // Lines that share a few sets of L1 push each other out. (Zen 5, 512 channels at 14x14 asked for and not: 79 and 90 GFLOPS; 256 at
        // 28x28 81 and 71.)
        let apart = self.x.s[2].unsigned_abs() * size_of::<f32>();
        let far = p.batch * self.x.n.unsigned_abs() * size_of::<f32>() > kit.far;
        let together = self.together_channels(kit);
        for c in (0..m).step_by(together) {
            let channels = together.min(m - c);
            // SAFETY: room for the sums of so many channels.
            unsafe { new.write_bytes(0, (self.lanes + 1) * together) };
            let bias = new.wrapping_add(self.lanes * together);
            for plane in &planes {
                runs(&self.dims, plane.taps, x.s.s[0], kernel, &mut taps);
                for n in 0..len[0] {
                    for z in 0..plane.count {
                        let z = plane.from - from[1] + z;
                        let at = |d: usize, i: usize| ((x.origin[d + 1] + i) * p.stride[d] + before(d)) as isize;
                        let x_at = (x.origin[0] + n) as isize * x.s.n + at(0, z) * x.s.s[0];
                        let dy_at = (dy.origin[0] + n) as isize * dy.s.n
                            + (dy.origin[1] + z) as isize * dy.s.s[0]
                            + dy.origin[2] as isize * dy.s.s[1]
                            + dy.origin[3] as isize * dy.s.s[2];
                        let p = LanewiseSums {
                            rows: LaneRows {
                                size: [len[2], len[3]],
                                channels,
                                group: self.lanewise,
                                src: x.at.wrapping_offset(x_at).wrapping_add(c),
                                src_step: [x.s.s[1], x.s.s[2]],
                                at: [at(1, 0), at(2, 0)],
                                stride: [p.stride[1], p.stride[2]],
                                there,
                                runs: taps.as_ptr(),
                                count: taps.len(),
                                asks: self.in_place && (self.slides && apart < 2048 || far && !long),
                                long,
                            },
                            dy: dy.at.wrapping_offset(dy_at).wrapping_add(c),
                            dy_step: [dy.s.s[1], dy.s.s[2]],
                            sums: new,
                            pitch: together,
                            bias,
                        };
                        // SAFETY: pixels of the problem, and planes of taps that meet the image.
                        unsafe { kit.conv.lanewise_sums(&p) };
                    }
                }
            }
            collect(c, channels, bias);
            for lane in 0..self.lanes {
                // SAFETY: sums of these channels, as many in both places.
                unsafe {
                    let (from, to) = (new.add(lane * together), sums.add(lane * self.pitch + c));
                    kit.conv.add_rows(channels, 1, from, 0, to);
                }
            }
        }
    }

    /// Calls `f` for each run of a block's pixels in a tensor: the first one's number, how many, and their place.
    fn runs(&self, strides: &Strides, from: [usize; 4], len: [usize; 4], mut f: impl FnMut(usize, usize, isize)) {
        let s = strides.s;
        let place = |n: usize, z: usize, y: usize| {
            (from[0] + n) as isize * strides.n
                + (from[1] + z) as isize * s[0]
                + (from[2] + y) as isize * s[1]
                + from[3] as isize * s[2]
        };
        // Rows, planes and images that follow each other without a gap are one run.
        let [images, planes, rows, row] = len;
        let joined = s[2] * row as isize == s[1];
        let planes_joined = joined && s[1] * rows as isize == s[0];
        let all_joined = planes_joined && s[0] * planes as isize == strides.n;
        let (n_run, z_run) = (if all_joined { images } else { 1 }, if planes_joined { planes } else { 1 });
        let y_run = if joined { rows } else { 1 };
        for n in (0..images).step_by(n_run) {
            for z in (0..planes).step_by(z_run) {
                for y in (0..rows).step_by(y_run) {
                    let q = ((n * planes + z) * rows + y) * row;
                    f(q, n_run * z_run * y_run * row, place(n, z, y));
                }
            }
        }
    }

    /// Stores the sums of some output channels where the caller wants them.
    unsafe fn store(
        &self,
        kit: &Kit,
        group: usize,
        o: usize,
        count: usize,
        sums: *const f32,
        dw: *mut f32,
        beta: f32,
        memory: &Memory,
    ) {
        let f = self.filter;
        let inputs = if self.lanewise > 0 { self.lanewise } else { self.icg };
        // SAFETY: sums of the group; weights of the problem; a slot has room for some output channels.
        unsafe {
            let from = sums.add(group * self.lanes * self.pitch + o);
            let to = dw.wrapping_offset(group as isize * self.group + o as isize * f.o);
            let put = |to: *mut f32, x: f32| *to = if beta == 0.0 { x } else { x + beta * *to };
            let tap = |t: usize| (0..3).map(|d| self.taps[t][d] as isize * f.s[d]).sum::<isize>();
            if f.o == 1 {
                for lane in 0..self.lanes {
                    let to = to.wrapping_offset(tap(lane / inputs) + (lane % inputs) as isize * f.i);
                    for q in 0..count {
                        put(to.wrapping_add(q), *from.add(lane * self.pitch + q));
                    }
                }
                return;
            }
            // The taps of a weight side by side, in their order.
            let [_, h, w] = self.p.kernel.map(|n| n as isize);
            let together = f.i == self.taps.len() as isize && f.s == [h * w, w, 1];
            // Transposed in pieces of some input channels, then written in the order of memory.
            let mut slot = memory.slot();
            let block = slot.take::<f32>(STORED * STORED * self.taps.len());
            for i in (0..inputs).step_by(STORED) {
                let some = STORED.min(inputs - i);
                for t in 0..self.taps.len() {
                    let from = from.add((t * inputs + i) * self.pitch);
                    // The next tap's rows are far apart; nobody else would ask for them.
                    for row in 0..some {
                        let next = from.wrapping_add((inputs + row) * self.pitch);
                        for line in (0..count).step_by(LINE) {
                            prefetch(next.wrapping_add(line));
                        }
                    }
                    kit.conv.to_first(count, some, from, self.pitch, block.add(t * STORED), self.stored(), 1);
                }
                for q in 0..count {
                    let line = block.add(q * self.stored() as usize);
                    let to = to.wrapping_offset(q as isize * f.o + i as isize * f.i);
                    if beta == 0.0 && together {
                        kit.conv.to_last(self.taps.len(), some, line, STORED as isize, 1, to, self.taps.len());
                        continue;
                    }
                    for c in 0..some {
                        for t in 0..self.taps.len() {
                            put(to.wrapping_offset(c as isize * f.i + tap(t)), *line.add(t * STORED + c));
                        }
                    }
                }
            }
        }
    }
    /// Elements of a block of stored weights from one output channel to the next.
    fn stored(&self) -> isize {
        (STORED * self.taps.len()) as isize
    }
}

/// A tensor as a block sees it: its first wanted channel, its strides, and the place of the block's first pixel.
struct Side<'a> {
    at: *const f32,
    s: &'a Strides,
    origin: [usize; 4],
}

/// A task.
struct Part {
    /// The first group and the one behind the last.
    groups: (usize, usize),
    chunk: usize,
    /// First output channel and how many.
    o: usize,
    m: usize,
    /// First lane and how many.
    l: usize,
    n: usize,
}
