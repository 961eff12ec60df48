//! Convolution: checks of pointers, plans behind handles.
//!
//! A problem is a plain struct ([`corten_conv`], in the header next to these functions); the core checks its fields.
//! Every function here returns a status, and an error leaves all tensors as they were.

use crate::status::code_of;
use core::ffi::{c_char, c_int, c_void};
use corten_core::conv::{self, Description, Error, Inputs, Math, Pass, Plan, Problem, Status};
use std::alloc::{Layout, alloc, dealloc};

#[allow(non_camel_case_types)]
pub type corten_conv = Description;

/// A plan and the weights it keeps.
#[allow(non_camel_case_types)]
pub struct corten_conv_plan {
    plan: Plan,
    weights: Option<Kept>,
}

/// Prepared weights.
struct Kept {
    at: *mut f32,
    layout: Layout,
}

impl Kept {
    fn new(elements: usize) -> Result<Kept, Error> {
        let bytes = elements.max(1).saturating_mul(size_of::<f32>());
        let failed = || Error::new(Status::NoMemory, format!("no memory for {bytes} bytes of weights"));
        let layout = Layout::from_size_align(bytes, 64).map_err(|_| failed())?;
        // SAFETY: the size is not zero.
        let at = unsafe { alloc(layout) }.cast::<f32>();
        if at.is_null() { Err(failed()) } else { Ok(Kept { at, layout }) }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.at.cast(), self.layout) };
    }
}

fn invalid<T>(text: String) -> Result<T, Error> {
    Err(Error::new(Status::Argument, text))
}

/// # Safety
/// Null, or a struct of the caller.
unsafe fn problem(conv: *const corten_conv) -> Result<Problem, Error> {
    if conv.is_null() {
        return invalid("conv is NULL".into());
    }
    // SAFETY: the caller's struct; its size is looked at before anything behind it.
    unsafe {
        if (*conv).struct_size != size_of::<corten_conv>() {
            let mut head = Description::new(2);
            head.struct_size = (*conv).struct_size;
            return Problem::new(&head, Math::Default);
        }
        Problem::new(&*conv, conv::math())
    }
}

fn pass(pass: c_int) -> Result<Pass, Error> {
    match pass {
        0 => Ok(Pass::Forward),
        1 => Ok(Pass::BackwardData),
        2 => Ok(Pass::BackwardWeights),
        x => invalid(format!(
            "pass is {x}, expected CORTEN_FORWARD (0), CORTEN_BACKWARD_DATA (1) or CORTEN_BACKWARD_WEIGHTS (2)"
        )),
    }
}

