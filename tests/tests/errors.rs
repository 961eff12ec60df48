//! Bad arguments: each one of every routine, through every entry point, is
//! reported once with the caller's name and position, and nothing is touched.
//!
//! Reports are caught with `corten_set_xerbla`. That an application's own
//! `xerbla_` is called instead is tested with real linkers in
//! tests/consumers; here, in a child process, what happens by default.

use corten_tests::draw::{Draw, Size};
use corten_tests::library::{Api, invoke, lib};
use corten_tests::problem::{Arg, Layout, Order, Problem};
use corten_tests::process::{End, in_child, while_in};
use corten_tests::rng::Rng;
use corten_tests::routines::{self, Routine};
use corten_tests::scalar::Scalar;
use corten_tests::{for_types, func};
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};
use std::sync::Once;
use std::time::Duration;

thread_local! {
    /// What was reported on this thread: the handler runs in the caller.
    static REPORTS: RefCell<Vec<(String, i32)>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn record(routine: *const c_char, info: c_int) {
    // SAFETY: the interface promises a C string.
    let name = unsafe { CStr::from_ptr(routine) }.to_string_lossy().into_owned();
    REPORTS.with_borrow_mut(|r| r.push((name, info)));
}

type Handler = Option<extern "C" fn(*const c_char, c_int)>;

fn catch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let set = func!(corten_set_xerbla: fn(Handler));
        // SAFETY: a handler of the documented type.
        unsafe { set(Some(record)) };
    });
}

/// What the routine is called in a report.
fn reported_name(routine: &str, api: Api) -> String {
    if api.is_cblas() { format!("cblas_{routine}") } else { routine.to_uppercase() }
}

/// Position of argument `i` as the caller counts, from 1.
fn position<T>(p: &Problem<T>, api: Api, i: usize) -> i32 {
    let order = (p.order.is_some() && api.is_cblas()) || p.fortran_order;
    i as i32 + 1 + order as i32
}

/// All values that make argument `a` wrong.
fn wrong(a: &Arg) -> Vec<Arg> {
    match a {
        Arg::Trans(_) => vec![Arg::Trans(b'X')],
        Arg::Uplo(_) => vec![Arg::Uplo(b'N')],
        Arg::Diag(_) => vec![Arg::Diag(b'L')],
        Arg::Side(_) => vec![Arg::Side(b'U')],
        Arg::Int(_) => vec![Arg::Int(-1), Arg::Int(i32::MIN as i64)],
        Arg::Ld(_, min) => vec![Arg::Ld(min - 1, *min), Arg::Ld(-1, *min)],
        Arg::Inc(_) => vec![Arg::Inc(0)],
        Arg::IntArray(v) => {
            let mut w = v.clone();
            w[0] = -1;
            vec![Arg::IntArray(w)]
        }
        Arg::TransArray(v) => {
            let mut w = v.clone();
            w[0] = b'X';
            vec![Arg::TransArray(w)]
        }
        _ => vec![],
    }
}

/// Runs a wrong call: one report, and not one bit of any buffer changed.
fn expect_report<T: Scalar>(p: &Problem<T>, api: Api, info: Option<i32>) {
    let what = format!("{} through {api:?}", p.describe());
    REPORTS.with_borrow_mut(Vec::clear);
    let out = while_in(&what, || p.run(api, Layout::Guards(1)));
    let reports = REPORTS.with_borrow(Vec::clone);
    assert_eq!(reports.len(), 1, "{what}: want one report, got {reports:?}");
    assert_eq!(reports[0].0, reported_name(&p.routine, api), "{what}: name");
    if let Some(info) = info {
        assert_eq!(reports[0].1, info, "{what}: position");
    }
    for (b, buf) in p.bufs.iter().enumerate() {
        assert!(corten_tests::scalar::same_bits(&buf.data, &out.bufs[b]), "{what}: buffer {b} was touched");
    }
}

fn checked<T: Scalar>() -> Vec<Routine<T>> {
    let mut v = routines::level2::table::<T>();
    v.extend(routines::level3::table::<T>());
    v.extend(routines::extensions::table::<T>());
    // Level 1 has no errors.
    v.retain(|r| (r.make)(&mut Draw::new(1, Order::Col, Size::Few, 0)).order.is_some());
    v
}

