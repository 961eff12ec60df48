//! Why a call of what is not BLAS was refused: a kind that programs tell apart, and a text for the reader.

/// The kinds of failure; the numbers are those of `corten.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Status {
    /// An argument or a field of this call has a value that makes no sense. Nothing was written.
    Argument = 1,
    /// Not initialised, already initialised, forked, or a handle that is not there.
    State = 2,
    /// The ranks disagree about what is to be done. The next call works.
    Mismatch = 3,
    /// A rank ended, left or was lost. Nothing works until `shutdown` and `init`.
    Peer = 4,
    /// A rank did not come in time. Nothing works until `shutdown` and `init`.
    Timeout = 5,
    /// The system or MPI refused something.
    System = 6,
    /// It makes sense, and this version does not do it.
    Unsupported = 7,
    NoMemory = 8,
}

/// A failure: its kind, and which argument or rank, what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub status: Status,
    pub text: String,
}

pub type Result<T = ()> = core::result::Result<T, Error>;

impl Error {
    pub fn new(status: Status, text: impl Into<String>) -> Error {
        Error { status, text: text.into() }
    }
    /// What the system said about the last call.
    pub fn system(what: &str) -> Error {
        Error::new(Status::System, format!("{what}: {}", std::io::Error::last_os_error()))
    }
    /// The same failure, with what it happened to in front.
    pub fn of(self, what: &str) -> Error {
        Error { status: self.status, text: format!("{what}: {}", self.text) }
    }
}
