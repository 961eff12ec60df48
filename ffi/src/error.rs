//! What a bad argument leads to: `xerbla_`, `cblas_xerbla` and their kin.
//!
//! An application may define `xerbla_` or `cblas_xerbla` itself, and Netlib's testers do; so our calls must reach the
//! application's definition. Two things make sure of it. The symbol is exported, so the linker leaves the call to the
//! dynamic one; and our definition is a naked function, whose body the optimiser cannot see, so it is neither inlined
//! nor bound. (Weak linkage, the usual way, is not in stable Rust; the static library gets it from `objcopy`.) On other
//! architectures the override is looked up by name.
//!
//! Who cannot use the linker gives a handler to `corten_set_xerbla`; it has priority.

use crate::types::{Bad, Checked, blas_int, blas_int64, byte};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use corten_core::runtime::trace;
use std::io::Write;
use std::time::Instant;

/// Through which family of names a routine was called. Errors are reported to the `xerbla` of the same family.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Api {
    Fortran,
    Fortran64,
    ScipyFortran,
    ScipyFortran64,
    Cblas,
    Cblas64,
    OpenblasCblas64,
    ScipyCblas,
    ScipyCblas64,
}

impl Api {
    const fn is_cblas(self) -> bool {
        matches!(self, Api::Cblas | Api::Cblas64 | Api::OpenblasCblas64 | Api::ScipyCblas | Api::ScipyCblas64)
    }
}

/// The routine that was called and how: what error reports and traces need to know.
pub struct Call {
    /// In lower case and without ornaments: `dgemm`.
    name: &'static str,
    api: Api,
    /// What to add to a position counted as in Fortran.
    shift: u8,
}

impl Call {
    /// A routine whose CBLAS form has the layout before Fortran's arguments.
    pub const fn new(name: &'static str, api: Api) -> Self {
        Call { name, api, shift: api.is_cblas() as u8 }
    }
    /// A routine that has the layout as first argument in both forms.
    pub const fn ordered(name: &'static str, api: Api) -> Self {
        Call { name, api, shift: 0 }
    }
    /// Ends a call: reports the bad argument if there is one.
    #[inline]
    pub fn report(&self, outcome: Checked) {
        if let Err(Bad(position)) = outcome {
            self.bad_argument(c_int::from(position + self.shift));
        }
    }
    /// Ends the work of a level-3 call that began at [`trace::start`]; with `CORTEN_VERBOSE`, says what it was and how
    /// long it took. Not a function around the work: a closure would keep the checks and the core apart, and views that
    /// pass through memory cost more than a small product.
    #[inline(always)]
    pub fn done<const N: usize>(&self, start: Option<Instant>, sizes: [(&str, usize); N], flops: f64) {
        if let Some(start) = start {
            trace::report(
                &self.name.trim_end().to_ascii_lowercase(),
                &sizes.map(|(label, size)| (label, size as isize)),
                flops,
                start,
            );
        }
    }

    #[cold]
    #[inline(never)]
    fn bad_argument(&self, position: c_int) {
        let mut text = Text::new();
        if self.api.is_cblas() {
            text.push(b"cblas_");
            text.push(self.name.as_bytes());
        } else {
            text.push(self.name.as_bytes());
            text.bytes[..text.len].make_ascii_uppercase();
        }
        let handler = HANDLER.load(Relaxed);
        if !handler.is_null() {
            // SAFETY: only `corten_set_xerbla` stores here, and it stores function pointers of this type.
            let handler = unsafe { core::mem::transmute::<*mut c_void, Handler>(handler) };
            return handler(text.as_ptr(), position);
        }
        if self.api.is_cblas() {
            // A tester that sets this wants positions that were found after swapping arguments; ours are the caller's.
            // SAFETY: a plain integer; testers write it from the thread that calls us.
            unsafe { (&raw mut RowMajorStrg).write(0) };
        } else {
            // As Reference BLAS: names are padded to six characters.
            while text.len < 6 {
                text.push(b" ");
            }
        }
        let name = text.as_ptr();
        let wide = blas_int64::from(position);
        // SAFETY: name, number and hidden length as the interface says; both live through the call.
        unsafe {
            match self.api {
                Api::Fortran => call::xerbla_(name, &position, text.len),
                Api::Fortran64 => call::xerbla_64_(name, &wide, text.len),
                Api::ScipyFortran => call::scipy_xerbla_(name, &position, text.len),
                Api::ScipyFortran64 => call::scipy_xerbla_64_(name, &wide, text.len),
                Api::Cblas => call::cblas_xerbla(position, name, c"".as_ptr()),
                Api::Cblas64 => call::cblas_xerbla_64(wide, name, c"".as_ptr()),
                Api::OpenblasCblas64 => call::cblas_xerbla64_(wide, name, c"".as_ptr()),
                Api::ScipyCblas => call::scipy_cblas_xerbla(position, name, c"".as_ptr()),
                Api::ScipyCblas64 => call::scipy_cblas_xerbla64_(wide, name, c"".as_ptr()),
            }
        }
    }
}

/// A short text on the stack, always with a zero byte behind it; what does not fit is left out.
struct Text {
    bytes: [u8; 160],
    len: usize,
}