fn each_argument<T: Scalar>() {
    catch();
    for r in checked::<T>() {
        for order in [Order::Col, Order::Row] {
            let mut p = (r.make)(&mut Draw::new(3, order, Size::Few, 0));
            // A wrong call reads nothing: no operand has memory.
            p.bufs.iter_mut().for_each(|b| b.forbidden = true);
            for api in p.apis() {
                for i in 0..p.args.len() {
                    for bad in wrong(&p.args[i]) {
                        let good = std::mem::replace(&mut p.args[i], bad);
                        expect_report(&p, api, Some(position(&p, api, i)));
                        p.args[i] = good;
                    }
                }
                if api.is_cblas() || p.fortran_order {
                    let good = p.order.replace(Order::Bad);
                    expect_report(&p, api, Some(1));
                    p.order = good;
                }
            }
        }
    }
}

/// Any number of wrong arguments at once: still one report and no harm.
fn many_at_once<T: Scalar>() {
    catch();
    let mut rng = Rng::new(11);
    for r in checked::<T>() {
        for seed in 0..30 {
            let order = rng.pick(&[Order::Col, Order::Row]);
            let mut p = (r.make)(&mut Draw::new(seed, order, Size::Usual, seed));
            p.bufs.iter_mut().for_each(|b| b.forbidden = true);
            let mut spoiled = 0;
            for i in 0..p.args.len() {
                let bad = wrong(&p.args[i]);
                if !bad.is_empty() && rng.below(3) == 0 {
                    p.args[i] = bad[rng.below(bad.len())].clone();
                    spoiled += 1;
                }
            }
            if spoiled > 0 {
                let apis = p.apis();
                expect_report(&p, apis[rng.below(apis.len())], None);
            }
        }
    }
}

/// The first wrong argument is the one reported, in column-major order.
fn first_of_two<T: Scalar>() {
    catch();
    for r in checked::<T>() {
        let p = (r.make)(&mut Draw::new(3, Order::Col, Size::Few, 0));
        if p.args.iter().any(|a| matches!(a, Arg::IntArray(_))) {
            continue; // the number of groups must be known before the arrays can be read
        }
        let bad: Vec<usize> = (0..p.args.len()).filter(|&i| !wrong(&p.args[i]).is_empty()).collect();
        for pair in bad.windows(2) {
            let mut p = (r.make)(&mut Draw::new(3, Order::Col, Size::Few, 0));
            p.bufs.iter_mut().for_each(|b| b.forbidden = true);
            for &i in pair {
                p.args[i] = wrong(&p.args[i]).remove(0);
            }
            expect_report(&p, Api::Fortran, Some(position(&p, Api::Fortran, pair[0])));
        }
    }
}

/// Level 1: a length that is not positive comes before everything else.
fn no_length<T: Scalar>() {
    catch();
    for r in routines::level1::table::<T>() {
        for n in [0, -1, i32::MIN as i64] {
            for combo in 0..4 {
                let mut p = (r.make)(&mut Draw::new(3, Order::Col, Size::Few, combo));
                p.args[0] = Arg::Int(n);
                p.bufs.iter_mut().for_each(|b| b.forbidden = true);
                for api in p.apis() {
                    let what = format!("{} through {api:?}", p.describe());
                    REPORTS.with_borrow_mut(Vec::clear);
                    let out = while_in(&what, || p.run(api, Layout::Guards(1)));
                    assert!(REPORTS.with_borrow(Vec::is_empty), "{what}: reported");
                    assert!(out.value.is_zero() && out.index == 0, "{what}: returned {:?} {}", out.value, out.index);
                }
            }
        }
    }
}

/// Empty matrices are legal, with any pointers.
fn no_rows<T: Scalar>() {
    catch();
    for r in routines::all::<T>() {
        for combo in 0..4 {
            for order in [Order::Col, Order::Row] {
                let mut p = (r.make)(&mut Draw::new(5, order, Size::Few, combo));
                if p.args.iter().any(|a| matches!(a, Arg::IntArray(_))) {
                    continue;
                }
                p.bufs.iter_mut().for_each(|b| b.forbidden = true);
                p.args.iter_mut().for_each(|a| {
                    if let Arg::Int(i) = a {
                        *i = 0;
                    }
                });
                for api in p.apis() {
                    let what = format!("{} through {api:?}", p.describe());
                    REPORTS.with_borrow_mut(Vec::clear);
                    while_in(&what, || p.run(api, Layout::Guards(1)));
                    assert!(REPORTS.with_borrow(Vec::is_empty), "{what}: reported");
                }
            }
        }
    }
}

