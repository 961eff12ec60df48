//! A program of its own that loads the library: for tests of what happens at
//! load time, at exit, and without memory, where a test harness with its own
//! threads and files would be in the way. Modes: see `main`.

use corten_tests::library::Library;
use std::ffi::c_void;

type Dgemm = unsafe extern "C" fn(
    *const u8,
    *const u8,
    *const i32,
    *const i32,
    *const i32,
    *const f64,
    *const f64,
    *const i32,
    *const f64,
    *const i32,
    *const f64,
    *mut f64,
    *const i32,
);

/// Two matrices of small integers, and room for their product.
struct Matrices {
    n: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Matrices {
    fn new(n: usize) -> Matrices {
        let numbers = |m: usize| (0..n * n).map(|i| (i % m) as f64 - (m / 2) as f64).collect();
        Matrices { n, a: numbers(7), b: numbers(5), c: vec![f64::NAN; n * n] }
    }

    /// Multiplies and compares exactly; allocates nothing itself.
    fn multiply(&mut self, lib: &Library) -> bool {
        // SAFETY: dgemm_ has this signature.
        let dgemm: Dgemm = unsafe { std::mem::transmute::<*const c_void, Dgemm>(lib.symbol("dgemm_")) };
        let (n, one, zero, d) = (self.n, 1.0, 0.0, self.n as i32);
        let (a, b) = (&self.a, &self.b);
        self.c.fill(f64::NAN);
        let c = self.c.as_mut_ptr();
        // SAFETY: n by n matrices with leading dimension n.
        unsafe { dgemm(b"N".as_ptr(), b"T".as_ptr(), &d, &d, &d, &one, a.as_ptr(), &d, b.as_ptr(), &d, &zero, c, &d) };
        (0..n).step_by(3).all(|i| {
            (0..n).all(|j| {
                let want: f64 = (0..n).map(|l| a[i + l * n] * b[j + l * n]).sum();
                self.c[i + j * n] == want
            })
        })
    }
}

fn multiply(lib: &Library, n: usize) -> bool {
    Matrices::new(n).multiply(lib)
}

fn count(path: &str) -> usize {
    std::fs::read_dir(path).map_or(0, |d| d.count())
}

fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").map_or(0, |s| s.lines().count())
}

/// Makes a system call that a trace of this process shows as a mark.
fn mark(text: &std::ffi::CStr) {
    // SAFETY: a C string; the file does not exist.
    unsafe { libc::access(text.as_ptr(), libc::F_OK) };
}

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    match mode.as_str() {
        // Nothing but loading, between two marks; what changed is printed.
        "load" => {
            let look = || {
                // SAFETY: mallinfo2 has no preconditions.
                let heap = unsafe { libc::mallinfo2() };
                (count("/proc/self/task"), count("/proc/self/fd"), heap.uordblks + heap.hblkhd)
            };
            let path = corten_tests::library::path();
            let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
            let before = look();
            mark(c"/mark-before-load");
            // SAFETY: loading the library is what is to be watched.
            let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            mark(c"/mark-after-load");
            let after = look();
            assert!(!handle.is_null(), "cannot load {}", path.display());
            println!("threads {} {}", before.0, after.0);
            println!("files {} {}", before.1, after.1);
            println!("heap {} {}", before.2, after.2);
        }
        "reload" => {
            let mut first = (0, 0);
            for round in 0..200 {
                let lib = Library::open();
                assert!(multiply(&lib, 64), "wrong product in round {round}");
                lib.close();
                let now = (count("/proc/self/task"), mappings());
                if round == 9 {
                    first = now;
                }
                if round > 9 {
                    assert!(now.0 <= first.0 && now.1 <= first.1 + 8, "round {round}: {now:?}, was {first:?}");
                }
            }
            println!("reload ok");
        }
        "exit" => {
            let lib = Library::open();
            assert!(multiply(&lib, 96), "wrong product");
            println!("exit ok");
        }
        "isa" => {
            let lib = Library::open();
            // SAFETY: corten_get_isa returns a C string that lives for ever.
            let isa = unsafe {
                let f: extern "C" fn() -> *const libc::c_char = std::mem::transmute(lib.symbol("corten_get_isa"));
                std::ffi::CStr::from_ptr(f())
            };
            println!("{}", isa.to_str().unwrap());
        }
        // With no address space left, products must still come out right.
        "starve" => {
            let lib = Library::open();
            assert!(multiply(&lib, 8));
            let mut all: Vec<Matrices> = [300, 100, 37, 300].map(Matrices::new).into();
            let text = std::fs::read_to_string("/proc/self/statm").unwrap();
            let pages: u64 = text.split_whitespace().next().unwrap().parse().unwrap();
            let limit = libc::rlimit { rlim_cur: pages * 4096, rlim_max: libc::RLIM_INFINITY };
            // SAFETY: a limit of this process only.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
            let right = all.iter_mut().all(|m| m.multiply(&lib));
            let limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
            // SAFETY: as above; the messages below may need memory.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
            assert!(right, "wrong product without memory");
            println!("starve ok");
        }
        other => {
            eprintln!("unknown mode {other:?}");
            std::process::exit(2);
        }
    }
}
