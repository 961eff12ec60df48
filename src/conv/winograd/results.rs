//! Forward and backward-data: blocks of tiles go through transform, products and transform back in cache.

use super::*;

/// Forward and backward-data.
pub struct Winograd {
    window: Window,
    form: Form,
    image: Image,
    /// Whether plain weights are transformed as they are used: never all of them are there.
    in_turn: bool,
    /// Whether a plan keeps weights that are transformed in turn, too, in the order in which that is done: transformed ones would
    /// come from memory in every call.
    ordered: bool,
    /// Tiles of a block at most.
    block: usize,
    /// Steps of a product.
    piece: usize,
}

/// How a call is cut. Results do not depend on it.
struct Cut {
    /// Tiles of a block, and result channels of a pass over them.
    block: usize,
    chunk: usize,
    /// Elements of the transformed weights of a point that a pass makes for itself; 0 if it is given all of them.
    own: usize,
}

/// Elements of a cache line.
const LINE: usize = 16;
/// Steps whose taps are put in order together: so many of kernels of up to nine taps, fewer of larger ones.
const SOME: usize = 16;
/// Room for the taps of some steps.
const ROOM: usize = 9 * SOME;
type Taps = [f32; ROOM * crate::kernels::tile::MAX_WIDTH];

/// Result channels of a pass at most, but for the last panel's.
const CHUNK: usize = 64;
/// Tiles of a block.
const BLOCK: usize = 48;
/// Steps of a product at most.
const PIECE: usize = 768;
/// Tiles up to which plain weights are transformed in turn, a panel and a piece at a time for each block: those that a quarter of the last
/// cache would hold if transformed, and others, which would go to memory and come back. (Zen 5, transformed all at once and in turn: 512
/// channels at 7x7, 16 images, 371 and 673 GFLOPS; at 28x28, 8 images, 694 and 752; 256 at 14x14, 16 images, 701 and 733; 128 at 28x28,
/// one image 500 and 713, 16 images 739 and 699; stride of 2, which has smaller products: 512 at 14x14, 16 images, 255 and 292, 256 at
/// 28x28, 256 tiles, 317 and 309.)
const IN_TURN: (usize, usize) = (128, 512);
/// Tiles of a block then, which shares a transform, and steps of a product: 64 steps 653 GFLOPS, 32 614; blocks of 32 tiles 577.
const IN_TURN_BLOCK: usize = 64;
const IN_TURN_PIECE: usize = 128;
/// Steps of which weights are asked for ahead of their transform.
const ASKED: usize = 8;

impl Winograd {
    pub fn new(p: &Problem, pass: Pass, kit: &Kit) -> Winograd {
        let forward = pass == Pass::Forward;
        let window = if forward { Window::forward(p) } else { Window::backward(p).swap_remove(0) };
        let source = if forward { p.input } else { p.output };
        let form = Form::new(p, pass);
        let planes = window.dims[0].taps.iter().map(|t| t.0).collect();
        let image = Image::of_form(&form, window.src, source, planes, window.cin, kit);
        let nr = kit.conv.nr();
        let one = form.points * image.planes.len().max(1) * image.pitch * size_of::<f32>();
        let most = (LARGEST / one).max(nr) / nr * nr;
        let tiles = form.tiles.count();
        let transformed = window.groups * form.weights * window.cout * image.planes.len() * window.cin;
        let transformed = transformed * size_of::<f32>();
        let many = transformed > kit.far / 2 && form.parts.len() == 1;
        let in_turn = tiles <= if many { IN_TURN.1 } else { IN_TURN.0 };
        let ordered = in_turn && transformed > kit.far;
        let block = if in_turn {
            // Blocks of even size.
            let most = most.min(IN_TURN_BLOCK);
            tiles.div_ceil(tiles.div_ceil(most).max(1)).max(1)
        } else {
            most.min(BLOCK)
        };
        let piece = if in_turn {
            blocking::kc(image.channels, IN_TURN_PIECE).next_multiple_of(SOME)
        } else {
            blocking::kc(image.channels, PIECE)
        };
        Winograd { window, form, image, in_turn, ordered, block, piece }
    }