for_types!(
    every_argument_is_checked => each_argument,
    several_wrong_arguments => many_at_once,
    the_first_is_reported => first_of_two,
    length_comes_first => no_length,
    empty_is_legal => no_rows,
);

/// Runs `f` in a child whose standard error and output are caught.
fn said(f: impl FnOnce()) -> (End, String) {
    let mut ends = [0; 2];
    // SAFETY: plain descriptors; the child's copies die with it.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        let end = in_child(Duration::from_secs(20), || {
            libc::dup2(ends[1], 1);
            libc::dup2(ends[1], 2);
            f();
            true
        });
        libc::close(ends[1]);
        let mut text = vec![0u8; 4096];
        let n = libc::read(ends[0], text.as_mut_ptr().cast(), text.len());
        libc::close(ends[0]);
        text.truncate(n.max(0) as usize);
        (end, String::from_utf8_lossy(&text).into_owned())
    }
}

/// Without a handler the library says what is wrong, and returns.
#[test]
fn by_default_it_prints_and_returns() {
    let set = func!(corten_set_xerbla: fn(Handler));
    let mut p = (routines::level3::table::<f64>()[0].make)(&mut Draw::new(3, Order::Col, Size::Few, 0));
    let i = p.args.iter().position(|a| matches!(a, Arg::Ld(..))).unwrap();
    p.args[i] = Arg::Ld(0, 1);
    for (api, words) in [
        (Api::Fortran, ["** On entry to DGEMM", "parameter number  8 had an illegal value"]),
        (Api::Fortran64, ["** On entry to DGEMM", "parameter number  8 had an illegal value"]),
        (Api::Cblas, ["Parameter 9 to routine cblas_dgemm", "was incorrect"]),
        (Api::Cblas64, ["Parameter 9 to routine cblas_dgemm", "was incorrect"]),
    ] {
        let mut ready = p.prepare(api, Layout::Guards(1));
        let (end, text) = said(|| {
            // SAFETY: null takes the handler away (in the child only).
            unsafe { set(None) };
            ready.fire();
        });
        assert_eq!(end, End::Exit(0), "{api:?}: the host must live on");
        for w in words {
            assert!(text.contains(w), "{api:?} said {text:?}, want {w:?}");
        }
    }
}

/// xerbla_ and its kin can be called by others (LAPACK does), and return.
#[test]
fn xerbla_for_others() {
    for name in ["xerbla_", "xerbla_64_"] {
        let f = lib().symbol(name);
        let (end, text) = said(|| {
            let info = 3i64; // little-endian: 3 as 32 bits too
            // SAFETY: name, number, hidden length.
            unsafe { invoke::<()>(f, &[b"DGETRF".as_ptr() as usize, &raw const info as usize, 6], &[]) };
        });
        assert_eq!(end, End::Exit(0));
        assert!(text.contains("DGETRF") && text.contains('3'), "{name} said {text:?}");
    }
    let f = lib().symbol("xerbla_array_");
    let (end, text) = said(|| {
        let (len, info) = (6i32, 4i32);
        // SAFETY: characters, their number, the position.
        unsafe {
            invoke::<()>(f, &[b"DPOTRF".as_ptr() as usize, &raw const len as usize, &raw const info as usize], &[])
        };
    });
    assert_eq!(end, End::Exit(0));
    assert!(text.contains("DPOTRF") && text.contains('4'), "xerbla_array_ said {text:?}");
    let f = lib().symbol("cblas_xerbla");
    let (end, text) = said(|| {
        // SAFETY: position, name, format without placeholders.
        unsafe { invoke::<()>(f, &[5, c"cblas_test".as_ptr() as usize, c"".as_ptr() as usize], &[]) };
    });
    assert_eq!(end, End::Exit(0));
    assert!(text.contains("cblas_test") && text.contains('5'), "cblas_xerbla said {text:?}");
}