/// A tensor of a call: its name, where it is, and how many numbers it has; whether it may be NULL.
type Tensor = (&'static str, *const c_void, usize, bool);
const NEEDED: bool = false;
const OPTIONAL: bool = true;

fn present(tensors: &[Tensor]) -> Result<(), Error> {
    for &(name, pointer, elements, optional) in tensors {
        if pointer.is_null() && elements > 0 && !optional {
            let numbers = if elements == 1 { "number" } else { "numbers" };
            return invalid(format!("{name} is NULL, expected {elements} {numbers}"));
        }
        if !pointer.cast::<f32>().is_aligned() {
            return invalid(format!("{name} is at {pointer:p}, which is no address of a number of 4 bytes"));
        }
    }
    Ok(())
}

/// Checks all pointers of a call: those that must be there are, and nothing that is written overlaps anything else. Returns
/// the workspace, if there is one.
fn checked(
    read: &[Tensor],
    written: &[Tensor],
    space: *mut c_void,
    bytes: usize,
) -> Result<Option<(*mut u8, usize)>, Error> {
    present(read)?;
    present(written)?;
    let workspace = match (space.is_null(), bytes) {
        (true, 0) => None,
        (true, _) => return invalid(format!("workspace is NULL, but workspace_bytes is {bytes}")),
        (false, _) => Some((space.cast(), bytes)),
    };
    let range = |&(name, at, elements, _): &Tensor| (name, at, elements.saturating_mul(size_of::<f32>()));
    let ours = written.iter().map(range).chain([("workspace", space.cast_const(), bytes)]);
    for (i, (name, at, size)) in ours.clone().enumerate() {
        for (other, there, count) in ours.clone().skip(i + 1).chain(read.iter().map(range)) {
            let (from, begin) = (at.addr(), there.addr());
            let apart = from >= begin.saturating_add(count) || begin >= from.saturating_add(size);
            let some = !at.is_null() && !there.is_null() && size > 0 && count > 0;
            if some && !apart {
                return invalid(format!(
                    "{name} ({size} bytes at {at:p}) overlaps {other} ({count} bytes at {there:p}), \
                     expected memory of its own"
                ));
            }
        }
    }
    Ok(workspace)
}

/// Elements of the call's own input, output and bias.
fn elements(p: &Problem) -> (usize, usize, usize) {
    let (x, y) = (p.input_elements(), p.output_elements());
    if p.transposed { (y, x, p.ic) } else { (x, y, p.oc) }
}

/// Runs a plan on checked tensors; which are used is the pass's matter.
///
/// # Safety
/// As the exported functions.
unsafe fn run(
    plan: &Plan,
    kept: Option<&Kept>,
    inputs: [*const c_void; 4],
    result: *mut c_void,
    result_bias: *mut c_void,
    space: Option<(*mut u8, usize)>,
) -> Result<(), Error> {
    let [x, weights, bias, y] = inputs.map(|p| p.cast::<f32>());
    let prepared = kept.map_or(core::ptr::null(), |kept| kept.at.cast_const());
    let inputs = Inputs { x, weights, bias, y, prepared, workspace: space };
    // SAFETY: passed on to the caller.
    unsafe { plan.run(&inputs, result.cast(), result_bias.cast()) }
}

/// # Safety
/// As the exported function.
unsafe fn forward(
    plan: &Plan,
    kept: Option<&Kept>,
    x: *const c_void,
    weights: *const c_void,
    bias: *const c_void,
    y: *mut c_void,
    space: *mut c_void,
    bytes: usize,
) -> Result<(), Error> {
    expect(plan, Pass::Forward)?;
    let (nx, ny, nb) = elements(plan.problem());
    let nw = if kept.is_some() { 0 } else { plan.problem().weight_elements() };
    let read = [("x", x, nx, NEEDED), ("weights", weights, nw, NEEDED), ("bias", bias, nb, OPTIONAL)];
    let space = checked(&read, &[("y", y, ny, NEEDED)], space, bytes)?;
    if ny == 0 {
        return Ok(());
    }
    // SAFETY: passed on to the caller.
    unsafe { run(plan, kept, [x, weights, bias, core::ptr::null()], y, core::ptr::null_mut(), space) }
}

/// # Safety
/// As the exported function.
unsafe fn backward_data(
    plan: &Plan,
    kept: Option<&Kept>,
    weights: *const c_void,
    dy: *const c_void,
    dx: *mut c_void,
    space: *mut c_void,
    bytes: usize,
) -> Result<(), Error> {
    expect(plan, Pass::BackwardData)?;
    let (nx, ny, _) = elements(plan.problem());
    let nw = if kept.is_some() { 0 } else { plan.problem().weight_elements() };
    let read = [("weights", weights, nw, NEEDED), ("dy", dy, ny, NEEDED)];
    let space = checked(&read, &[("dx", dx, nx, NEEDED)], space, bytes)?;
    if nx == 0 {
        return Ok(());
    }
    let inputs = [core::ptr::null(), weights, core::ptr::null(), dy];
    // SAFETY: passed on to the caller.
    unsafe { run(plan, kept, inputs, dx, core::ptr::null_mut(), space) }
}

/// # Safety
/// As the exported function.
unsafe fn backward_weights(
    plan: &Plan,
    x: *const c_void,
    dy: *const c_void,
    dw: *mut c_void,
    db: *mut c_void,
    space: *mut c_void,
    bytes: usize,
) -> Result<(), Error> {
    expect(plan, Pass::BackwardWeights)?;
    let (nx, ny, nb) = elements(plan.problem());
    let nw = plan.problem().weight_elements();
    let written = [("dweights", dw.cast_const(), nw, NEEDED), ("dbias", db, nb, OPTIONAL)];
    let space = checked(&[("x", x, nx, NEEDED), ("dy", dy, ny, NEEDED)], &written, space, bytes)?;
    let inputs = [x, core::ptr::null(), core::ptr::null(), dy];
    // SAFETY: passed on to the caller.
    unsafe { run(plan, None, inputs, dw, db, space) }
}

fn expect(plan: &Plan, pass: Pass) -> Result<(), Error> {
    if plan.pass() == pass {
        return Ok(());
    }
    invalid(format!("plan is one of {}, expected one of {}", plan.pass().name(), pass.name()))
}

/// Fills a problem with defaults: one image of one channel and one pixel, kernel 1, stride 1, dilation 1, no padding, one
/// group, output sizes that follow from the rest, channels first, weights in OIHW order, beta 0, no activation, the
/// process's math mode. dims: spatial dimensions, 1 to 3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_init(conv: *mut corten_conv, dims: c_int) {
    if !conv.is_null() {
        // SAFETY: a struct of the caller.
        unsafe { conv.write(Description::new(dims)) };
    }
}