    /// The tile that is computed, and the kernel, as they are written.
    pub fn name(&self) -> String {
        self.form.name(|taps| format!("{OUT}x{OUT},{taps}"))
    }

    /// Taps of the kernel, and of a row of it.
    fn taps(&self) -> (usize, usize) {
        let [_, high, wide] = self.window.kernel;
        (high * wide, wide)
    }
    /// Steps whose taps are put in order together.
    fn some(&self) -> usize {
        SOME.min(1 << (ROOM / self.taps().0).ilog2())
    }
    fn steps(&self) -> usize {
        self.image.planes.len() * self.window.cin
    }
    /// Output channels of a panel.
    fn panel(&self, kit: &Kit) -> usize {
        kit.conv.panel(self.window.cout)
    }
    fn panels(&self, kit: &Kit) -> usize {
        self.window.cout.div_ceil(self.panel(kit))
    }
    /// Elements of the taps of one panel and plane, in order.
    fn ordered(&self, kit: &Kit) -> usize {
        self.taps().0 * self.window.cin.next_multiple_of(SOME) * self.panel(kit)
    }
    /// Elements of weights that a plan keeps, transformed or in order.
    pub fn kept(&self, kit: &Kit) -> usize {
        if self.ordered {
            return self.window.groups * self.panels(kit) * self.image.planes.len() * self.ordered(kit);
        }
        self.window.groups * self.form.weights * self.panels(kit) * self.panel(kit) * self.steps()
    }

    /// # Safety
    /// The weights of the problem; `to` has room for [`Winograd::kept`] elements.
    pub unsafe fn keep(&self, kit: &Kit, weights: *const f32, to: *mut f32, threads: usize) {
        let w = &self.window;
        let (mr, panels, k) = (self.panel(kit), self.panels(kit), self.steps());
        let (from, to) = (Shared(weights.cast_mut()), Shared(to));
        pool::run(w.groups * panels, threads, &|task| {
            let (group, panel) = (task / panels, task % panels);
            for plane in 0..if self.ordered { w.dims[0].taps.len() } else { 0 } {
                let place = (task * w.dims[0].taps.len() + plane) * self.ordered(kit);
                for c in (0..w.cin).step_by(self.some()) {
                    let to = to.get().wrapping_add(place + c * self.taps().0 * mr);
                    let some = self.some().min(w.cin - c);
                    // SAFETY: some steps of a panel; the result's place is this task's.
                    unsafe { self.order(kit, from.get(), (group, panel, plane), (c, some), to) };
                }
            }
            if self.ordered {
                return;
            }
            let dst = to.get().wrapping_add((group * self.form.weights * panels + panel) * k * mr);
            let mut taps: Taps = [0.0; ROOM * crate::kernels::tile::MAX_WIDTH];
            for plane in 0..w.dims[0].taps.len() {
                let to = dst.wrapping_add(plane * w.cin * mr);
                // SAFETY: all steps of a panel; the result's place is this task's.
                unsafe {
                    let place = (to, panels * k * mr);
                    self.some_weights(kit, (from.get(), false), (group, panel, plane), (0, w.cin), place, &mut taps);
                }
            }
        });
    }

    /// Where a panel's weights in a plane begin.
    fn place(&self, kit: &Kit, (group, panel, plane): (usize, usize, usize)) -> isize {
        let w = &self.window;
        group as isize * w.group
            + (panel * self.panel(kit)) as isize * w.filter.o
            + w.dims[0].taps[plane].1 as isize * w.filter.s[0]
    }
    /// Whether the taps of a weight are consecutive.
    fn is_together(&self) -> bool {
        self.window.filter.s[1..] == [self.taps().1 as isize, 1]
    }

