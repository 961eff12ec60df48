//! Which algorithm a problem gets, and the calls around it: memory, weights, threads.

use super::direct::{Direct, Window, is_depthwise, lanewise};
use super::gradient::Gradient;
use super::memory::{ALIGN, MOST_BYTES, MOST_SLOTS, Memory, Room, bytes};
use super::planar::Planar;
use super::pointwise::Pointwise;
use super::problem::{Math, Pass, Problem};
use super::scatter::Scatter;
use super::winograd::{self, Winograd, WinogradGradient};
use super::{Epilogue, Kit, bias, bias::Bias, naive};
use crate::runtime::memory as scratch;
use crate::runtime::{env, pool, trace};
use crate::status::{Error, Status};
use std::sync::atomic::{AtomicU32, Ordering};

/// The default math mode: 0 not yet known, 1 default, 2 strict.
static MATH: AtomicU32 = AtomicU32::new(0);

/// The math mode of descriptions that leave it open.
pub fn math() -> Math {
    match MATH.load(Ordering::Relaxed) {
        1 => Math::Default,
        2 => Math::Strict,
        _ => {
            let mode = match env::CONV_MATH.get() {
                None => Math::Default,
                Some(text) if text.eq_ignore_ascii_case("default") => Math::Default,
                Some(text) if text.eq_ignore_ascii_case("strict") => Math::Strict,
                Some(text) => {
                    trace::say(format_args!("CORTEN_CONV_MATH={text} is not one of default, strict; ignored"));
                    Math::Default
                }
            };
            set_math(mode);
            mode
        }
    }
}

pub fn set_math(mode: Math) {
    MATH.store(if mode == Math::Strict { 2 } else { 1 }, Ordering::Relaxed);
}

enum Algorithm {
    Direct(Direct),
    Pointwise(Pointwise),
    Planar(Planar),
    Scatter(Scatter),
    Gradient(Gradient),
    Winograd(Winograd),
    WinogradGradient(WinogradGradient),
}

impl Algorithm {
    /// Direct sums over windows, and why this way; `why` is what speaks against Winograd's algorithm.
    fn sums(p: &Problem, mut windows: Vec<Window>, kit: &Kit, why: &'static str) -> (Algorithm, &'static str) {
        if lanewise(p, kit) > 0 {
            let why = if is_depthwise(p) { "every channel is a group of its own" } else { "groups share vectors" };
            let windows = windows.into_iter().map(|w| w.folded(p, kit)).collect();
            return (Algorithm::Direct(Direct::new(windows, kit)), why);
        }
        if p.kernel != [1; 3] {
            return (Algorithm::Direct(Direct::new(windows, kit)), why);
        }
        let against = match &windows[..] {
            [window] => Pointwise::reason_against(window, kit),
            _ => Some("one tap, but strided or padded"),
        };
        match against {
            Some(why) => (Algorithm::Direct(Direct::new(windows, kit)), why),
            None => (Algorithm::Pointwise(Pointwise::new(windows.swap_remove(0))), "one tap: products of matrices"),
        }
    }
}

/// Why Winograd's algorithm.
const WINOGRAD: &str = "kernel of up to 6x6 taps, stride 1 or 2, enough work";

/// A problem, a pass and the algorithm for them.
pub struct Plan {
    /// As it was asked for: `pass` is the caller's, the problem's sizes are those of the convolution.
    problem: Problem,
    pass: Pass,
    kit: Kit,
    algorithm: Algorithm,
    why: &'static str,
}

/// The tensors of a call; which of them a pass uses, and which it writes, is the pass's matter.
#[derive(Clone, Copy)]
pub struct Inputs {
    /// Of the call: the input of a transposed convolution is the output of the convolution inside.
    pub x: *const f32,
    pub weights: *const f32,
    pub bias: *const f32,
    pub y: *const f32,
    /// Weights as [`Plan::prepare`] left them; null: prepare them.
    pub prepared: *const f32,
    pub workspace: Option<(*mut u8, usize)>,
}

impl Plan {
    pub fn new(problem: Problem, pass: Pass) -> Plan {
        Plan::with(problem, pass, Kit::get())
    }

