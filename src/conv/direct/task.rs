//! One task of a direct pass: a block of results, from its strip of the source to the register tiles.

use super::*;

pub struct Task<'a> {
    pub windows: &'a [Window],
    pub cut: &'a Cut,
    pub kit: &'a Kit,
    pub memory: &'a Memory,
    pub index: usize,
}

impl Task<'_> {
    /// # Safety
    /// As [`Direct::run`].
    pub unsafe fn run(&self, src: *const f32, packed: *const f32, dst: *mut f32, epilogue: &Epilogue) {
        let (w, cut, kernel) = (&self.windows[0], self.cut, self.kit.conv);
        let parts = w.cout.div_ceil(cut.part);
        let (part, rest) = (self.index % parts, self.index / parts);
        // Groups of a block one after the other: they share cache lines.
        let shares = w.groups.div_ceil(cut.together);
        let (group, mut block) = (rest % shares * cut.together, rest / shares);
        let groups = cut.together.min(w.groups - group);
        let mut from = [0; 4];
        for d in [3, 2, 1, 0] {
            from[d] = block % cut.blocks[d] * cut.block[d];
            block /= cut.blocks[d];
        }
        let len = w.len(from, cut.block);
        if len.contains(&0) {
            return;
        }
        if w.is_rows() {
            let channels = (part * cut.part, w.cout.min((part + 1) * cut.part));
            let (mut packed, mut parts, mut taps) = (packed, Vec::new(), Vec::new());
            let in_turn = cut.is_in_turn(self.windows, self.kit);
            for w in self.windows {
                let len = w.len(from, cut.block);
                if !len.contains(&0) {
                    let run = |p: &Lanewise<f32>| match in_turn {
                        true => parts.push(*p),
                        // SAFETY: pixels of the problem, and planes of taps that meet the source.
                        false => unsafe { kernel.lanewise(p) },
                    };
                    // SAFETY: as this function's.
                    taps.push(unsafe { self.lanewise_rows(w, from, len, channels, src, packed, dst, epilogue, run) });
                }
                packed = packed.wrapping_add(w.packed(self.kit));
            }
            // A row of every phase, then the next. All phases have the same images and channels in the same order.
            let phases = self.windows.iter().filter(|w| !w.len(from, cut.block).contains(&0)).count();
            let each = parts.len() / phases.max(1);
            for i in 0..each {
                for row in 0..len[2] {
                    let mut at = i;
                    while at < parts.len() {
                        let p = &parts[at];
                        if row < p.rows.size[0] {
                            // SAFETY: as above; the taps are kept.
                            unsafe { kernel.lanewise(&p.row(row)) };
                        }
                        at += each;
                    }
                }
            }
            return;
        }
        let mut slot = self.memory.slot();
        let (at, to) = (slot.take::<isize>(cut.pixels), slot.take::<isize>(cut.pixels));
        let strip = slot.take::<f32>(cut.strip);
        let pitch = cut.pitch(w);
        let temporary = slot.take::<f32>(cut.temporary(w));
        let own = if cut.own > 0 { slot.take::<f32>(cut.own) } else { core::ptr::null_mut() };
        let src = src.wrapping_offset((group * w.cin) as isize * w.src.c);
        let dst = dst.wrapping_offset((group * w.cout) as isize * w.dst.c);
        // Results that are collected, from one row to the next.
        let row = len[3] * cut.phases;
        // SAFETY: the slot has room for what the cut says; pixels of the problem.
        unsafe {
            // The source: where its first pixel is, or would be if the strip were all of it.
            let (base, n_stride, s, image);
            let extent = Extent {
                from: [0, 1, 2].map(|d| (from[d + 1] * w.dims[d].step) as isize + cut.taps[d].0),
                len: [0, 1, 2].map(|d| w.reach(cut.taps, d, len[d + 1])),
            };
            // The rows of the source that the next block is the first to read, where all of them follow each other and stay near.
            let mut ahead = (core::ptr::null(), 0);
            let new = len[2] * w.dims[1].step * w.src.s[1].unsigned_abs();
            if w.dims[1].taps.len() > 1
                && new * size_of::<f32>() <= cpu::caches().l2 / 4
                && w.src.s[2] == (groups * w.cin) as isize
                && len[3] == w.dims[2].count
                && (len[0], len[1]) == (1, 1)
            {
                let below = extent.from[1] + extent.len[1] as isize;
                let place = from[0] as isize * w.src.n + extent.from[0].max(0) * w.src.s[0] + below * w.src.s[1];
                ahead = (src.wrapping_offset(place), new);
            }
            if cut.in_place {
                (base, n_stride, s, image) = (src, w.src.n, w.src.s, from[0]);
            } else {
                let c = (cut.together * w.cin) as isize;
                s = [(extent.len[1] * extent.len[2]) as isize * c, extent.len[2] as isize * c, c];
                n_stride = s[0] * extent.len[0] as isize;
                let size = w.dims.each_ref().map(|d| d.size);
                for n in 0..len[0] {
                    let image = src.wrapping_offset((from[0] + n) as isize * w.src.n);
                    let to = strip.offset(n as isize * n_stride);
                    strip::fill(kernel, groups * w.cin, image, &w.src, size, &extent, to, cut.together * w.cin);
                }
                base = strip.wrapping_offset(-(0..3).map(|d| extent.from[d] * s[d]).sum::<isize>()).cast_const();
                image = 0;
            }
            let first = w.dst.c == 1;
            let end = w.cout.min((part + 1) * cut.part);
            let mut c = part * cut.part;
            // Output channels of this task, in chunks.
            while c < end {
                let lanes = cut.chunk.min(end - c);
                // Of all groups.
                let all = if groups > 1 { groups * w.cout } else { lanes };
                let mut packed = packed;
                for phases in self.windows.chunks(cut.phases) {
                    if !first && epilogue.beta != 0.0 {
                        self.rows(phases, from, |p, count, place| {
                            let old = dst.wrapping_offset(place + c as isize * w.dst.c);
                            kernel.to_last(all, count, old, w.dst.c, w.dst.s[2], temporary.add(p * pitch), pitch);
                        });
                    }
                    for (phase, w) in phases.iter().enumerate() {
                        let len = w.len(from, cut.block);
                        let mut p = 0;
                        for n in 0..len[0] {
                            for z in 0..len[1] {
                                for y in 0..len[2] {
                                    let step = w.dims[2].step as isize * s[2];
                                    let mut a = (image + n) as isize * n_stride
                                        + ((from[1] + z) * w.dims[0].step) as isize * s[0]
                                        + ((from[2] + y) * w.dims[1].step) as isize * s[1]
                                        + from[3] as isize * step;
                                    let (mut t, every) = if first {
                                        let t = (from[0] + n) as isize * w.dst.n
                                            + w.place(0, from[1] + z)
                                            + w.place(1, from[2] + y)
                                            + w.place(2, from[3]);
                                        (t, w.dims[2].every as isize * w.dst.s[2])
                                    } else {
                                        let number = ((n * len[1] + z) * len[2] + y) * row + phase;
                                        ((number * pitch) as isize, (cut.phases * pitch) as isize)
                                    };
                                    for x in 0..len[3] {
                                        *at.add(p + x) = a;
                                        *to.add(p + x) = t;
                                        a += step;
                                        t += every;
                                    }
                                    p += len[3];
                                }
                            }
                        }
                        let dst = if first { dst.wrapping_add(c) } else { temporary };
                        let every = if first {
                            [1, 2].map(|d| w.dims[d].every as isize * w.dst.s[d])
                        } else {
                            [row * pitch, cut.phases * pitch].map(|n| n as isize)
                        };
                        let chunk = Chunk { w, group, groups, c, lanes, base, at, dst, to, epilogue, own };
                        if w.lanewise > 0 {
                            chunk.lanewise(self.kit, len, s, every, cut.taps, packed);
                        } else {
                            chunk.products(self.kit, p, &w.segments(s), packed, ahead);
                            // Once for all of them.
                            ahead.1 = 0;
                        }
                        if own.is_null() {
                            packed = packed.wrapping_add(w.packed(self.kit));
                        }
                    }
                    if !first {
                        self.rows(phases, from, |p, count, place| {
                            let new = dst.wrapping_offset(place + c as isize * w.dst.c);
                            kernel.to_first(all, count, temporary.add(p * pitch), pitch, new, w.dst.c, w.dst.s[2]);
                        });
                    }
                }
                c += lanes;
            }
        }
    }

    /// Lanewise, channels side by side: planes of results that have the same planes of taps, all where they lie; `run` is called for each of
    /// them, and for some of the channels and an image at a time. It may run them later, unless a copy is read, as long as the taps live
    /// that this returns.
    ///
    /// # Safety
    /// As [`Task::run`].
    unsafe fn lanewise_rows(
        &self,
        w: &Window,
        from: [usize; 4],
        len: [usize; 4],
        channels: (usize, usize),
        src: *const f32,
        packed: *const f32,
        dst: *mut f32,
        epilogue: &Epilogue,
        mut run: impl FnMut(&Lanewise<f32>),
    ) -> Vec<Vec<TapRun>> {
        let (kit, copied) = (self.kit, w.is_copied(self.kit));
        let mut slot = self.memory.slot();
        let strip = slot.take::<f32>(self.cut.strip);
        let (extent, size) = (w.extent(from, len), w.dims.each_ref().map(|d| d.size));
        // Distances of the source's pixels.
        let s = if copied {
            let row = extent.len[2] * COPIED;
            [extent.len[1] * row, row, COPIED].map(|n| n as isize)
        } else {
            w.src.s
        };
        let planes = if copied {
            // With its padding written out.
            vec![Stretch { from: from[1], count: len[1], taps: (0, w.dims[0].taps.len()) }]
        } else {
            w.dims[0].stretches(from[1], from[1] + len[1])
        };
        let (lanes, block) = (kit.conv.lanes(), w.lanewise_block(kit));
        // The same for all phases.
        let most = self.windows.iter().map(Window::taps).max().unwrap_or(1);
        let together = (ROW_WEIGHTS / (most * w.lanewise).max(1) / lanes * lanes).max(lanes);
        let together = if copied { together.min(COPIED) } else { together };
        let every = |d: usize| w.dims[d].every as isize * w.dst.s[d];
        let mut taps = vec![Vec::new(); planes.len()];
        for (plane, taps) in planes.iter().zip(&mut taps) {
            w.runs(plane.taps, s[0], taps);
        }
        // Results that the last cache does not hold: 32 channels at 112x112, 16 images, asked for and stored past the caches: 52 and 74
        // GFLOPS; those that it holds, 512 at 14x14 to 7x7, as usual and asked for: 23 and 18 (backward-data, Zen 4).
        let far = w.is_far(w.dst.n, kit) || w.is_far(w.src.n, kit);
        let long = w.is_long();
        // Rows below a sliding tile whose lines fall in the same sets only push each other out (1024 channels at 7x7 104 and 87 GFLOPS), and
        // where nothing slides, what the last cache holds is read as it comes.
        let apart = w.src.s[2].unsigned_abs() * size_of::<f32>();
        let asks = !copied && (w.slides(kit) && !apart.is_multiple_of(4096) || w.is_far(w.src.n, kit));
        for c in (channels.0..channels.1).step_by(together) {
            for n in from[0]..from[0] + len[0] {
                let mut image = src.wrapping_offset(n as isize * w.src.n + c as isize);
                // The place of the source's first pixel, and how many rows and columns there are.
                let (mut first, mut there) = ([0; 3], [size[1], size[2]]);
                if copied {
                    let count = together.min(channels.1 - c);
                    // SAFETY: pixels of the problem; the strip has room for those of one image.
                    unsafe { strip::fill(kit.conv, count, image, &w.src, size, &extent, strip, COPIED) };
                    image = strip.cast_const();
                    (first, there) = (extent.from, [extent.len[1], extent.len[2]]);
                }
                for (plane, runs) in planes.iter().zip(&taps) {
                    for z in plane.from..plane.from + plane.count {
                        let at = |d: usize, i: usize| (i * w.dims[d].step) as isize - first[d];
                        let place = w.place(0, z) + w.place(1, from[2]) + w.place(2, from[3]) + c as isize;
                        let p = Lanewise {
                            rows: LaneRows {
                                size: [len[2], len[3]],
                                channels: together.min(channels.1 - c),
                                group: w.lanewise,
                                src: image.wrapping_offset(at(0, z) * s[0]),
                                src_step: [s[1], s[2]],
                                at: [at(1, from[2]), at(2, from[3])],
                                stride: [w.dims[1].step, w.dims[2].step],
                                there,
                                runs: runs.as_ptr(),
                                count: runs.len(),
                                asks,
                                long,
                            },
                            weights: packed.wrapping_add(c / lanes * block),
                            block,
                            dst: dst.wrapping_offset(n as isize * w.dst.n + place),
                            dst_step: [every(1), every(2)],
                            far,
                            finish: finish_from(epilogue, c),
                        };
                        run(&p);
                    }
                }
            }
        }
        taps
    }

    /// Calls `f` for each run of a block's collected results: the first one's number, how many, and their place in the tensor.
    /// Rows that follow each other without a gap are one run.
    fn rows(&self, phases: &[Window], from: [usize; 4], mut f: impl FnMut(usize, usize, isize)) {
        let w = &phases[0];
        let len = w.len(from, self.cut.block);
        // Columns of all phases, which follow each other in turn.
        let row = len[3] * phases.len();
        let count: usize = phases.iter().map(|w| w.len(from, self.cut.block)[3]).sum();
        let joined = count == row && row as isize * w.dst.s[2] == w.dims[1].every as isize * w.dst.s[1];
        for n in 0..len[0] {
            for z in 0..len[1] {
                let at = (n * len[1] + z) * len[2] * row;
                let plane = (from[0] + n) as isize * w.dst.n + w.place(0, from[1] + z) + w.place(2, from[3]);
                if joined {
                    f(at, len[2] * row, plane + w.place(1, from[2]));
                    continue;
                }
                for y in 0..len[2] {
                    f(at + y * row, count, plane + w.place(1, from[2] + y));
                }
            }
        }
    }
}