    /// Puts the taps of at most [`Winograd::some`] steps of a panel's weights in order: vectors of lanes, and within a step or within a tap, whichever
    /// lies closer.
    ///
    /// # Safety
    /// As [`Winograd::keep`]; `to` has room for all taps.
    unsafe fn order(
        &self,
        kit: &Kit,
        weights: *const f32,
        panel: (usize, usize, usize),
        (start, some): (usize, usize),
        to: *mut f32,
    ) {
        let (w, mr) = (&self.window, self.panel(kit));
        let lanes = mr.min(w.cout - panel.1 * mr);
        let src = weights.wrapping_offset(self.place(kit, panel) + start as isize * w.filter.i);
        let (taps, row) = self.taps();
        // SAFETY: some steps of a panel, all taps.
        unsafe {
            if self.is_together() && w.filter.i == taps as isize {
                // The channels are consecutive, too.
                kit.conv.to_last(lanes, taps * some, src, w.filter.o, 1, to, mr);
            } else if self.is_together() {
                for i in 0..some {
                    let src = src.wrapping_offset(i as isize * w.filter.i);
                    kit.conv.to_last(lanes, taps, src, w.filter.o, 1, to.add(i * taps * mr), mr);
                }
            } else {
                for t in 0..taps {
                    let at = (t / row) as isize * w.filter.s[1] + (t % row) as isize * w.filter.s[2];
                    let (src, to) = (src.wrapping_offset(at), to.add(t * self.some() * mr));
                    kit.conv.pack(mr, lanes, some, src, w.filter.o, w.filter.i, to);
                }
            }
        }
    }

    /// Transforms some steps of a panel's weights in a plane, from a multiple of [`Winograd::some`] on: step i of them at point p goes to
    /// `to + p*xi + i*mr`. The weights are those of the problem, or in order.
    ///
    /// # Safety
    /// As [`Winograd::keep`].
    unsafe fn some_weights(
        &self,
        kit: &Kit,
        (weights, ordered): (*const f32, bool),
        panel: (usize, usize, usize),
        (start, len): (usize, usize),
        (to, xi): (*mut f32, usize),
        room: &mut Taps,
    ) {
        let (w, mr) = (&self.window, self.panel(kit));
        let (taps, row) = self.taps();
        let lanes = mr.min(w.cout - panel.1 * mr);
        let transform = |n: usize, from: *const f32, tap: [isize; 2], to: *mut f32| {
            for part in &self.form.parts {
                // Taps of a strand are equally far apart.
                let first = [0, 1].map(|d: usize| part.strands[d].taps[0] as isize * tap[d]);
                let step = [0, 1].map(|d: usize| {
                    let taps = part.strands[d].taps;
                    (taps[1] as isize - taps[0] as isize) * tap[d]
                });
                let (from, to) = (from.wrapping_offset(first[0] + first[1]), to.wrapping_add(part.weights * xi));
                // SAFETY: taps of n weights, and the places of their points.
                unsafe { kit.conv.wino_weights(n, from, (step[0], step[1]), part.sides, to, xi) };
            }
        };
        if !ordered && w.filter.o == 1 && lanes.is_multiple_of(kit.conv.lanes()) {
            // Where they lie.
            let weights = weights.wrapping_offset(self.place(kit, panel));
            let tap = [w.filter.s[1], w.filter.s[2]];
            for i in 0..len {
                let from = weights.wrapping_offset((start + i) as isize * w.filter.i);
                let next = from.wrapping_offset(ASKED as isize * w.filter.i);
                for t in 0..taps {
                    let next = next.wrapping_offset((t / row) as isize * tap[0] + (t % row) as isize * tap[1]);
                    for lane in (0..lanes).step_by(LINE) {
                        prefetch(next.wrapping_add(lane));
                    }
                }
                transform(lanes, from, tap, to.wrapping_add(i * mr));
            }
            return;
        }
        let (group, number, plane) = panel;
        let number = (group * self.panels(kit) + number) * self.image.planes.len() + plane;
        // Where the taps of channel i are, and how many channels lie right.
        let together = self.is_together();
        let (tap, channel) = if together { (mr, taps * mr) } else { (self.some() * mr, mr) };
        for c in (0..len).step_by(self.some()) {
            let some = self.some().min(len - c);
            let from = if ordered {
                weights.wrapping_add(number * self.ordered(kit) + (start + c) * taps * mr)
            } else {
                // SAFETY: some steps of a panel; there is room for them.
                unsafe { self.order(kit, weights, panel, (start + c, some), room.as_mut_ptr()) };
                room.as_ptr()
            };
            let most = if together { 1 } else { some };
            for i in (0..some).step_by(most) {
                let tap = [(row * tap) as isize, tap as isize];
                transform(most * mr, from.wrapping_add(i * channel), tap, to.wrapping_add((c + i) * mr));
            }
        }
    }