/// Checks a problem and writes the size of its output: as many numbers as it has dimensions, the rest 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_output_size(conv: *const corten_conv, output: *mut i64) -> c_int {
    // SAFETY: the caller's struct and three integers.
    let outcome = unsafe { problem(conv) }.and_then(|p| {
        if output.is_null() {
            return invalid("output is NULL, expected 3 integers".into());
        }
        for (i, &n) in p.result().iter().enumerate() {
            // SAFETY: as above.
            unsafe { *output.add(i) = n as i64 };
        }
        Ok(())
    });
    code_of("corten_conv_output_size", outcome)
}

/// y := act(conv(x, weights) + bias + beta*y). bias may be NULL. What a call writes (here y and the workspace) must not
/// overlap anything else that it is given; if it does, the call is refused. workspace may be NULL with workspace_bytes 0:
/// the library has its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_forward(
    conv: *const corten_conv,
    x: *const c_void,
    weights: *const c_void,
    bias: *const c_void,
    y: *mut c_void,
    workspace: *mut c_void,
    workspace_bytes: usize,
) -> c_int {
    // SAFETY: passed on to the caller.
    let outcome = unsafe {
        problem(conv)
            .and_then(|p| forward(&Plan::new(p, Pass::Forward), None, x, weights, bias, y, workspace, workspace_bytes))
    };
    code_of("corten_conv_forward", outcome)
}

/// dx := gradient of the input + beta*dx. The activation does not count: dy is the gradient of what came before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_backward_data(
    conv: *const corten_conv,
    weights: *const c_void,
    dy: *const c_void,
    dx: *mut c_void,
    workspace: *mut c_void,
    workspace_bytes: usize,
) -> c_int {
    // SAFETY: passed on to the caller.
    let outcome = unsafe {
        problem(conv).and_then(|p| {
            backward_data(&Plan::new(p, Pass::BackwardData), None, weights, dy, dx, workspace, workspace_bytes)
        })
    };
    code_of("corten_conv_backward_data", outcome)
}

/// dweights := gradient of the weights + beta*dweights, and the same for dbias, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_backward_weights(
    conv: *const corten_conv,
    x: *const c_void,
    dy: *const c_void,
    dweights: *mut c_void,
    dbias: *mut c_void,
    workspace: *mut c_void,
    workspace_bytes: usize,
) -> c_int {
    // SAFETY: passed on to the caller.
    let outcome = unsafe {
        problem(conv).and_then(|p| {
            let plan = Plan::new(p, Pass::BackwardWeights);
            backward_weights(&plan, x, dy, dweights, dbias, workspace, workspace_bytes)
        })
    };
    code_of("corten_conv_backward_weights", outcome)
}