impl Text {
    fn new() -> Self {
        Text { bytes: [0; 160], len: 0 }
    }
    fn push(&mut self, more: &[u8]) {
        let room = self.bytes.len() - 1 - self.len;
        let more = &more[..more.len().min(room)];
        self.bytes[self.len..self.len + more.len()].copy_from_slice(more);
        self.len += more.len();
    }
    fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
    /// To standard error, in one write so that lines of several threads do not mix. A closed stream is no error.
    fn print(&self) {
        let _ = std::io::stderr().write_all(&self.bytes[..self.len]);
    }
}

impl core::fmt::Write for Text {
    fn write_str(&mut self, more: &str) -> core::fmt::Result {
        self.push(more.as_bytes());
        Ok(())
    }
}

type Handler = extern "C" fn(*const c_char, c_int);

/// A `Handler`, or null.
static HANDLER: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// What `xerbla_` does by default: says it and returns; the host's life is not ours to end.
unsafe fn say_fortran(name: *const c_char, len: usize, info: i64) {
    // A caller written in C may have left the hidden length out; then it is whatever the register held.
    let mut text = Text::new();
    text.push(b" ** On entry to ");
    for i in 0..len.min(32) {
        // SAFETY: inside the length that the caller gave, and before any end mark of C.
        let byte = byte(unsafe { *name.add(i) });
        if !(b' '..=b'~').contains(&byte) {
            break;
        }
        text.push(&[byte]);
    }
    let _ = core::fmt::Write::write_fmt(&mut text, format_args!(" parameter number {info:2} had an illegal value\n"));
    text.print();
}

unsafe extern "C" fn default_xerbla(name: *const c_char, info: *const blas_int, len: usize) {
    // SAFETY: Fortran passes every argument by a valid address.
    unsafe { say_fortran(name, len, i64::from(*info)) }
}
unsafe extern "C" fn default_xerbla_64(name: *const c_char, info: *const blas_int64, len: usize) {
    // SAFETY: Fortran passes every argument by a valid address.
    unsafe { say_fortran(name, len, *info) }
}

/// What `cblas_xerbla` does by default. `form` is a format of `printf`; without a placeholder it is a text.
unsafe fn say_cblas(info: i64, name: *const c_char, form: *const c_char) {
    let mut text = Text::new();
    if info != 0 {
        let _ = core::fmt::Write::write_fmt(&mut text, format_args!("Parameter {info} to routine "));
        // SAFETY: a C string or null, as the interface says.
        text.push(unsafe { c_bytes(name) });
        text.push(b" was incorrect\n");
    }
    // SAFETY: as above.
    let form = unsafe { c_bytes(form) };
    if !form.contains(&b'%') {
        text.push(form);
    }
    text.print();
}

/// # Safety
/// A C string that stays, or null.
unsafe fn c_bytes<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return b"";
    }
    // SAFETY: passed on to the caller.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

unsafe extern "C" fn default_cblas_xerbla(info: blas_int, name: *const c_char, form: *const c_char) {
    // SAFETY: passed on to the caller.
    unsafe { say_cblas(i64::from(info), name, form) }
}
unsafe extern "C" fn default_cblas_xerbla_64(info: blas_int64, name: *const c_char, form: *const c_char) {
    // SAFETY: passed on to the caller.
    unsafe { say_cblas(info, name, form) }
}

/// The exported definition of an overridable function, and in `call` the way to call what the process resolved it to.
///
/// `cblas_xerbla` is variadic in C. Defined here with its three fixed arguments it can be called as declared: on both
/// architectures fixed and variadic arguments travel alike and the caller cleans up.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! overridable {
    ($($(#[$doc:meta])* $name:ident ($($arg:ident: $type:ty),*) = $default:ident;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name($($arg: $type),*) {
                #[cfg(target_arch = "x86_64")]
                core::arch::naked_asm!("jmp {}", sym $default);
                #[cfg(target_arch = "aarch64")]
                core::arch::naked_asm!("b {}", sym $default);
            }
        )*
        mod call {
            pub use super::{$($name),*};
        }
    };
}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! overridable {
    ($($(#[$doc:meta])* $name:ident ($($arg:ident: $type:ty),*) = $default:ident;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) {
                // SAFETY: the same arguments.
                unsafe { $default($($arg),*) }
            }
        )*
        mod call {
            use super::*;
            unsafe extern "C" {
                fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
            }
            $(
                pub unsafe fn $name($($arg: $type),*) {
                    type Function = unsafe extern "C" fn($($type),*);
                    // SAFETY: a null handle is RTLD_DEFAULT: the definition that the dynamic linker would choose.
                    let found = unsafe { dlsym(core::ptr::null_mut(), concat!(stringify!($name), "\0").as_ptr().cast()) };
                    let function: Function = match found.is_null() {
                        true => super::$name,
                        // SAFETY: whoever defines this name gives it this type.
                        false => unsafe { core::mem::transmute::<*mut c_void, Function>(found) },
                    };
                    // SAFETY: passed on to the caller.
                    unsafe { function($($arg),*) }
                }
            )*
        }
    };
}