    fn v_pitch(&self, cut: &Cut) -> usize {
        spread(self.image.planes.len() * cut.block * self.image.pitch)
    }
    fn m_pitch(&self, cut: &Cut) -> usize {
        spread(cut.block * cut.chunk)
    }
    fn temporary(&self, cut: &Cut) -> usize {
        if self.window.dst.c == 1 { 0 } else { OUT * OUT * self.form.tiles.cols.min(cut.block) * cut.chunk }
    }
    /// Bytes that a thread needs.
    fn each(&self, cut: &Cut) -> usize {
        2 * bytes::<isize>(cut.block)
            + bytes::<f32>(self.image.strip(self.form.tiles.cols.min(cut.block)))
            + bytes::<f32>(self.form.points * self.v_pitch(cut))
            + bytes::<f32>(self.form.points * self.m_pitch(cut))
            + bytes::<f32>(self.temporary(cut))
            + bytes::<f32>(self.form.weights * cut.own)
    }
    /// Whether a call whose weights no plan keeps has no need of [`Winograd::keep`].
    pub fn is_in_turn(&self) -> bool {
        self.in_turn
    }
    fn is_plain(&self, kept: bool) -> bool {
        self.ordered || self.in_turn && !kept
    }
    /// The cut for so many threads, with plain weights or transformed ones: fewer tiles in a block if there would be few blocks (each
    /// of which transforms the weights, if that is done in turn), or if their memory would be too much.
    fn cut(&self, kit: &Kit, threads: usize, plain: bool) -> Cut {
        let (mr, nr) = (self.panel(kit), kit.conv.nr());
        let tiles = self.form.tiles.count();
        // Whole panels: a pass begins where one does.
        let chunk = if plain { 1 } else { CHUNK.min(self.window.cout) }.next_multiple_of(mr);
        let block = if threads == 1 || plain { self.block } else { tiles.div_ceil(3 * threads).next_multiple_of(nr) };
        let own = if plain { spread(self.piece * chunk) } else { 0 };
        let mut cut = Cut { block: block.clamp((4 * nr).min(self.block), self.block), chunk, own };
        while cut.block > nr && self.each(&cut) * threads > MOST_BYTES {
            cut.block -= nr;
        }
        cut
    }

    /// `kept`: whether the weights went through [`Winograd::keep`].
    pub fn room(&self, kit: &Kit, threads: usize, kept: bool) -> Room {
        let plain = self.is_plain(kept);
        Room { shared: 0, each: self.each(&self.cut(kit, threads, plain)) }
    }

    /// # Safety
    /// As [`Direct::run`](super::super::direct::Direct::run); weights that were not kept are those of the problem, and only of one that is in turn.
    pub unsafe fn run(
        &self,
        kit: &Kit,
        (weights, kept): (*const f32, bool),
        src: *const f32,
        dst: *mut f32,
        epilogue: &Epilogue,
        memory: &Memory,
        threads: usize,
    ) {
        let w = &self.window;
        // Few blocks: smaller ones, then shares of the result channels.
        let tiles = self.form.tiles.count();
        let cut = self.cut(kit, threads, self.is_plain(kept));
        let block = cut.block;
        let blocks = tiles.div_ceil(block);
        let threads = threads.min(memory.threads());
        let mr = self.panel(kit);
        let parts = if threads == 1 { 1 } else { (2 * threads).div_ceil(blocks * w.groups) };
        let part = w.cout.div_ceil(parts.min(w.cout.div_ceil(mr))).next_multiple_of(mr);
        let parts = w.cout.div_ceil(part);
        let (src, dst, u) = (Shared(src.cast_mut()), Shared(dst), Shared(weights.cast_mut()));
        let bias = Shared(epilogue.bias.cast_mut());
        let (beta, activation) = (epilogue.beta, epilogue.activation);
        pool::run(blocks * w.groups * parts, threads, &|task| {
            let (part_of, rest) = (task % parts, task / parts);
            let (number, group) = (rest % blocks, rest / blocks);
            let epilogue = Epilogue { beta, bias: bias.get(), activation };
            let share = (part_of * part, w.cout.min((part_of + 1) * part));
            let range = (number * block, tiles.min((number + 1) * block));
            // SAFETY: tasks have results of their own.
            unsafe {
                self.task(kit, group, &cut, range, share, (u.get(), kept), src.get(), dst.get(), &epilogue, memory)
            }
        });
    }

