//! Status codes and the text of the last error, for all functions that report by return value.

use core::cell::RefCell;
use core::ffi::{c_char, c_int};
use core::fmt::Write;
use corten_core::status::{Error, Result};

/// The text of this thread's last failed call: a C string in place, so that a thread that ends has nothing to give back.
struct Message {
    bytes: [u8; 1024],
    len: usize,
}

impl Write for Message {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for &byte in text.as_bytes().iter().take(self.bytes.len() - 1 - self.len) {
            self.bytes[self.len] = if byte == 0 { b' ' } else { byte };
            self.len += 1;
        }
        self.bytes[self.len] = 0;
        Ok(())
    }
}

thread_local! {
    static LAST: RefCell<Message> = const { RefCell::new(Message { bytes: [0; 1024], len: 0 }) };
}

/// Keeps the text for `corten_last_error`; returns the code.
pub fn report(error: &Error) -> c_int {
    LAST.with_borrow_mut(|last| {
        last.len = 0;
        let _ = last.write_str(&error.text);
    });
    error.status as c_int
}

/// What a function returns: 0, or the code of the error, whose text is kept.
pub fn code(outcome: Result) -> c_int {
    outcome.map_or_else(|error| report(&error), |()| 0)
}

/// As [`code`], with the name of the function in front of the text.
pub fn code_of(function: &str, outcome: Result) -> c_int {
    code(outcome.map_err(|error| error.of(function)))
}

/// What was wrong with this thread's last call that returned an error: which argument or rank, what was found, what was
/// expected. The text stays until the next such call of this thread; "" if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn corten_last_error() -> *const c_char {
    LAST.with_borrow(|last| last.bytes.as_ptr().cast())
}
