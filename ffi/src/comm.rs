//! The collectives. What each does and promises is in docs/collectives.md; the core is `comm/`.
//!
//! A call reads its arguments into the core's types, and refuses bad ones by name. A rank that refuses says so to the
//! others, so that they do not wait for it.

use crate::status::{code, report};
use core::ffi::{CStr, c_char, c_double, c_int, c_void};
use core::sync::atomic::{AtomicI64, Ordering};
use corten_core::comm::collectives::{self, Piece};
use corten_core::comm::group::Group;
use corten_core::comm::queue::{Ticket, Work};
use corten_core::comm::types::{Element, Error, Op, Reduction, Result, Status};
use corten_core::comm::world::{self, World};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

fn bad<T>(text: String) -> Result<T> {
    Err(Error::new(Status::Argument, text))
}

fn element(code: c_int) -> Result<Element> {
    match usize::try_from(code).ok().and_then(|c| Element::ALL.get(c)) {
        Some(element) => Ok(*element),
        None => bad(format!("type is {code}, which is no corten_type (0 to 7)")),
    }
}

const WIRE_BF16: c_int = 0x100;
const WIRE_F16: c_int = 0x200;

fn reduction(kind: c_int, op: c_int, pre: c_double, post: c_double) -> Result<Reduction> {
    let element = element(kind)?;
    let wire = match op & !0xff {
        0 => None,
        WIRE_BF16 => Some(Element::Bf16),
        WIRE_F16 => Some(Element::F16),
        both if both == WIRE_BF16 | WIRE_F16 => {
            return bad(format!(
                "op is {op:#x}, which has CORTEN_WIRE_BF16 and CORTEN_WIRE_F16, expected one of them or none"
            ));
        }
        _ => {
            return bad(format!(
                "op is {op:#x}, expected a corten_op (0 to 5), or one with CORTEN_WIRE_BF16 (0x100) or CORTEN_WIRE_F16 (0x200)"
            ));
        }
    };
    let Some(&op) = Op::ALL.get(op as usize & 0xff) else {
        return bad(format!("op is {op}, which is no corten_op (0 to 5)"));
    };
    let r = Reduction { element, op, pre, post, wire };
    collectives::check(&r).map(|()| r)
}

/// A buffer of n elements.
fn buffer<T>(name: &str, p: *const T, n: usize, element: Element) -> Result<*mut u8> {
    if p.is_null() && n > 0 {
        return bad(format!("{name} is null, and there are {n} elements"));
    }
    match n.checked_mul(element.bytes()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(p.cast_mut().cast()),
        _ => bad(format!("{n} elements of {} are more than memory holds", element.name())),
    }
}

/// The two buffers of a reduction of n elements: the same one, or apart. A result that overlaps its input in another way
/// would overwrite elements that are still to be read.
fn input_and_output<T>(src: *const T, dst: *const T, n: usize, element: Element) -> Result<(*mut u8, *mut u8)> {
    let (from, to) = (buffer("in", src, n, element)?, buffer("out", dst, n, element)?);
    let bytes = n * element.bytes();
    if from != to && from.addr().abs_diff(to.addr()) < bytes {
        return bad(format!(
            "out ({bytes} bytes at {to:p}) overlaps in ({bytes} bytes at {from:p}), expected the same buffer or one apart"
        ));
    }
    Ok((from, to))
}

fn set_id(set: c_int) -> Result<u32> {
    u32::try_from(set).or_else(|_| bad(format!("set is {set}; process sets have numbers from 0 on")))
}

/// Runs a blocking operation: `read` makes the operation of the arguments, `run` does it.
fn blocking<A>(set: c_int, read: impl FnOnce(&World) -> Result<A>, run: impl FnOnce(&mut Group, A) -> Result) -> c_int {
    let outcome = (|| {
        let world = world::current()?;
        let id = set_id(set)?;
        match read(&world) {
            Ok(arguments) => world.with(id, |group| run(group, arguments)),
            Err(error) => {
                world.refuse(id, &error);
                Err(error)
            }
        }
    })();
    code(outcome)
}