    pub fn with(problem: Problem, pass: Pass, kit: Kit) -> Plan {
        let problem = if pass == Pass::Forward { problem } else { problem.without_epilogue() };
        let inner = pass.of(problem.transposed);
        let against = winograd::reason_against(&problem, inner, &kit);
        let (algorithm, why) = match (inner, against) {
            (Pass::Forward, Some(why)) => Algorithm::sums(&problem, vec![Window::forward(&problem)], &kit, why),
            (Pass::BackwardData, Some(why)) => {
                let planar = || Planar::new(&problem, &kit).map(Algorithm::Planar);
                let few = planar().or_else(|| Scatter::new(&problem, &kit).map(Algorithm::Scatter));
                let few = few.map(|algorithm| (algorithm, "few channels in the result"));
                few.unwrap_or_else(|| Algorithm::sums(&problem, Window::backward(&problem), &kit, why))
            }
            (Pass::BackwardWeights, Some(why)) => (Algorithm::Gradient(Gradient::new(&problem, &kit)), why),
            (Pass::BackwardWeights, None) => {
                (Algorithm::WinogradGradient(WinogradGradient::new(&problem, &kit)), WINOGRAD)
            }
            (pass, None) => (Algorithm::Winograd(Winograd::new(&problem, pass, &kit)), WINOGRAD),
        };
        Plan { problem, pass, kit, algorithm, why }
    }

    pub fn problem(&self) -> &Problem {
        &self.problem
    }
    pub fn pass(&self) -> Pass {
        self.pass
    }

    /// Elements of prepared weights; 0 for a pass that has none.
    pub fn prepared(&self) -> usize {
        match &self.algorithm {
            Algorithm::Direct(d) => d.packed(&self.kit),
            Algorithm::Pointwise(d) => d.packed(&self.kit),
            Algorithm::Planar(d) => d.packed(),
            Algorithm::Scatter(d) => d.packed(&self.kit),
            Algorithm::Winograd(w) => w.kept(&self.kit),
            _ => 0,
        }
    }

    /// Prepares weights for many calls.
    ///
    /// # Safety
    /// The weights of the problem; `to` has room for [`Plan::prepared`] elements, aligned to 64 bytes.
    pub unsafe fn prepare(&self, weights: *const f32, to: *mut f32) {
        let threads = pool::threads_for(16.0 * self.prepared() as f64);
        // SAFETY: as this function's.
        unsafe { self.prepare_on(weights, to, threads) }
    }

    unsafe fn prepare_on(&self, weights: *const f32, to: *mut f32, threads: usize) {
        // SAFETY: as the callers'.
        unsafe {
            match &self.algorithm {
                Algorithm::Direct(d) => d.pack(&self.kit, weights, to, threads),
                Algorithm::Pointwise(d) => d.pack(&self.kit, weights, to, threads),
                Algorithm::Planar(d) => d.pack(weights, to),
                Algorithm::Scatter(d) => d.pack(&self.kit, weights, to),
                Algorithm::Winograd(w) => w.keep(&self.kit, weights, to, threads),
                _ => {}
            }
        }
    }

    /// Whether weights that are not prepared are so as they are used.
    fn is_in_turn(&self) -> bool {
        match &self.algorithm {
            Algorithm::Direct(d) => d.is_in_turn(),
            Algorithm::Winograd(w) => w.is_in_turn(),
            _ => false,
        }
    }

    pub(super) fn room(&self, threads: usize, with_weights: bool) -> Room {
        let room = match &self.algorithm {
            Algorithm::Direct(d) => d.room(&self.kit, threads, !with_weights),
            Algorithm::Pointwise(d) => d.room(&self.kit),
            Algorithm::Planar(d) => d.room(),
            Algorithm::Scatter(d) => d.room(&self.kit),
            Algorithm::Gradient(g) => g.room(&self.kit, threads),
            Algorithm::Winograd(w) => w.room(&self.kit, threads, !with_weights || !w.is_in_turn()),
            Algorithm::WinogradGradient(w) => w.room(&self.kit),
        };
        let weights = if with_weights && !self.is_in_turn() { bytes::<f32>(self.prepared()) } else { 0 };
        Room { shared: room.shared + weights, ..room }
    }