overridable! {
    /// Called when argument number `info` of a Fortran routine is bad; an application may define its own.
    xerbla_(srname: *const c_char, info: *const blas_int, srname_len: usize) = default_xerbla;
    /// Called when argument number `info` of a Fortran routine is bad; an application may define its own.
    xerbla_64_(srname: *const c_char, info: *const blas_int64, srname_len: usize) = default_xerbla_64;
    /// Called when argument number `info` of a Fortran routine is bad; an application may define its own.
    scipy_xerbla_(srname: *const c_char, info: *const blas_int, srname_len: usize) = default_xerbla;
    /// Called when argument number `info` of a Fortran routine is bad; an application may define its own.
    scipy_xerbla_64_(srname: *const c_char, info: *const blas_int64, srname_len: usize) = default_xerbla_64;
    /// Called when argument number `p` of a CBLAS routine is bad; an application may define its own.
    cblas_xerbla(p: blas_int, rout: *const c_char, form: *const c_char) = default_cblas_xerbla;
    /// Called when argument number `p` of a CBLAS routine is bad; an application may define its own.
    cblas_xerbla_64(p: blas_int64, rout: *const c_char, form: *const c_char) = default_cblas_xerbla_64;
    /// Called when argument number `p` of a CBLAS routine is bad; an application may define its own.
    cblas_xerbla64_(p: blas_int64, rout: *const c_char, form: *const c_char) = default_cblas_xerbla_64;
    /// Called when argument number `p` of a CBLAS routine is bad; an application may define its own.
    scipy_cblas_xerbla(p: blas_int, rout: *const c_char, form: *const c_char) = default_cblas_xerbla;
    /// Called when argument number `p` of a CBLAS routine is bad; an application may define its own.
    scipy_cblas_xerbla64_(p: blas_int64, rout: *const c_char, form: *const c_char) = default_cblas_xerbla_64;
}

macro_rules! auxiliary {
    ($array:ident, $lsame:ident, $xerbla:ident, $int:ident) => {
        /// Calls `xerbla_` with the name that an array of characters holds.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $array(srname_array: *const c_char, srname_len: *const $int, info: *const $int) {
            // SAFETY: Fortran passes every argument by a valid address.
            unsafe { call::$xerbla(srname_array, info, usize::try_from(*srname_len).unwrap_or(0)) }
        }
        /// Whether two characters are the same letter, in either case.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $lsame(ca: *const c_char, cb: *const c_char) -> $int {
            // SAFETY: Fortran passes every argument by a valid address.
            let (a, b) = unsafe { (byte(*ca), byte(*cb)) };
            $int::from(a.eq_ignore_ascii_case(&b))
        }
    };
}
auxiliary!(xerbla_array_, lsame_, xerbla_, blas_int);
auxiliary!(xerbla_array_64_, lsame_64_, xerbla_64_, blas_int64);
auxiliary!(scipy_xerbla_array_, scipy_lsame_, scipy_xerbla_, blas_int);
auxiliary!(scipy_xerbla_array_64_, scipy_lsame_64_, scipy_xerbla_64_, blas_int64);

/// Two variables of Netlib's CBLAS that its testers import. Positions are always reported as the caller counts them, so
/// the first is cleared before a report; the second is for Netlib's own `xerbla_`.
#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
pub static mut RowMajorStrg: c_int = 0;
#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
pub static mut CBLAS_CallFromC: c_int = 0;

/// Hands all reports of bad arguments to `handler` (routine: `DGEMM` or `cblas_dgemm`; info: position of the argument)
/// instead of to `xerbla_` and `cblas_xerbla`; null undoes it.
#[unsafe(no_mangle)]
pub extern "C" fn corten_set_xerbla(handler: Option<extern "C" fn(routine: *const c_char, info: c_int)>) {
    HANDLER.store(handler.map_or(core::ptr::null_mut(), |f| f as *mut c_void), Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicI32;

    static POSITION: AtomicI32 = AtomicI32::new(0);
    extern "C" fn note(routine: *const c_char, info: c_int) {
        // SAFETY: a C string of ours.
        let name = unsafe { CStr::from_ptr(routine) };
        assert!(name == c"DGEMM" || name == c"cblas_dgemm" || name == c"cblas_domatcopy", "{name:?}");
        POSITION.store(info, Relaxed);
    }

    #[test]
    fn positions_count_the_layout_in_cblas_only() {
        corten_set_xerbla(Some(note));
        for (call, expected) in [
            (Call::new("dgemm", Api::Fortran64), 8),
            (Call::new("dgemm", Api::ScipyCblas64), 9),
            (Call::ordered("domatcopy", Api::Cblas), 8),
        ] {
            call.report(Ok(()));
            call.report(Err(Bad(8)));
            assert_eq!(POSITION.swap(0, Relaxed), expected);
        }
        corten_set_xerbla(None);
    }

    #[test]
    fn texts_end_where_the_room_ends() {
        let mut text = Text::new();
        (0..100).for_each(|_| text.push(b"abc"));
        assert_eq!((text.len, text.bytes[text.len]), (159, 0));
    }
}