/// The numbers of an array of counts, one for each member.
///
/// # Safety
/// Null, or an array of `n` numbers.
unsafe fn counts_of(name: &str, counts: *const usize, n: usize) -> Result<Vec<usize>> {
    if counts.is_null() {
        return bad(format!("{name} is null; it has a count for each rank of the set"));
    }
    // SAFETY: passed on to the caller.
    let list = unsafe { core::slice::from_raw_parts(counts, n) }.to_vec();
    match list.iter().try_fold(0usize, |sum, n| sum.checked_add(*n)) {
        Some(_) => Ok(list),
        None => bad(format!("the sum of {name} is more than memory holds")),
    }
}

fn members(world: &World, set: c_int) -> Result<usize> {
    Ok(world.set(set_id(set)?)?.ranks.len())
}

/// The number in its set of a root that is given as a rank of all.
fn root_of(world: &World, root: c_int, set: c_int) -> Result<usize> {
    let set = world.set(set_id(set)?)?;
    match set.ranks.iter().position(|r| i64::from(*r) == i64::from(root)) {
        Some(member) => Ok(member),
        None => bad(format!("root is {root}, which is not a rank of process set {}", set.id)),
    }
}

/// # Safety
/// Arrays of n pointers and counts.
unsafe fn pieces(
    n: usize,
    input: *const *const c_void,
    output: *const *mut c_void,
    counts: *const usize,
    element: Element,
) -> Result<Vec<Piece>> {
    if n == 0 {
        return bad("n is 0: a group has at least one tensor".into());
    }
    for (name, null) in [("in", input.is_null()), ("out", output.is_null()), ("counts", counts.is_null())] {
        if null {
            return bad(format!("{name} is null"));
        }
    }
    let mut list = Vec::with_capacity(n);
    let mut total = 0usize;
    for i in 0..n {
        // SAFETY: passed on to the caller.
        let (src, dst, count) = unsafe { (*input.add(i), *output.add(i), *counts.add(i)) };
        total = match total.checked_add(count) {
            Some(total) => total,
            None => return bad("the sum of counts is more than memory holds".into()),
        };
        let (src, dst) = input_and_output(src, dst, count, element)
            .map_err(|e| Error::new(e.status, format!("tensor {i} of {n}: {}", e.text)))?;
        list.push(Piece { src, dst, count });
    }
    // All of them together; the array itself is not null.
    buffer("in", input, total, element)?;
    Ok(list)
}

/// Joins the other ranks: those of `corten-run`, of an MPI launcher, or nobody (then there is one rank).
/// All ranks call it. Again after corten_shutdown, as often as one likes.
#[unsafe(no_mangle)]
pub extern "C" fn corten_init() -> c_int {
    code(world::init())
}

/// Leaves the other ranks. Waits for nobody; operations under way in this process end with an error, and buffers of
/// corten_alloc are gone.
#[unsafe(no_mangle)]
pub extern "C" fn corten_shutdown() -> c_int {
    code(world::shutdown())
}

/// 1 between corten_init and corten_shutdown, else 0; 0 in a child of fork.
#[unsafe(no_mangle)]
pub extern "C" fn corten_is_initialized() -> c_int {
    c_int::from(world::is_initialized())
}

/// A number of the world. That there is none is no failure of its own: the text of one that is, a failed `corten_init` say,
/// stays to be read.
fn number(of: impl FnOnce(&World) -> u32) -> c_int {
    world::current().map_or(-1, |world| of(&world) as c_int)
}

/// This process's number among all ranks; -1 if not initialised, as for the following. They leave corten_last_error as it
/// is.
#[unsafe(no_mangle)]
pub extern "C" fn corten_rank() -> c_int {
    number(|world| world.rank)
}

