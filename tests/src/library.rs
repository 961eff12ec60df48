//! The library under test: loaded at run time, so that the same tests can be
//! pointed at another BLAS (`CORTEN_LIB=/path/libblas.so.3`) to test the tests.

use std::ffi::{CStr, CString, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

pub struct Library {
    handle: *mut c_void,
    pub path: PathBuf,
}

// SAFETY: a dlopen handle may be used from any thread.
unsafe impl Send for Library {}
// SAFETY: as above; dlsym locks for itself.
unsafe impl Sync for Library {}

/// Path of the library under test; panics with advice when it is absent.
pub fn path() -> PathBuf {
    let path = match std::env::var_os("CORTEN_LIB") {
        Some(p) => PathBuf::from(p),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/release/libcorten.so"),
    };
    path.canonicalize().unwrap_or_else(|e| {
        panic!(
            "no library to test at {}: {e}. Build it (cargo build --release -p corten, in the \
             project's root) or name another in CORTEN_LIB.",
            path.display()
        )
    })
}

/// Whether a library other than our own was named: its extras do not exist.
pub fn foreign() -> bool {
    std::env::var_os("CORTEN_TEST_FOREIGN").is_some()
}

fn dlerror() -> String {
    // SAFETY: dlerror returns null or a C string valid until the next call.
    unsafe {
        let e = libc::dlerror();
        if e.is_null() { "unknown error".into() } else { CStr::from_ptr(e).to_string_lossy().into_owned() }
    }
}

impl Library {
    pub fn open() -> Library {
        let path = path();
        let c = CString::new(path.to_str().expect("path is UTF-8")).unwrap();
        // SAFETY: loading runs the library's initialisers; it has none of note.
        let handle = unsafe { libc::dlopen(c.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "cannot load {}: {}", path.display(), dlerror());
        Library { handle, path }
    }

    pub fn try_symbol(&self, name: &str) -> Option<*const c_void> {
        let c = CString::new(name).unwrap();
        // SAFETY: the handle is open as long as self lives.
        let p = unsafe { libc::dlsym(self.handle, c.as_ptr()) };
        (!p.is_null()).then_some(p.cast_const())
    }

    pub fn symbol(&self, name: &str) -> *const c_void {
        self.try_symbol(name).unwrap_or_else(|| panic!("{} does not export {name}", self.path.display()))
    }

    pub fn close(self) {
        // SAFETY: the handle is open, and self is consumed.
        assert_eq!(unsafe { libc::dlclose(self.handle) }, 0, "dlclose: {}", dlerror());
    }
}

/// The library under test, loaded once a process.
pub fn lib() -> &'static Library {
    static LIB: OnceLock<Library> = OnceLock::new();
    LIB.get_or_init(Library::open)
}

/// A typed function pointer of the library: `func!(corten_get_num_threads: fn() -> i32)`.
#[macro_export]
macro_rules! func {
    ($name:ident : fn($($t:ty),* $(,)?) $(-> $r:ty)?) => {{
        let p = $crate::library::lib().symbol(stringify!($name));
        // SAFETY: the symbol is the function of that signature.
        unsafe { std::mem::transmute::<*const std::ffi::c_void, unsafe extern "C" fn($($t),*) $(-> $r)?>(p) }
    }};
}

/// One way to spell and call a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Fortran,
    Fortran64,
    ScipyFortran,
    ScipyFortran64,
    Cblas,
    /// `cblas_dgemm_64`, as Netlib and MKL spell it.
    Cblas64,
    /// `cblas_dgemm64_`, as OpenBLAS spells it.
    CblasSuffix64,
    ScipyCblas,
    ScipyCblas64,
}

impl Api {
    pub const ALL: [Api; 9] = [
        Api::Fortran,
        Api::Cblas,
        Api::Fortran64,
        Api::Cblas64,
        Api::CblasSuffix64,
        Api::ScipyFortran,
        Api::ScipyFortran64,
        Api::ScipyCblas,
        Api::ScipyCblas64,
    ];

    /// The entry points under test: all, or those that a foreign BLAS has.
    pub fn tested() -> &'static [Api] {
        if foreign() { &Api::ALL[..2] } else { &Api::ALL }
    }

    pub fn is_cblas(self) -> bool {
        matches!(self, Api::Cblas | Api::Cblas64 | Api::CblasSuffix64 | Api::ScipyCblas | Api::ScipyCblas64)
    }

    pub fn is_64(self) -> bool {
        matches!(self, Api::Fortran64 | Api::ScipyFortran64 | Api::Cblas64 | Api::CblasSuffix64 | Api::ScipyCblas64)
    }

    pub fn name(self, routine: &str) -> String {
        match self {
            Api::Fortran => format!("{routine}_"),
            Api::Fortran64 => format!("{routine}_64_"),
            Api::ScipyFortran => format!("scipy_{routine}_"),
            Api::ScipyFortran64 => format!("scipy_{routine}_64_"),
            Api::Cblas => format!("cblas_{routine}"),
            Api::Cblas64 => format!("cblas_{routine}_64"),
            Api::CblasSuffix64 => format!("cblas_{routine}64_"),
            Api::ScipyCblas => format!("scipy_cblas_{routine}"),
            Api::ScipyCblas64 => format!("scipy_cblas_{routine}64_"),
        }
    }
}

/// What stands in argument slots that the callee must not look at (such as
/// Fortran's hidden lengths), and in the unused half of 32-bit arguments.
pub const GARBAGE: usize = 0xdead_beef_5ca1_ab1e;

const GP: usize = 20;
const FP: usize = 4;

/// Calls `f` with integer-class arguments `gp` and float-class arguments `fp`.
///
/// On the C ABIs of x86-64 and AArch64 Linux the two classes are counted
/// apart and surplus arguments are ignored, so one signature serves every
/// routine: no table of 150 prototypes that could itself be wrong.
///
/// # Safety
/// The arguments must be what `f` expects, and `R` what it returns.
#[rustfmt::skip]
pub unsafe fn invoke<R>(f: *const c_void, gp: &[usize], fp: &[f64]) -> R {
    assert!(gp.len() <= GP && fp.len() <= FP);
    let mut g = [GARBAGE; GP];
    g[..gp.len()].copy_from_slice(gp);
    let mut d = [f64::from_bits(GARBAGE as u64); FP];
    d[..fp.len()].copy_from_slice(fp);
    type U = usize;
    type D = f64;
    // SAFETY: see above.
    unsafe {
        let f: unsafe extern "C" fn(
            U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, D, D, D, D,
        ) -> R = std::mem::transmute(f);
        f(
            g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8], g[9],
            g[10], g[11], g[12], g[13], g[14], g[15], g[16], g[17], g[18], g[19],
            d[0], d[1], d[2], d[3],
        )
    }
}
