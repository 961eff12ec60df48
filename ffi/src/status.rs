//! Status codes and the text of the last error, for all functions that report by return value.

use core::cell::RefCell;
use core::ffi::{c_char, c_int};
use corten_core::comm::types::{Error, Result};
use std::ffi::CString;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps the text for `corten_last_error`; returns the code.
pub fn report(error: &Error) -> c_int {
    let text = CString::new(error.text.replace('\0', " ")).unwrap_or_default();
    // A thread that is ending has no place for it any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = text);
    error.status as c_int
}

/// What a function returns: 0, or the code of the error, whose text is kept.
pub fn code(outcome: Result) -> c_int {
    outcome.map_or_else(|error| report(&error), |()| 0)
}

/// The text of this thread's last error: which argument or rank, what was found, what was expected. Valid until the next
/// error of this thread; empty if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn corten_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
