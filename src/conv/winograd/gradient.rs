//! Backward-weights: the sums over tiles of every point, in one piece for every block or a square of channels at a time.

use super::*;

/// Backward-weights.
///
/// The sums of a point are a matrix as large as a tap's weights, and there are 36 points. Where they stay in cache, every block of tiles adds to
/// all of them. Where they do not, the transforms of many tiles are made first, and then the sums a square at a time, whose
/// weights are stored at once: sums never leave L2.
pub struct WinogradGradient {
    p: Problem,
    form: Form,
    x: Image,
    dy: Image,
    /// Tiles of a block.
    block: usize,
    /// Runs of blocks with sums of their own, which are added in the end.
    chunks: usize,
    /// The square of output and input channels whose sums are made together, if not all.
    square: Option<(usize, usize)>,
}

/// Tiles of a block of the gradient: the steps of its products.
const GRADIENT_BLOCK: usize = 96;
/// Bytes of partial sums beyond the first, and work of a chunk at least.
const PARTIAL: usize = 24 << 20;
const CHUNK_WORK: f64 = 2e8;
const MOST_CHUNKS: usize = 16;
/// Output channels of which weights are stored at a time.
const STORED: usize = 16;
/// Bytes of the transforms from which squares are made at most, if the last cache holds as much.
const SQUARES_OF: usize = 32 << 20;
/// Sums are made in squares if they are so many times as large as what L2 holds. (Figures: docs/performance.md.)
const SQUARES_FROM: usize = 8;

/// The transforms of a block of tiles, in its slots: of the image, tiles `row` apart and points `v_pitch`, and of the result's gradient in
/// panels.
#[derive(Clone, Copy)]
struct Transforms {
    v: Shared<f32>,
    d: Shared<f32>,
    from: usize,
    to: usize,
}

/// Where sums go: the first point's, the distance of the next point's, and of the next input channel's.
#[derive(Clone, Copy)]
struct Sums {
    ptr: *mut f32,
    point: usize,
    lane: usize,
}

impl WinogradGradient {
    pub fn new(p: &Problem, kit: &Kit) -> WinogradGradient {
        let form = Form::new(p, Pass::BackwardWeights);
        let planes: Vec<isize> = (0..p.kernel[0]).map(|k| (k * p.dilation[0]) as isize - p.pad[0] as isize).collect();
        let x = Image::of_form(&form, p.input_strides(), p.input, planes, p.icg(), kit);
        // A tile of the result has its own pixels only.
        let part = &form.parts[0];
        let dy = Image {
            strides: p.output_strides(),
            size: p.output,
            from: [0, 0],
            planes: vec![0],
            advance: OUT,
            reach: [part.last, part.sides].map(|sides| sides.map(|s| s.results)),
            channels: p.ocg(),
            pitch: p.ocg().next_multiple_of(kit.conv.lanes()),
        };
        let tiles = form.tiles.count();
        let one = form.points * (x.planes.len() * x.pitch + dy.pitch) * size_of::<f32>();
        let sums = form.weights * x.planes.len() * x.channels * dy.pitch * size_of::<f32>();
        // Blocks of even size.
        let even = |most: usize| tiles.div_ceil(tiles.div_ceil(most));
        if sums > SQUARES_FROM * kit.near && form.parts.len() == 1 {
            let most = SQUARES_OF.min(kit.far) / one;
            let strip = x.strip(form.tiles.cols.min(most).max(1)) * size_of::<f32>();
            if most >= GRADIENT_BLOCK.min(tiles) && strip <= LARGEST {
                let (mr, nr) = (kit.conv.mr(), kit.gemm.nr());
                let area = kit.near / (form.weights * size_of::<f32>());
                let panels = (area.isqrt() / mr).clamp(1, p.ocg().div_ceil(mr));
                let wide = (area / (panels * mr) / nr * nr).clamp(nr, x.channels.next_multiple_of(nr));
                let square = Some((panels * mr, wide));
                return WinogradGradient { p: *p, block: even(most), form, x, dy, chunks: 1, square };
            }
        }
        let strip = (x.strip(2) - x.strip(1)) * size_of::<f32>();
        let block = even(GRADIENT_BLOCK.min(2 * LARGEST / (one + strip)).max(8));
        let chunks = ((p.flops() / 4.0 / CHUNK_WORK) as usize).min(1 + PARTIAL / (p.groups * sums).max(1));
        let chunks = chunks.clamp(1, MOST_CHUNKS).min(tiles.div_ceil(block));
        // A power of two: mostly as many for each thread.
        let chunks = 1 << chunks.ilog2();
        WinogradGradient { p: *p, form, x, dy, block, chunks, square: None }
    }