    unsafe fn task(
        &self,
        kit: &Kit,
        group: usize,
        cut: &Cut,
        (from, to): (usize, usize),
        (c0, c1): (usize, usize),
        (u, kept): (*const f32, bool),
        src: *const f32,
        dst: *mut f32,
        epilogue: &Epilogue,
        memory: &Memory,
    ) {
        let (w, form, image, block) = (&self.window, &self.form, &self.image, cut.block);
        let mut slot = memory.slot();
        let (at, places) = (slot.take::<isize>(block), slot.take::<isize>(block));
        let strip = slot.take::<f32>(image.strip(form.tiles.cols.min(block)));
        let (v_pitch, m_pitch) = (self.v_pitch(cut), self.m_pitch(cut));
        let v = slot.take::<f32>(form.points * v_pitch);
        let m = slot.take::<f32>(form.points * m_pitch);
        let temporary = slot.take::<f32>(self.temporary(cut));
        let own = slot.take::<f32>(form.weights * cut.own);
        let src = src.wrapping_offset((group * w.cin) as isize * w.src.c);
        let dst = dst.wrapping_offset((group * w.cout) as isize * w.dst.c);
        let (mr, panels, k) = (self.panel(kit), self.panels(kit), self.steps());
        let slots = form.tiles.slots(from, to);
        let mut taps: Taps = [0.0; ROOM * crate::kernels::tile::MAX_WIDTH];
        // SAFETY: tiles of the problem; the slot has room for a block.
        unsafe {
            for t in 0..to - from {
                *at.add(t) = (t * image.pitch) as isize;
                *places.add(t) = (t * cut.chunk) as isize;
            }
            for plane in 0..image.planes.len() {
                let v = v.wrapping_add(plane * block * image.pitch);
                form.tiles.runs(from, to, |run| {
                    image.transform(kit, form, src, run, plane, strip, (v, image.pitch, v_pitch));
                });
            }
            // Planes, and pieces of their channels: each adds to the sums of those before.
            let pieces = || {
                let starts = (0..image.channels).step_by(self.piece);
                let piece = move |start| (start, self.piece.min(image.channels - start));
                (0..image.planes.len()).flat_map(move |plane| starts.clone().map(move |start| (plane, piece(start))))
            };
            let mut c = c0;
            while c < c1 {
                let lanes = cut.chunk.min(c1 - c);
                let product = |point: usize,
                               last: [bool; 2],
                               (plane, (start, len)): (usize, (usize, usize)),
                               (panels, panel): (*const f32, usize)| {
                    let with = slots.with(last);
                    let offset = (plane * block * image.pitch + start) as isize;
                    let first = plane == 0 && start == 0;
                    kit.conv.pixels(&Pixels {
                        pixels: with.len(),
                        src: v.wrapping_add(point * v_pitch),
                        at: at.wrapping_add(with.start),
                        segments: &Segment { offset, len },
                        count: 1,
                        panels,
                        mr,
                        panel,
                        lanes,
                        dst: m.wrapping_add(point * m_pitch),
                        to: places.wrapping_add(with.start),
                        ahead: core::ptr::null(),
                        ahead_len: 0,
                        past: false,
                        finish: Finish {
                            beta: if first { 0.0 } else { 1.0 },
                            bias: core::ptr::null(),
                            activation: Activation::None,
                        },
                    });
                };
                if cut.own > 0 {
                    for piece in pieces() {
                        let (plane, (_, len)) = piece;
                        for i in (0..lanes).step_by(mr) {
                            let place = (own.wrapping_add(i * len), cut.own);
                            self.some_weights(kit, (u, kept), (group, (c + i) / mr, plane), piece.1, place, &mut taps);
                        }
                        for part in &form.parts {
                            part.points(|point, weights, last| {
                                let u = own.wrapping_add(weights * cut.own).cast_const();
                                product(point, last, piece, (u, len * mr));
                            });
                        }
                    }
                } else {
                    for part in &form.parts {
                        part.points(|point, weights, last| {
                            let u = u.wrapping_add(((group * form.weights + weights) * panels + c / mr) * k * mr);
                            for piece in pieces() {
                                let (plane, (start, _)) = piece;
                                let u = u.wrapping_add((plane * image.channels + start) * mr);
                                product(point, last, piece, (u, k * mr));
                            }
                        });
                    }
                }
                let bias = epilogue.bias;
                let bias = if bias.is_null() { bias } else { bias.add(group * w.cout + c) };
                let finish = Finish { beta: epilogue.beta, bias, activation: epilogue.activation };
                form.tiles.runs(from, to, |run| {
                    for parts in form.parts.chunk_by(|a, b| a.family == b.family) {
                        self.finish(kit, run, parts, (c, lanes, cut.chunk), (m, m_pitch), dst, &finish, temporary);
                    }
                });
                c += lanes;
            }
        }
    }