/// Writes how many bytes of workspace a call wants, at the present number of threads, to use no memory of the library.
/// With less it uses fewer threads; an error says the least.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_workspace_size(
    conv: *const corten_conv,
    pass: c_int,
    workspace_bytes: *mut usize,
) -> c_int {
    // SAFETY: the caller's struct and a number.
    let outcome = unsafe { problem(conv) }.and_then(|p| {
        let plan = Plan::new(p, self::pass(pass)?);
        if workspace_bytes.is_null() {
            return invalid("workspace_bytes is NULL".into());
        }
        // SAFETY: as above.
        unsafe { *workspace_bytes = plan.workspace() };
        Ok(())
    });
    code_of("corten_conv_workspace_size", outcome)
}

/// Writes one line that says which algorithm and kernel a problem gets from a call without a workspace, and why: at most
/// text_bytes with the final zero. A longer line ends with three dots there; 400 bytes hold any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_explain(
    conv: *const corten_conv,
    pass: c_int,
    text: *mut c_char,
    text_bytes: usize,
) -> c_int {
    // SAFETY: the caller's struct and buffer.
    let outcome = unsafe { problem(conv) }.and_then(|p| {
        let plan = Plan::new(p, self::pass(pass)?);
        if text.is_null() || text_bytes == 0 {
            return invalid(format!("text is {text:p} of {text_bytes} bytes, expected room for a text"));
        }
        let mut line = plan.to_string();
        if line.len() >= text_bytes {
            line.truncate(text_bytes.saturating_sub(4));
            line.push_str("...");
        }
        let some = line.len().min(text_bytes - 1);
        // SAFETY: inside the buffer.
        unsafe {
            core::ptr::copy_nonoverlapping(line.as_ptr(), text.cast(), some);
            *text.add(some) = 0;
        }
        Ok(())
    });
    code_of("corten_conv_explain", outcome)
}

/// Sets the math mode of problems that leave theirs at CORTEN_MATH_UNSET, for the whole process: CORTEN_MATH_DEFAULT or
/// CORTEN_MATH_STRICT. The environment variable CORTEN_CONV_MATH (default, strict) does the same from outside.
#[unsafe(no_mangle)]
pub extern "C" fn corten_conv_set_math(math: c_int) -> c_int {
    let mode = match math {
        1 => Ok(Math::Default),
        2 => Ok(Math::Strict),
        x => invalid(format!("math is {x}, expected CORTEN_MATH_DEFAULT (1) or CORTEN_MATH_STRICT (2)")),
    };
    code_of("corten_conv_set_math", mode.map(conv::set_math))
}

/// Makes a plan for one pass of a problem, for those who call it again and again. Given weights, it keeps them in the
/// form that the algorithm wants; with NULL they are given at each call. A plan may be used by several threads at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_plan_create(
    conv: *const corten_conv,
    pass: c_int,
    weights: *const c_void,
    plan: *mut *mut corten_conv_plan,
) -> c_int {
    // SAFETY: passed on to the caller.
    let outcome = unsafe { problem(conv) }.and_then(|p| {
        let made = Plan::new(p, self::pass(pass)?);
        present(&[("weights", weights, 0, OPTIONAL)])?;
        if plan.is_null() {
            return invalid("plan is NULL".into());
        }
        let mut made = Box::new(corten_conv_plan { plan: made, weights: None });
        if !weights.is_null() {
            // SAFETY: the weights of the problem.
            unsafe { keep(&mut made, weights)? };
        }
        // SAFETY: a pointer of the caller.
        unsafe { *plan = Box::into_raw(made) };
        Ok(())
    });
    code_of("corten_conv_plan_create", outcome)
}