    /// The tile that is computed, and the one that it is made of, as they are written.
    pub fn name(&self) -> String {
        self.form.name(|taps| format!("{taps},{OUT}x{OUT}"))
    }

    /// Taps of the kernel, and of a row of it.
    fn taps(&self) -> (usize, usize) {
        (self.p.kernel[1] * self.p.kernel[2], self.p.kernel[2])
    }
    /// Lanes of the products: planes and input channels.
    fn lanes(&self) -> usize {
        self.x.planes.len() * self.x.channels
    }
    /// Elements of one transformed sum of a group.
    fn sum(&self) -> usize {
        spread(self.lanes() * self.dy.pitch)
    }
    /// Elements of all sums of a chunk; 0 if they are never all there.
    pub fn sums(&self) -> usize {
        if self.square.is_some() { 0 } else { self.p.groups * self.form.weights * self.sum() }
    }
    fn v_pitch(&self) -> usize {
        spread(self.block * self.row())
    }
    /// Elements of a tile's transform of the image.
    fn row(&self) -> usize {
        spread(self.x.planes.len() * self.x.pitch)
    }
    fn d_pitch(&self, kit: &Kit) -> usize {
        spread(self.block * self.dy.channels.next_multiple_of(kit.conv.mr()))
    }
    fn strip(&self) -> usize {
        let tiles = self.form.tiles.cols.min(self.block);
        self.x.strip(tiles).max(self.dy.strip(tiles))
    }

    pub fn room(&self, kit: &Kit) -> Room {
        let (v, d) =
            (bytes::<f32>(self.form.points * self.v_pitch()), bytes::<f32>(self.form.points * self.d_pitch(kit)));
        let taps = bytes::<f32>(self.taps().0 * self.dy.pitch);
        let strip = bytes::<f32>(self.strip());
        match self.square {
            Some((o, i)) => {
                Room { shared: v + d, each: strip + bytes::<f32>(self.form.weights * spread(o * i)) + taps }
            }
            None => {
                let each = strip + v + d + taps + bytes::<f32>(self.dy.pitch);
                Totals::behind(Room { shared: self.all_sums(), each }, self.p.oc, self.chunks)
            }
        }
    }
    fn all_sums(&self) -> usize {
        bytes::<f32>(self.sums() * self.chunks)
    }
    /// Whether the bias can have its gradient on the way. (What squares are made of is transformed by shares that depend on the threads.)
    pub fn sums_bias(&self) -> bool {
        self.square.is_none()
    }