/// Number of all ranks.
#[unsafe(no_mangle)]
pub extern "C" fn corten_size() -> c_int {
    number(|world| world.size)
}

/// This process's number among the ranks of its machine.
#[unsafe(no_mangle)]
pub extern "C" fn corten_local_rank() -> c_int {
    number(|world| world.local_rank)
}

/// Number of ranks of this machine.
#[unsafe(no_mangle)]
pub extern "C" fn corten_local_size() -> c_int {
    number(|world| world.local_size)
}

/// The number of this machine among all.
#[unsafe(no_mangle)]
pub extern "C" fn corten_cross_rank() -> c_int {
    number(|world| world.cross_rank)
}

/// Number of machines.
#[unsafe(no_mangle)]
pub extern "C" fn corten_cross_size() -> c_int {
    number(|world| world.cross_size)
}

/// out := postscale * (prescale*in of rank 0 op prescale*in of rank 1 ...), element by element, on all ranks of the set;
/// an average is divided by their number. in and out are the same buffer or apart. `op` is a corten_op, with
/// CORTEN_WIRE_BF16 or CORTEN_WIRE_F16 added to let f32 data travel in 16 bits. The same bits on all ranks, always.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_allreduce(
    r#in: *const c_void,
    out: *mut c_void,
    count: usize,
    r#type: c_int,
    op: c_int,
    prescale: c_double,
    postscale: c_double,
    set: c_int,
) -> c_int {
    let read = |_: &World| {
        let r = reduction(r#type, op, prescale, postscale)?;
        let (src, dst) = input_and_output(r#in, out, count, r.element)?;
        Ok((r, Piece { src, dst, count }))
    };
    // SAFETY: the caller's buffers have so many elements.
    blocking(set, read, |group, (r, piece)| unsafe { group.allreduce(&r, &[piece]) })
}

/// As corten_allreduce for n tensors at once: in[i] to out[i], counts[i] elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_grouped_allreduce(
    n: usize,
    r#in: *const *const c_void,
    out: *const *mut c_void,
    counts: *const usize,
    r#type: c_int,
    op: c_int,
    prescale: c_double,
    postscale: c_double,
    set: c_int,
) -> c_int {
    let read = |_: &World| {
        let r = reduction(r#type, op, prescale, postscale)?;
        // SAFETY: the caller's arrays have n elements.
        Ok((r, unsafe { pieces(n, r#in, out, counts, r.element) }?))
    };
    // SAFETY: the caller's buffers have so many elements.
    blocking(set, read, |group, (r, list)| unsafe { group.allreduce(&r, &list) })
}

/// out := in of all ranks of the set, one behind the other; each may give another number of elements. out has room for
/// `room` elements; counts, unless null, gets the number of elements of each rank. In place: in is out's part of this
/// rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_allgather(
    r#in: *const c_void,
    count: usize,
    out: *mut c_void,
    room: usize,
    counts: *mut usize,
    r#type: c_int,
    set: c_int,
) -> c_int {
    let read = |_: &World| {
        let element = element(r#type)?;
        Ok((element, buffer("in", r#in, count, element)?, buffer("out", out, room, element)?))
    };
    blocking(set, read, |group, (element, src, dst)| {
        // SAFETY: the caller's buffers have so many elements.
        let came = unsafe { group.allgather(element, src, count, dst, room) }?;
        // SAFETY: null, or a number for each member.
        unsafe { put(counts, &came) };
        Ok(())
    })
}

/// # Safety
/// Null, or room for as many numbers.
unsafe fn put(to: *mut usize, numbers: &[usize]) {
    if !to.is_null() {
        // SAFETY: passed on to the caller.
        unsafe { core::ptr::copy_nonoverlapping(numbers.as_ptr(), to, numbers.len()) };
    }
}

/// buffer := buffer of the rank `root` (its number among all ranks), on all ranks of the set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_broadcast(
    buffer: *mut c_void,
    count: usize,
    r#type: c_int,
    root: c_int,
    set: c_int,
) -> c_int {
    let read = |world: &World| {
        let element = element(r#type)?;
        Ok((element, self::buffer("buffer", buffer, count, element)?, root_of(world, root, set)?))
    };
    // SAFETY: the caller's buffer has so many elements.
    blocking(set, read, |group, (element, p, root)| unsafe { group.broadcast(element, count, p, root) })
}

/// Gives send_counts[k] elements of in, block after block, to rank k of the set; out := the blocks from all ranks in
/// their order. out has room for `room` elements; recv_counts, unless null, gets the number that came from each rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_alltoall(
    r#in: *const c_void,
    send_counts: *const usize,
    out: *mut c_void,
    room: usize,
    recv_counts: *mut usize,
    r#type: c_int,
    set: c_int,
) -> c_int {
    let read = |world: &World| {
        let element = element(r#type)?;
        // SAFETY: the caller's array has a count for each member.
        let counts = unsafe { counts_of("send_counts", send_counts, members(world, set)?) }?;
        let src = buffer("in", r#in, counts.iter().sum(), element)?;
        Ok((element, counts, src, buffer("out", out, room, element)?))
    };
    blocking(set, read, |group, (element, counts, src, dst)| {
        // SAFETY: the caller's buffers have so many elements.
        let came = unsafe { group.alltoall(element, &counts, src, dst, room) }?;
        // SAFETY: null, or a number for each member.
        unsafe { put(recv_counts, &came) };
        Ok(())
    })
}

/// As corten_allreduce, but each rank of the set gets only its block: in has `count` elements, cut into counts[k] for
/// rank k, or evenly (the first ranks get one more) if counts is null. out may be in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_reducescatter(
    r#in: *const c_void,
    out: *mut c_void,
    count: usize,
    counts: *const usize,
    r#type: c_int,
    op: c_int,
    prescale: c_double,
    postscale: c_double,
    set: c_int,
) -> c_int {
    let read = |world: &World| {
        let r = reduction(r#type, op, prescale, postscale)?;
        // SAFETY: the caller's array, if there is one, has a count for each member.
        let (counts, own) = unsafe { blocks(world, set, count, counts) }?;
        scatters(&r)?;
        let (src, dst) = (buffer("in", r#in, count, r.element)?, buffer("out", out, own, r.element)?);
        Ok((r, counts, src, dst))
    };
    // SAFETY: the caller's buffers have so many elements.
    blocking(set, read, |group, (r, counts, src, dst)| unsafe { group.reducescatter(&r, &counts, src, dst) })
}

fn scatters(r: &Reduction) -> Result {
    if r.op == Op::Adasum || r.wire.is_some() {
        return bad(format!(
            "op is {}{}: a reducescatter takes neither adasum nor CORTEN_WIRE_BF16 or CORTEN_WIRE_F16",
            r.op.name(),
            r.wire.map_or(String::new(), |wire| format!(" with {} on the wire", wire.name()))
        ));
    }
    Ok(())
}

/// The blocks of a reducescatter, and the size of our own.
///
/// # Safety
/// Null, or a count for each member.
unsafe fn blocks(world: &World, set: c_int, count: usize, counts: *const usize) -> Result<(Vec<usize>, usize)> {
    let p = members(world, set)?;
    let list = match counts.is_null() {
        true => world::even(count, p),
        // SAFETY: passed on to the caller.
        false => unsafe { counts_of("counts", counts, p) }?,
    };
    let sum: usize = list.iter().sum();
    if sum != count {
        return bad(format!("counts add up to {sum}, count is {count}"));
    }
    let own = world.set(set_id(set)?)?.me.map_or(0, |me| list[me]);
    Ok((list, own))
}

/// Waits until all ranks of the set have come.
#[unsafe(no_mangle)]
pub extern "C" fn corten_barrier(set: c_int) -> c_int {
    blocking(set, |_| Ok(()), |group, ()| group.barrier())
}

/// For a rank that has no more data: takes part in asynchronous sums and averages of the other ranks with zeros (an
/// average still divides by all), until every rank has called this. last_rank, unless null, gets the rank that came last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_join(last_rank: *mut c_int) -> c_int {
    let outcome = world::current().and_then(|world| world.join());
    code(outcome.map(|rank| {
        if !last_rank.is_null() {
            // SAFETY: the caller's.
            unsafe { *last_rank = rank as c_int };
        }
    }))
}

/// What [`corten_wait`] returns for an operation that is not done; no failure, so no [`Status`].
const PENDING: c_int = -1;

/// The operations under way: handles are never used twice.
static HANDLES: Mutex<Option<HashMap<i64, Arc<Ticket>>>> = Mutex::new(None);
static NEXT: AtomicI64 = AtomicI64::new(1);

/// Submits a named operation.
///
/// # Safety
/// `name` is null or a C string, `handle` null or the caller's.
unsafe fn submit(
    name: *const c_char,
    set: c_int,
    handle: *mut i64,
    read: impl FnOnce(&World) -> Result<Work>,
) -> c_int {
    let outcome = (|| {
        let world = world::current()?;
        if name.is_null() {
            return bad("name is null".into());
        }
        // SAFETY: not null, so a C string.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let id = set_id(set)?;
        let queue = world.queue(id)?;
        if handle.is_null() {
            return queue.refuse(&name, Error::new(Status::Argument, "handle is null"));
        }
        let ticket = match read(&world) {
            Ok(work) => queue.submit(&name, work)?,
            Err(error) => return queue.refuse(&name, error),
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        HANDLES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(number, ticket);
        // SAFETY: not null, so the caller's.
        unsafe { *handle = number };
        Ok(())
    })();
    code(outcome)
}

/// Begins a corten_allreduce of the tensor `name` and returns at once; the buffers belong to it until corten_wait or
/// corten_poll say that it is done. Ranks may begin tensors in different orders; several are done at once where they can be.
/// A tensor that a rank refuses for its arguments is an error on all ranks that begin it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_allreduce_async(
    name: *const c_char,
    r#in: *const c_void,
    out: *mut c_void,
    count: usize,
    r#type: c_int,
    op: c_int,
    prescale: c_double,
    postscale: c_double,
    set: c_int,
    handle: *mut i64,
) -> c_int {
    let read = |_: &World| {
        let r = reduction(r#type, op, prescale, postscale)?;
        let (src, dst) = input_and_output(r#in, out, count, r.element)?;
        Ok(Work::Allreduce { r, list: vec![Piece { src, dst, count }] })
    };
    // SAFETY: passed on to the caller.
    unsafe { submit(name, set, handle, read) }
}

/// Begins a corten_grouped_allreduce: all of its tensors, or none, are ready for the other ranks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_grouped_allreduce_async(
    name: *const c_char,
    n: usize,
    r#in: *const *const c_void,
    out: *const *mut c_void,
    counts: *const usize,
    r#type: c_int,
    op: c_int,
    prescale: c_double,
    postscale: c_double,
    set: c_int,
    handle: *mut i64,
) -> c_int {
    let read = |_: &World| {
        let r = reduction(r#type, op, prescale, postscale)?;
        // SAFETY: the caller's arrays have n elements.
        Ok(Work::Allreduce { r, list: unsafe { pieces(n, r#in, out, counts, r.element) }? })
    };
    // SAFETY: passed on to the caller.
    unsafe { submit(name, set, handle, read) }
}

/// Begins a corten_allgather; counts, unless null, is written when it is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_allgather_async(
    name: *const c_char,
    r#in: *const c_void,
    count: usize,
    out: *mut c_void,
    room: usize,
    counts: *mut usize,
    r#type: c_int,
    set: c_int,
    handle: *mut i64,
) -> c_int {
    let read = |_: &World| {
        let element = element(r#type)?;
        let (src, dst) = (buffer("in", r#in, count, element)?, buffer("out", out, room, element)?);
        Ok(Work::Allgather { element, src, n: count, dst, room, counts })
    };
    // SAFETY: passed on to the caller.
    unsafe { submit(name, set, handle, read) }
}

/// Begins a corten_broadcast.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_broadcast_async(
    name: *const c_char,
    buffer: *mut c_void,
    count: usize,
    r#type: c_int,
    root: c_int,
    set: c_int,
    handle: *mut i64,
) -> c_int {
    let read = |world: &World| {
        let element = element(r#type)?;
        let p = self::buffer("buffer", buffer, count, element)?;
        Ok(Work::Broadcast { element, n: count, buffer: p, root: root_of(world, root, set)? })
    };
    // SAFETY: passed on to the caller.
    unsafe { submit(name, set, handle, read) }
}

/// Begins a corten_alltoall; recv_counts, unless null, is written when it is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_alltoall_async(
    name: *const c_char,
    r#in: *const c_void,
    send_counts: *const usize,
    out: *mut c_void,
    room: usize,
    recv_counts: *mut usize,
    r#type: c_int,
    set: c_int,
    handle: *mut i64,
) -> c_int {
    let read = |world: &World| {
        let element = element(r#type)?;
        // SAFETY: the caller's array has a count for each member.
        let counts = unsafe { counts_of("send_counts", send_counts, members(world, set)?) }?;
        let src = buffer("in", r#in, counts.iter().sum(), element)?;
        let dst = buffer("out", out, room, element)?;
        Ok(Work::Alltoall { element, counts, src, dst, room, came: recv_counts })
    };
    // SAFETY: passed on to the caller.
    unsafe { submit(name, set, handle, read) }
}

/// Begins a corten_reducescatter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_reducescatter_async(
    name: *const c_char,
    r#in: *const c_void,
    out: *mut c_void,
    count: usize,
    counts: *const usize,
    r#type: c_int,
    op: c_int,
    prescale: c_double,
    postscale: c_double,
    set: c_int,
    handle: *mut i64,
) -> c_int {
    let read = |world: &World| {
        let r = reduction(r#type, op, prescale, postscale)?;
        // SAFETY: the caller's array, if there is one, has a count for each member.
        let (counts, own) = unsafe { blocks(world, set, count, counts) }?;
        scatters(&r)?;
        let (src, dst) = (buffer("in", r#in, count, r.element)?, buffer("out", out, own, r.element)?);
        Ok(Work::Reducescatter { r, counts, src, dst })
    };
    // SAFETY: passed on to the caller.
    unsafe { submit(name, set, handle, read) }
}

fn ticket_of(handle: i64) -> Result<Arc<Ticket>> {
    let handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    let found = handles.as_ref().and_then(|handles| handles.get(&handle)).cloned();
    found.ok_or_else(|| Error::new(Status::State, format!("there is no operation with handle {handle}")))
}

/// 1 if the operation is done (well or not: corten_wait says), 0 if not, -1 if there is no such handle.
#[unsafe(no_mangle)]
pub extern "C" fn corten_poll(handle: i64) -> c_int {
    match ticket_of(handle) {
        Ok(ticket) => c_int::from(ticket.is_done()),
        Err(error) => {
            report(&error);
            -1
        }
    }
}

/// Waits until the operation is done, at most for so many seconds (for ever if negative or infinite), and returns its
/// outcome; then the handle is gone. If the time is over before, returns CORTEN_PENDING: no error, so corten_last_error
/// stays as it is, and so does the handle. It stays too if seconds is not a number, which is CORTEN_ERROR_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn corten_wait(handle: i64, seconds: c_double) -> c_int {
    let ticket = match ticket_of(handle) {
        Ok(ticket) => ticket,
        Err(error) => return report(&error),
    };
    if seconds.is_nan() {
        let text = "seconds is not a number, expected how long to wait, or a negative number for as long as it takes";
        return report(&Error::new(Status::Argument, text));
    }
    // What is longer than any time is for ever.
    let limit = if seconds >= 0.0 { Duration::try_from_secs_f64(seconds).ok() } else { None };
    match ticket.wait(limit) {
        Some(outcome) => {
            if let Some(handles) = &mut *HANDLES.lock().unwrap_or_else(PoisonError::into_inner) {
                handles.remove(&handle);
            }
            code(outcome)
        }
        None => PENDING,
    }
}

/// Memory that all ranks of this machine can reach: allreduce of such buffers copies nothing. Zero, aligned to a page; null
/// if there is none left. Gone after corten_shutdown.
#[unsafe(no_mangle)]
pub extern "C" fn corten_alloc(bytes: usize) -> *mut c_void {
    match world::current().and_then(|world| world.segment.alloc(bytes)) {
        Ok(p) => p.cast(),
        Err(error) => {
            report(&error);
            core::ptr::null_mut()
        }
    }
}

/// Gives memory of corten_alloc back; null does nothing. No operation on it may be under way on any rank.
#[unsafe(no_mangle)]
pub extern "C" fn corten_free(memory: *mut c_void) -> c_int {
    if memory.is_null() {
        return 0;
    }
    code(world::current().and_then(|world| match world.segment.free(memory.cast()) {
        true => Ok(()),
        false => bad(format!("memory is {memory:p}, which corten_alloc has not given out")),
    }))
}

/// Makes a process set of n ranks; `set` gets its number. Called by all ranks, members or not, with the same list. Set 0 is
/// all ranks; a list that there is a set of gives the number of that one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corten_process_set_add(ranks: *const c_int, n: c_int, set: *mut c_int) -> c_int {
    let outcome = (|| {
        let world = world::current()?;
        let list = (|| {
            if ranks.is_null() || set.is_null() {
                return bad(format!("{} is null", if ranks.is_null() { "ranks" } else { "set" }));
            }
            let n = usize::try_from(n).or_else(|_| bad(format!("n is {n}")))?;
            // SAFETY: the caller's array has n elements.
            let list = unsafe { core::slice::from_raw_parts(ranks, n) };
            world.check_set(list.iter().map(|r| i64::from(*r)))
        })();
        match list {
            Ok(list) => {
                let id = world.add_set(&list)?;
                // SAFETY: not null, so the caller's.
                unsafe { *set = id as c_int };
                Ok(())
            }
            Err(error) => {
                world.refuse(0, &error);
                Err(error)
            }
        }
    })();
    code(outcome)
}

/// Removes a process set; called by all ranks, members or not. Asynchronous operations of it that are under way end with
/// CORTEN_ERROR_STATE.
#[unsafe(no_mangle)]
pub extern "C" fn corten_process_set_remove(set: c_int) -> c_int {
    code(world::current().and_then(|world| match set_id(set) {
        Ok(id) => world.remove_set(id),
        Err(error) => {
            world.refuse(0, &error);
            Err(error)
        }
    }))
}

/// This process's number in a set; -1 if it is not in it or there is none.
#[unsafe(no_mangle)]
pub extern "C" fn corten_process_set_rank(set: c_int) -> c_int {
    let rank = world::current().and_then(|world| Ok(world.set(set_id(set)?)?.me));
    match rank {
        Ok(me) => me.map_or(-1, |me| me as c_int),
        Err(error) => {
            report(&error);
            -1
        }
    }
}

/// Number of ranks in a set; -1 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn corten_process_set_size(set: c_int) -> c_int {
    match world::current().and_then(|world| members(&world, set)) {
        Ok(size) => size as c_int,
        Err(error) => {
            report(&error);
            -1
        }
    }
}
