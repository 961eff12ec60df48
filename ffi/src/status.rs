//! Status codes and the message behind the last one, for functions that are not BLAS.

use core::cell::RefCell;
use core::ffi::{c_char, c_int};
use core::fmt::Write;
use corten_core::conv::{Error, Status};

/// The message of this thread's last failed call: a C string in place, so that a thread that ends has nothing to give back.
struct Message {
    bytes: [u8; 512],
    len: usize,
}

impl Write for Message {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let room = self.bytes.len() - 1 - self.len;
        let more = &text.as_bytes()[..text.len().min(room)];
        self.bytes[self.len..self.len + more.len()].copy_from_slice(more);
        self.len += more.len();
        self.bytes[self.len] = 0;
        Ok(())
    }
}

thread_local! {
    static LAST: RefCell<Message> = const { RefCell::new(Message { bytes: [0; 512], len: 0 }) };
}

/// Success: what all functions with a status return if nothing went wrong.
pub const SUCCESS: c_int = 0;
const INVALID: c_int = 1;
const UNSUPPORTED: c_int = 2;
const NO_MEMORY: c_int = 3;

/// Ends a call of `function`: keeps the message if there is one.
pub fn report(function: &str, outcome: Result<(), Error>) -> c_int {
    let Err(error) = outcome else { return SUCCESS };
    LAST.with_borrow_mut(|last| {
        last.len = 0;
        let _ = write!(last, "{function}: {}", error.message);
    });
    match error.status {
        Status::Invalid => INVALID,
        Status::Unsupported => UNSUPPORTED,
        Status::NoMemory => NO_MEMORY,
    }
}

/// What was wrong with the last call from this thread that returned an error: which argument, its value and what was
/// expected. The text stays until the next such call from this thread; "" if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn corten_last_error() -> *const c_char {
    LAST.with_borrow(|last| last.bytes.as_ptr().cast())
}