    /// # Safety
    /// As [`super::gradient::Gradient::run`].
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
        let threads = threads.min(memory.threads());
        let (from, gradient, to) = (Shared(x.cast_mut()), Shared(dy.cast_mut()), Shared(dw));
        if let Some(square) = self.square {
            // SAFETY: as the caller's.
            unsafe { self.run_squares(kit, square, (from, gradient), to, beta, memory, threads) };
            return;
        }
        let groups = self.p.groups;
        // Every part of the output channels transforms the image anew: as few as can be.
        let wanted = threads.div_ceil(self.chunks * groups);
        let mr = kit.conv.mr();
        let parts = wanted.min(self.dy.channels.div_ceil(mr));
        let part = self.dy.channels.div_ceil(parts).next_multiple_of(mr);
        let parts = self.dy.channels.div_ceil(part);
        let sums = Shared(memory.shared::<f32>());
        let totals = Totals::new(memory.shared::<u8>().wrapping_add(self.all_sums()), self.p.oc, bias.is_some());
        pool::run_neighbours(self.chunks * groups * parts, threads, &|task| {
            let (index, rest) = (task % parts, task / parts);
            let (chunk, group) = (rest % self.chunks, rest / self.chunks);
            let share = (index * part, self.dy.channels.min((index + 1) * part));
            // SAFETY: tasks have sums of their own.
            unsafe { self.task(kit, group, chunk, share, from.get(), gradient.get(), sums.get(), &totals, memory) }
        });
        if let Some(bias) = bias {
            // SAFETY: all tasks' sums are there.
            unsafe { totals.finish(self.chunks, bias) };
        }
        // As the sums were shared, mostly: who made them stores them, and has the weights of the last call.
        pool::run_neighbours(groups * self.lanes(), threads, &|task| {
            let (group, lane) = (task / self.lanes(), task % self.lanes());
            let ptr = sums.get().wrapping_add(group * self.form.weights * self.sum() + lane * self.dy.pitch);
            let mut slot = memory.slot();
            let taps = slot.take::<f32>(self.taps().0 * self.dy.pitch);
            // SAFETY: tasks have sums and weights of their own.
            unsafe {
                for chunk in 1..self.chunks {
                    for xi in 0..self.form.weights {
                        let sum = ptr.add(xi * self.sum());
                        kit.conv.add_rows(self.dy.channels, 1, sum.add(chunk * self.sums()), 0, sum);
                    }
                }
                let of = Sums { ptr, point: self.sum(), lane: self.dy.pitch };
                self.store(kit, group, lane, (0, self.dy.channels), of, taps, to.get(), beta);
            }
        });
    }

    /// All transforms of a block, then its sums in squares.
    unsafe fn run_squares(
        &self,
        kit: &Kit,
        (high, wide): (usize, usize),
        (x, dy): (Shared<f32>, Shared<f32>),
        dw: Shared<f32>,
        beta: f32,
        memory: &Memory,
        threads: usize,
    ) {
        let (tiles, channels, planes) = (self.form.tiles.count(), self.x.channels, self.x.planes.len());
        let v = memory.shared::<f32>();
        let d = v.wrapping_byte_add(bytes::<f32>(self.form.points * self.v_pitch()));
        let (rows, cols) = (self.dy.channels.div_ceil(high), channels.div_ceil(wide));
        // Of even width.
        let wide = channels.div_ceil(cols);
        for (group, from) in (0..self.p.groups).flat_map(|g| (0..tiles).step_by(self.block).map(move |from| (g, from)))
        {
            let t = Transforms { v: Shared(v), d: Shared(d), from, to: tiles.min(from + self.block) };
            let beta = if from == 0 { beta } else { 1.0 };
            let shares = if threads == 1 { 1 } else { 4 * threads };
            pool::run(shares, threads, &|share| {
                let mut slot = memory.slot();
                let strip = slot.take::<f32>(self.strip());
                let all = (0, self.dy.channels);
                // SAFETY: tasks have tiles of their own, and slots while they last.
                unsafe { self.transform(kit, group, &t, all, (share, shares), x.get(), dy.get(), strip, None) }
            });
            pool::run(planes * rows * cols, threads, &|task| {
                let (i, rest) = (task % cols * wide, task / cols);
                let (o, plane) = (rest % rows * high, rest / rows);
                let (i, o) = ((i, channels.min(i + wide)), (o, self.dy.channels.min(o + high)));
                let lane = (o.1 - o.0).next_multiple_of(kit.conv.lanes());
                let mut slot = memory.slot();
                let taps = slot.take::<f32>(self.taps().0 * self.dy.pitch);
                let mut sums = Sums { ptr: core::ptr::null_mut(), point: spread(lane * (i.1 - i.0)), lane };
                sums.ptr = slot.take::<f32>(self.form.weights * sums.point);
                // SAFETY: tasks have weights of their own; the slot has room for a square.
                unsafe {
                    self.products(kit, &t, (plane, plane + 1), i, o, sums, true);
                    for l in i.0..i.1 {
                        let of = Sums { ptr: sums.ptr.wrapping_add((l - i.0) * lane), ..sums };
                        self.store(kit, group, plane * channels + l, o, of, taps, dw.get(), beta);
                    }
                }
            });
        }
    }

    unsafe fn task(
        &self,
        kit: &Kit,
        group: usize,
        chunk: usize,
        (o0, o1): (usize, usize),
        x: *const f32,
        dy: *const f32,
        sums: *mut f32,
        totals: &Totals,
        memory: &Memory,
    ) {
        let mut slot = memory.slot();
        let strip = slot.take::<f32>(self.strip());
        let v = slot.take::<f32>(self.form.points * self.v_pitch());
        let d = slot.take::<f32>(self.form.points * self.d_pitch(kit));
        let tiles = self.form.tiles.count();
        let blocks = tiles.div_ceil(self.block);
        let (first, end) = (chunk * blocks / self.chunks, (chunk + 1) * blocks / self.chunks);
        let base = sums.wrapping_add(chunk * self.sums() + group * self.form.weights * self.sum() + o0);
        let sums = Sums { ptr: base, point: self.sum(), lane: self.dy.pitch };
        let bias = totals.wanted().then(|| slot.take::<f32>(self.dy.pitch));
        let (channel, channels) = (group * self.dy.channels + o0, o1 - o0);
        if let Some(bias) = bias {
            // SAFETY: this task's channels, for which the slot has room.
            unsafe {
                bias.write_bytes(0, channels);
                totals.begin(chunk, channel, channels);
            }
        }
        for number in first..end {
            let (from, to) = (number * self.block, tiles.min((number + 1) * self.block));
            let t = Transforms { v: Shared(v), d: Shared(d), from, to };
            // SAFETY: tiles of the problem; the slot has room for a block. Panels begin with the first channel of the share.
            unsafe {
                self.transform(kit, group, &t, (o0, o1), (0, 1), x, dy, strip, bias);
                if let Some(bias) = bias {
                    totals.collect(chunk, channel, channels, bias);
                }
                let all = (0, self.x.planes.len());
                self.products(kit, &t, all, (0, self.x.channels), (0, o1 - o0), sums, number == first);
            }
        }
    }

    /// The transforms of a block's tiles, or of a share of its runs, and of some output channels, the first of which begins the panels. To
    /// the bias those channels' pixels are added.
    unsafe fn transform(
        &self,
        kit: &Kit,
        group: usize,
        t: &Transforms,
        (o0, o1): (usize, usize),
        (share, shares): (usize, usize),
        x: *const f32,
        dy: *const f32,
        strip: *mut f32,
        bias: Option<*mut f32>,
    ) {
        let form = &self.form;
        let (v_pitch, d_pitch, mr) = (self.v_pitch(), self.d_pitch(kit), kit.conv.mr());
        let x = x.wrapping_offset((group * self.x.channels) as isize * self.x.strides.c);
        let dy = dy.wrapping_offset((group * self.dy.channels + o0) as isize * self.dy.strides.c);
        let gradient = Image {
            strides: self.dy.strides,
            planes: vec![0],
            channels: o1 - o0,
            pitch: (o1 - o0).next_multiple_of(kit.conv.lanes()),
            ..self.dy
        };
        let count = t.to - t.from;
        let mut number = 0;
        form.tiles.runs(t.from, t.to, |run| {
            number += 1;
            if number % shares != share {
                return;
            }
            // SAFETY: tiles of the problem; there is room for the block.
            unsafe {
                for plane in 0..self.x.planes.len() {
                    let v = t.v.get().wrapping_add(plane * self.x.pitch);
                    self.x.transform(kit, form, x, run, plane, strip, (v, self.row(), v_pitch));
                }
                let [high, wide] = [0, 1].map(|d: usize| gradient.reach[!run.last[d] as usize][d]);
                gradient.each(kit, dy, run, 0, strip, |first, tiles, pixel, step| {
                    if let Some(bias) = bias {
                        let pixels = (tiles - 1) * OUT + wide;
                        for row in 0..high as isize {
                            let row = pixel.wrapping_offset(row * step.0);
                            kit.conv.add_rows(gradient.channels, pixels, row, step.1, bias);
                        }
                    }
                    for i in 0..tiles {
                        let pixel = pixel.wrapping_offset((i * OUT) as isize * step.1);
                        for part in &form.parts {
                            let to = t.d.get().wrapping_add(part.point * d_pitch + (run.first + first + i) * mr);
                            let points = (part.sides[1].points(), d_pitch);
                            let sides = part.of(run.last);
                            kit.conv.wino_gradient(gradient.pitch, pixel, step, sides, to, count * mr, points);
                        }
                    }
                });
            }
        });
    }

    /// The products of a block: planes, input channels, and output channels from a panel's first one on, to sums that begin with the first of
    /// each. `fresh`: there is nothing in them yet.
    unsafe fn products(
        &self,
        kit: &Kit,
        t: &Transforms,
        (p0, p1): (usize, usize),
        (i0, i1): (usize, usize),
        (o0, o1): (usize, usize),
        sums: Sums,
        fresh: bool,
    ) {
        let (count, mr) = (t.to - t.from, kit.conv.mr());
        let slots = self.form.tiles.slots(t.from, t.to);
        for part in &self.form.parts {
            let mut next = part.weights;
            part.points(|point, weights, last| {
                // The first of the points that share these sums.
                let beta = if fresh && weights >= next { 0.0 } else { 1.0 };
                next = next.max(weights + 1);
                let with = slots.with(last);
                let a = Source::panels(t.d.get().wrapping_add(point * self.d_pitch(kit)).cast_const(), count, mr);
                let a = a.from(o0, with.start);
                for plane in p0..p1 {
                    let b = t.v.get().wrapping_add(point * self.v_pitch() + plane * self.x.pitch + i0).cast_const();
                    let b = Source::in_place(b, 1, self.row() as isize).from(0, with.start);
                    let c = sums.ptr.wrapping_add(weights * sums.point + (plane - p0) * (i1 - i0) * sums.lane);
                    // SAFETY: both operands' transforms, and sums of so many channels.
                    unsafe { kit.gemm.block(o1 - o0, i1 - i0, with.len(), 1.0, a, b, beta, c, sums.lane as isize) };
                }
            });
        }
    }

    /// One input channel's weights of some output channels from their transformed sums; `taps` has room for them.
    unsafe fn store(
        &self,
        kit: &Kit,
        group: usize,
        lane: usize,
        (o0, o1): (usize, usize),
        sums: Sums,
        taps: *mut f32,
        dw: *mut f32,
        beta: f32,
    ) {
        let (count, wide) = self.taps();
        let f = self.p.filter_strides();
        let (plane, i) = (lane / self.x.channels, lane % self.x.channels);
        let (n, pitch) = (o1 - o0, (o1 - o0).next_multiple_of(kit.conv.lanes()));
        let place = (group * self.dy.channels + o0) as isize * f.o + i as isize * f.i + plane as isize * f.s[0];
        // SAFETY: sums of whole vectors; weights of the problem.
        unsafe {
            for part in &self.form.parts {
                // Taps of a strand are equally far apart.
                let tap = [wide, 1].map(|n| n * pitch);
                let to = taps.add(part.strands[0].taps[0] * tap[0] + part.strands[1].taps[0] * tap[1]);
                let step = [0, 1].map(|d: usize| {
                    let taps = part.strands[d].taps;
                    (taps[1] as isize - taps[0] as isize) * tap[d] as isize
                });
                let from = sums.ptr.add(part.weights * sums.point);
                kit.conv.wino_weights_back(pitch, from, sums.point, part.sides, to, (step[0], step[1]));
            }
            if beta == 0.0 && f.s[1..] == [wide as isize, 1] {
                // The taps of a weight are side by side, and weights far apart: all taps of a few of them at a time.
                for o in (0..n).step_by(STORED) {
                    let to = dw.wrapping_offset(place + o as isize * f.o);
                    let some = STORED.min(n - o);
                    kit.conv.to_last(count, some, taps.add(o), pitch as isize, 1, to, f.o as usize);
                }
                return;
            }
            for t in 0..count {
                let to = dw.wrapping_offset(place + (t / wide) as isize * f.s[1] + (t % wide) as isize * f.s[2]);
                for o in 0..n {
                    let x = *taps.add(t * pitch + o);
                    let to = to.wrapping_offset(o as isize * f.o);
                    *to = if beta == 0.0 { x } else { x + beta * *to };
                }
            }
        }
    }
}