    /// Bytes of a call's memory that [`MOST_BYTES`] does not count: prepared weights, or one set of sums of their gradient.
    pub(super) fn in_proportion(&self) -> usize {
        match &self.algorithm {
            Algorithm::Gradient(g) => bytes::<f32>(g.sums()),
            Algorithm::WinogradGradient(g) => bytes::<f32>(g.sums()),
            _ => bytes::<f32>(self.prepared()),
        }
    }

    /// So many threads, or fewer if their memory would be too much.
    pub(super) fn within_bounds(&self, mut threads: usize) -> usize {
        loop {
            let room = self.room(threads, true);
            let left = (MOST_BYTES + self.in_proportion()).saturating_sub(room.shared + ALIGN);
            let most = left.checked_div(room.each).unwrap_or(threads).max(1);
            if threads <= most {
                return threads;
            }
            threads = most;
        }
    }

    /// Bytes of workspace with which a call needs no memory of the library, at the present number of threads.
    pub fn workspace(&self) -> usize {
        let mut threads = self.within_bounds(crate::runtime::num_threads().clamp(1, MOST_SLOTS));
        let mut most = 0;
        loop {
            // A call whose weights are kept may cut its blocks in another way, and need more.
            for with_weights in [true, false] {
                most = most.max(self.room(threads, with_weights).bytes(threads));
            }
            if threads == 1 {
                return most;
            }
            threads /= 2;
        }
    }

    /// Runs the pass. `result` is what it writes: y, dx or dw; `result_bias` the gradient of the bias, or null.
    ///
    /// # Safety
    /// Tensors of the problem; what is written overlaps nothing else.
    pub unsafe fn run(&self, inputs: &Inputs, result: *mut f32, result_bias: *mut f32) -> Result<(), Error> {
        let p = &self.problem;
        let inner = self.pass.of(p.transposed);
        let start = trace::start();
        // The convolution's own input and output.
        let (x, y) = if p.transposed { (inputs.y, inputs.x) } else { (inputs.x, inputs.y) };
        let source = if inner == Pass::Forward { x } else { y };
        let epilogue = Epilogue { beta: p.beta, bias: inputs.bias, activation: p.activation };
        let wanted = self.within_bounds(pool::threads_for(p.flops()).clamp(1, MOST_SLOTS));
        let with_weights = inputs.prepared.is_null();
        let mut threads = wanted;
        if let Some((_, size)) = inputs.workspace {
            while threads > 1 && self.room(threads, with_weights).bytes(threads) > size {
                threads /= 2;
            }
            let need = self.room(threads, with_weights).bytes(threads);
            if need > size {
                return Err(Error {
                    status: Status::Argument,
                    text: format!("workspace_bytes is {size}, expected at least {need} or no workspace"),
                });
            }
        }
        // What one thread needs decides whether there is enough: the way must not depend on the number of threads.
        let allows = |threads: usize| scratch::allows::<u8>(self.room(threads, with_weights).bytes(threads));
        let enough = inputs.workspace.is_some() || allows(1);
        while threads > 1 && inputs.workspace.is_none() && !allows(threads) {
            threads /= 2;
        }
        let room = self.room(threads, with_weights);
        let memory = if enough { Memory::new(room, threads, inputs.workspace) } else { None };
        let by_definition = memory.is_none();
        let mut bias = (!result_bias.is_null()).then_some(Bias { to: result_bias, beta: p.beta });
        // SAFETY: the caller's promise, and memory of the size that the algorithm asked for.
        unsafe {
            match memory {
                Some(memory) => {
                    // Of a transposed convolution it is the gradient of what the convolution inside has for an image.
                    let mut own = || if p.transposed { None } else { bias.take() };
                    let mut prepared = inputs.prepared;
                    if with_weights && !self.is_in_turn() && self.prepared() > 0 {
                        let to = memory.shared::<u8>().wrapping_add(room.shared - bytes::<f32>(self.prepared()));
                        self.prepare_on(inputs.weights, to.cast(), threads);
                        prepared = to.cast::<f32>();
                    }
                    let kept = !prepared.is_null();
                    let weights = (if kept { prepared } else { inputs.weights }, kept);
                    match &self.algorithm {
                        Algorithm::Direct(d) => {
                            d.run(&self.kit, weights, source, result, &epilogue, &memory, threads);
                        }
                        Algorithm::Pointwise(d) => {
                            d.run(&self.kit, prepared, source, result, &epilogue, &memory, threads);
                        }
                        Algorithm::Planar(d) => {
                            d.run(&self.kit, prepared, source, result, &epilogue, &memory, threads);
                        }
                        Algorithm::Scatter(d) => {
                            d.run(&self.kit, prepared, source, result, &epilogue, &memory, threads);
                        }
                        Algorithm::Winograd(w) => {
                            w.run(&self.kit, weights, source, result, &epilogue, &memory, threads);
                        }
                        Algorithm::Gradient(g) => g.run(&self.kit, x, y, result, p.beta, own(), &memory, threads),
                        Algorithm::WinogradGradient(g) => {
                            let own = if g.sums_bias() { own() } else { None };
                            g.run(&self.kit, x, y, result, p.beta, own, &memory, threads);
                        }
                    }
                }
                None => match inner {
                    _ if inputs.weights.is_null() && inner != Pass::BackwardWeights => {
                        return Err(Error {
                            status: Status::NoMemory,
                            text: format!(
                                "no memory (see CORTEN_SCRATCH_LIMIT): {} bytes were asked for; a workspace would do, or a plan without weights",
                                room.bytes(threads)
                            ),
                        });
                    }
                    Pass::Forward => naive::forward(p, x, inputs.weights, result, &epilogue),
                    Pass::BackwardData => naive::backward_data(p, y, inputs.weights, result, &epilogue),
                    Pass::BackwardWeights => naive::backward_weights(p, x, y, result, p.beta),
                },
            }
            if let Some(bias) = bias {
                // The result of the call, which is the input of the convolution inside if it is transposed.
                let (channels, size, s, dy) = if p.transposed {
                    (p.ic, p.input, p.input_strides(), x)
                } else {
                    (p.oc, p.output, p.output_strides(), y)
                };
                bias::gradient(&self.kit, p.batch, channels, size, &s, dy, bias, threads);
            }
        }
        if let Some(start) = start {
            let line = Line { plan: self, by_definition };
            trace::report(&format!("conv_{} {line};", self.pass.name()), &[], p.flops(), start);
        }
        Ok(())
    }
}