/// Some output channels of a block's results in one window.
struct Chunk<'a> {
    w: &'a Window,
    /// The first group, and how many share the strip.
    group: usize,
    groups: usize,
    /// The first channel of each group, and how many.
    c: usize,
    lanes: usize,
    /// The source and each result's place in it; where results go.
    base: *const f32,
    at: *const isize,
    dst: *mut f32,
    to: *const isize,
    epilogue: &'a Epilogue,
    /// Room for a piece of these channels' weights, if they are packed in turn; else null.
    own: *mut f32,
}

impl Chunk<'_> {
    /// Products of the whole window; `ahead`: so many elements from there on are asked for meanwhile.
    ///
    /// # Safety
    /// As [`Task::run`].
    unsafe fn products(
        &self,
        kit: &Kit,
        pixels: usize,
        segments: &[Segment],
        packed: *const f32,
        mut ahead: (*const f32, usize),
    ) {
        let (w, c) = (self.w, self.c);
        let (mr, steps) = (w.panel(kit), w.steps());
        let (panels, piece) = (w.cout.div_ceil(mr), piece(steps));
        let mut start = 0;
        let mut cursor = Cursor { segments, at: 0, done: 0 };
        let mut cut_segments = Vec::new();
        loop {
            let k = piece.min(steps - start);
            cut_segments.clear();
            cursor.take(k, &mut cut_segments);
            let last = start + k == steps;
            if !self.own.is_null() {
                // SAFETY: weights of the problem, which has one group; there is room for any piece of the chunk.
                unsafe { w.pack_some(kit, packed, self.own, (c, self.lanes), (start, k)) };
            }
            for g in 0..self.groups {
                let packed = packed.wrapping_add((self.group + g) * panels * mr * steps);
                let finish = finish_from(self.epilogue, (self.group + g) * w.cout + c);
                let p = Pixels {
                    pixels,
                    src: self.base.wrapping_add(g * w.cin),
                    at: self.at,
                    segments: cut_segments.as_ptr(),
                    count: cut_segments.len(),
                    panels: if self.own.is_null() {
                        packed.wrapping_add(start * panels * mr + c * k)
                    } else {
                        self.own.cast_const()
                    },
                    mr,
                    panel: mr * k,
                    lanes: self.lanes,
                    dst: self.dst.wrapping_add(g * w.cout),
                    to: self.to,
                    ahead: ahead.0,
                    ahead_len: ahead.1,
                    past: last && start == 0 && self.is_past(kit),
                    finish: Finish {
                        beta: if start == 0 { finish.beta } else { 1.0 },
                        bias: if last { finish.bias } else { core::ptr::null() },
                        activation: if last { finish.activation } else { Activation::None },
                    },
                };
                // SAFETY: pixels of the problem, panels of the packed weights.
                unsafe { kit.conv.pixels(&p) };
                ahead.1 = 0;
            }
            start += k;
            if last {
                break;
            }
        }
    }

    /// Whether results are stored past the caches: the last one does not hold them, they are not read first, and each pixel's are whole
    /// cache lines that one tile stores. (Zen 4, 3x3, 16 images, GFLOPS as usual and so: 3 to 32 channels, 299x299 to 149x149 81 and
    /// 89; 3 to 64, which take two tiles, 224x224 92 and 87.)
    fn is_past(&self, kit: &Kit) -> bool {
        const LINE: usize = 64;
        let (w, size) = (self.w, size_of::<f32>());
        let [z, y, x] = w.dst.s;
        let apart =
            [w.dst.n, z, y, x].iter().fold((w.cout | self.lanes) * size, |all, n| all | (n.unsigned_abs() * size));
        w.dst.c == 1
            && w.cout <= 2 * kit.conv.lanes()
            && w.is_far(w.dst.n, kit)
            && self.epilogue.beta == 0.0
            && (apart | self.dst.addr()).is_multiple_of(LINE)
    }

    /// Lanewise, of a strip whose pixels are `s` apart; results are `every` apart, and `taps` are the lowest and the highest of any
    /// phase.
    ///
    /// # Safety
    /// As [`Task::run`].
    unsafe fn lanewise(
        &self,
        kit: &Kit,
        len: [usize; 4],
        s: [isize; 3],
        every: [isize; 2],
        taps: [(isize, isize); 3],
        packed: *const f32,
    ) {
        let w = self.w;
        let mut runs = Vec::new();
        w.runs((0, w.dims[0].taps.len()), s[0], &mut runs);
        for plane in 0..if len.contains(&0) { 0 } else { len[0] * len[1] } {
            let first = plane * len[2] * len[3];
            // SAFETY: the places of a plane's first pixel; pixels of the problem.
            unsafe {
                // The strip begins at the lowest taps.
                let begin = *self.at.add(first) + taps[1].0 * s[1] + taps[2].0 * s[2];
                kit.conv.lanewise(&Lanewise {
                    rows: LaneRows {
                        size: [len[2], len[3]],
                        channels: self.lanes,
                        group: w.lanewise,
                        src: self.base.wrapping_offset(begin).wrapping_add(self.c),
                        src_step: [s[1], s[2]],
                        at: [-taps[1].0, -taps[2].0],
                        stride: [w.dims[1].step, w.dims[2].step],
                        there: [w.reach(taps, 1, len[2]), w.reach(taps, 2, len[3])],
                        runs: runs.as_ptr(),
                        count: runs.len(),
                        asks: false,
                        long: false,
                    },
                    weights: packed.wrapping_add(self.c / kit.conv.lanes() * w.lanewise_block(kit)),
                    block: w.lanewise_block(kit),
                    dst: self.dst.wrapping_offset(*self.to.add(first)),
                    dst_step: every,
                    far: false,
                    finish: finish_from(self.epilogue, self.c),
                });
            }
        }
    }
}

/// What becomes of sums of the channels from c on.
fn finish_from(epilogue: &Epilogue, c: usize) -> Finish<f32> {
    let bias = epilogue.bias;
    let bias = if bias.is_null() { bias } else { bias.wrapping_add(c) };
    Finish { beta: epilogue.beta, bias, activation: epilogue.activation }
}

/// A walk through segments.
struct Cursor<'a> {
    segments: &'a [Segment],
    at: usize,
    /// Elements of the current one that are behind.
    done: usize,
}

impl Cursor<'_> {
    /// The next k elements.
    fn take(&mut self, mut k: usize, out: &mut Vec<Segment>) {
        while k > 0 {
            let Some(segment) = self.segments.get(self.at) else { return };
            let some = (segment.len - self.done).min(k);
            out.push(Segment { offset: segment.offset + self.done as isize, len: some });
            self.done += some;
            k -= some;
            if self.done == segment.len {
                (self.at, self.done) = (self.at + 1, 0);
            }
        }
    }
}