    /// The results of a run of tiles of which the parts are terms.
    unsafe fn finish(
        &self,
        kit: &Kit,
        run: &Run,
        parts: &[Part],
        (c, lanes, chunk): (usize, usize, usize),
        (m, m_pitch): (*const f32, usize),
        dst: *mut f32,
        finish: &Finish<f32>,
        temporary: *mut f32,
    ) {
        let s = &self.window.dst;
        let [rows, cols] = parts[0].of(run.last).map(|s| s.results);
        if rows == 0 || cols == 0 {
            return;
        }
        let every = self.form.every;
        let [y, x] = [(0, run.row), (1, run.col)].map(|(d, i)| parts[0].strands[d].first + i * OUT * every);
        let place = run.image as isize * s.n + run.plane as isize * s.s[0] + y as isize * s.s[1] + x as isize * s.s[2];
        let dst = dst.wrapping_offset(place + c as isize * s.c);
        let (down, right) = (every as isize * s.s[1], every as isize * s.s[2]);
        let mut terms = [Term { src: m, sides: parts[0].sides, width: 0 }; MOST_TERMS];
        let terms = &mut terms[..parts.len()];
        // SAFETY: as the caller's.
        unsafe {
            let mut tile = |t: usize, to: *mut f32, step: (isize, isize)| {
                for (term, part) in terms.iter_mut().zip(parts) {
                    let src = m.wrapping_add(part.point * m_pitch + (run.first + t) * chunk);
                    *term = Term { src, sides: part.of(run.last), width: part.sides[1].points() };
                }
                kit.conv.wino_output(lanes, terms, m_pitch, to, step, finish);
            };
            if s.c == 1 {
                for t in 0..run.count {
                    tile(t, dst.wrapping_offset((t * OUT) as isize * right), (down, right));
                }
                return;
            }
            let width = (run.count - 1) * OUT + cols;
            let row = run.count * OUT * chunk;
            for y in 0..if finish.beta == 0.0 { 0 } else { rows } {
                let old = dst.wrapping_offset(y as isize * down);
                kit.conv.to_last(lanes, width, old, s.c, right, temporary.add(y * row), chunk);
            }
            for t in 0..run.count {
                tile(t, temporary.add(t * OUT * chunk), (row as isize, chunk as isize));
            }
            for y in 0..rows {
                let new = dst.wrapping_offset(y as isize * down);
                kit.conv.to_first(lanes, width, temporary.add(y * row), chunk, new, s.c, right);
            }
        }
    }
}