/// # Safety
/// The weights of the plan's problem.
unsafe fn keep(plan: &mut corten_conv_plan, weights: *const c_void) -> Result<(), Error> {
    if plan.plan.pass() == Pass::BackwardWeights {
        return invalid("weights are given, but backward_weights has none to keep: expected NULL".into());
    }
    if plan.weights.is_none() {
        plan.weights = Some(Kept::new(plan.plan.prepared())?);
    }
    if let Some(kept) = &plan.weights {
        // SAFETY: passed on to the caller; the memory has room.
        unsafe { plan.plan.prepare(weights.cast(), kept.at) };
    }
    Ok(())
}

/// The plan behind a handle.
///
/// # Safety
/// Null, or a handle from `corten_conv_plan_create`.
unsafe fn handle<'a>(plan: *const corten_conv_plan) -> Result<&'a corten_conv_plan, Error> {
    // SAFETY: passed on to the caller.
    unsafe { plan.as_ref() }.map_or_else(|| invalid("plan is NULL".into()), Ok)
}

/// Replaces the weights that a plan keeps, after a training step; one that kept none keeps these from now on. No call may
/// be using the plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_plan_set_weights(plan: *mut corten_conv_plan, weights: *const c_void) -> c_int {
    // SAFETY: passed on to the caller.
    let outcome = match unsafe { plan.as_mut() } {
        None => invalid("plan is NULL".into()),
        Some(plan) => {
            let count = plan.plan.problem().weight_elements();
            present(&[("weights", weights, count, NEEDED)]).and_then(|()| {
                // SAFETY: the weights of the plan's problem.
                unsafe { keep(plan, weights) }
            })
        }
    };
    code_of("corten_conv_plan_set_weights", outcome)
}

/// corten_conv_forward by a plan. weights may be NULL if the plan keeps them, and are not looked at then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_plan_forward(
    plan: *const corten_conv_plan,
    x: *const c_void,
    weights: *const c_void,
    bias: *const c_void,
    y: *mut c_void,
    workspace: *mut c_void,
    workspace_bytes: usize,
) -> c_int {
    // SAFETY: passed on to the caller.
    let outcome = unsafe {
        handle(plan).and_then(|h| forward(&h.plan, h.weights.as_ref(), x, weights, bias, y, workspace, workspace_bytes))
    };
    code_of("corten_conv_plan_forward", outcome)
}

/// corten_conv_backward_data by a plan. weights may be NULL if the plan keeps them, and are not looked at then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_plan_backward_data(
    plan: *const corten_conv_plan,
    weights: *const c_void,
    dy: *const c_void,
    dx: *mut c_void,
    workspace: *mut c_void,
    workspace_bytes: usize,
) -> c_int {
    // SAFETY: passed on to the caller.
    let outcome = unsafe {
        handle(plan)
            .and_then(|h| backward_data(&h.plan, h.weights.as_ref(), weights, dy, dx, workspace, workspace_bytes))
    };
    code_of("corten_conv_plan_backward_data", outcome)
}

/// corten_conv_backward_weights by a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_plan_backward_weights(
    plan: *const corten_conv_plan,
    x: *const c_void,
    dy: *const c_void,
    dweights: *mut c_void,
    dbias: *mut c_void,
    workspace: *mut c_void,
    workspace_bytes: usize,
) -> c_int {
    // SAFETY: passed on to the caller.
    let outcome = unsafe {
        handle(plan).and_then(|h| backward_weights(&h.plan, x, dy, dweights, dbias, workspace, workspace_bytes))
    };
    code_of("corten_conv_plan_backward_weights", outcome)
}

/// Bytes of memory that a plan holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_plan_memory(plan: *const corten_conv_plan) -> usize {
    // SAFETY: null or a handle.
    match unsafe { plan.as_ref() } {
        None => 0,
        Some(h) => size_of::<corten_conv_plan>() + h.weights.as_ref().map_or(0, |kept| kept.layout.size()),
    }
}

/// Gives a plan back; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_conv_plan_destroy(plan: *mut corten_conv_plan) {
    if !plan.is_null() {
        // SAFETY: a handle from `corten_conv_plan_create`, given back once.
        drop(unsafe { Box::from_raw(plan) });
    }
}