/// The problem and what it gets from a call that brings no workspace, in one line.
impl core::fmt::Display for Plan {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        let by_definition = !scratch::allows::<u8>(self.room(1, true).bytes(1));
        Line { plan: self, by_definition }.fmt(f)
    }
}

/// A plan, and whether a call has the memory for its algorithm.
struct Line<'a> {
    plan: &'a Plan,
    by_definition: bool,
}

impl core::fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        let Plan { problem: p, kit, algorithm, why, .. } = self.plan;
        let layout = if p.layout == super::problem::Layout::Last { "channels_last" } else { "channels_first" };
        let transposed = if p.transposed { " transposed" } else { "" };
        write!(f, "{p} {layout}{transposed}: ")?;
        if self.by_definition {
            write!(f, "by the definition; because: no memory of {} bytes for: ", self.plan.room(1, true).bytes(1))?;
        }
        match algorithm {
            Algorithm::Direct(d) => {
                write!(f, "direct")?;
                if is_depthwise(p) {
                    write!(f, " depthwise")?;
                } else if lanewise(p, kit) > 0 {
                    write!(f, " lanewise")?;
                }
                if d.phases() > 1 {
                    write!(f, " in {} phases", d.phases())?;
                }
                write!(f, "{}", if d.is_in_place() { ", source in place" } else { ", source in strips" })?;
            }
            Algorithm::Pointwise(_) => write!(f, "direct pointwise, pixels in vectors")?,
            Algorithm::Planar(_) => write!(f, "direct planar, pixels in vectors")?,
            Algorithm::Scatter(_) => write!(f, "direct scatter, products added in place")?,
            Algorithm::Gradient(g) if g.chunks() == 1 => write!(f, "direct gradient, one sum")?,
            Algorithm::Gradient(g) => write!(f, "direct gradient, {} partial sums", g.chunks())?,
            Algorithm::Winograd(w) => write!(f, "winograd {}", w.name())?,
            Algorithm::WinogradGradient(w) => write!(f, "winograd {}", w.name())?,
        }
        write!(f, "; tile {}x{} {}", kit.conv.mr(), kit.conv.nr(), crate::runtime::isa_name())?;
        if self.by_definition { Ok(()) } else { write!(f, "; because: {why}") }
    }
}
