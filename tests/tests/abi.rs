//! The library as a file: what it exports, what it needs, and that loading it
//! does nothing. (The static library is sealed when it is installed: what it
//! defines is checked by tests/install.sh.)

use corten_tests::library;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Output of a tool; its absence is a failure, not a reason to skip.
fn tool(package: &str, name: &str, args: &[&str]) -> String {
    let out = Command::new(name)
        .args(args)
        .output()
        .unwrap_or_else(|e| panic!("{name} does not run ({e}): install the package {package}"));
    assert!(out.status.success(), "{name} {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn exports_txt() -> BTreeSet<String> {
    let path = root().join("ffi/exports.txt");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(|l| l.split('#').next().unwrap().trim()).filter(|l| !l.is_empty()).map(str::to_string).collect()
}

/// Promise 5: the exported symbols are exactly those of ffi/exports.txt.
#[test]
fn p5_exports() {
    let lib = library::path();
    let nm = tool("binutils", "nm", &["-D", "--defined-only", lib.to_str().unwrap()]);
    let found: BTreeSet<String> = nm.lines().map(|l| l.split_whitespace().last().unwrap().to_string()).collect();
    let listed = exports_txt();
    let extra: Vec<_> = found.difference(&listed).collect();
    let missing: Vec<_> = listed.difference(&found).collect();
    assert!(extra.is_empty(), "exported but not in ffi/exports.txt: {extra:?}");
    assert!(missing.is_empty(), "in ffi/exports.txt but not exported: {missing:?}");
}

/// The 151 names of Reference BLAS in all their forms, from a list that was
/// written down apart from the library's own tables.
#[test]
fn p5_every_name_of_blas() {
    let real = ["s", "d"];
    let complex = ["c", "z"];
    let all = ["s", "d", "c", "z"];
    let mut names: Vec<String> = Vec::new();
    let mut add = |letters: &[&str], bases: &str| {
        for l in letters {
            names.extend(bases.split_whitespace().map(|b| format!("{l}{b}")));
        }
    };
    add(&all, "swap scal copy axpy rotg gemv gbmv trmv tbmv tpmv trsv tbsv tpsv gemm symm syrk syr2k trmm trsm");
    add(&real, "dot nrm2 asum rot rotm rotmg symv sbmv spmv ger syr spr syr2 spr2");
    add(&complex, "dotu dotc hemv hbmv hpmv geru gerc her hpr her2 hpr2 hemm herk her2k");
    add(&["i"], "samax damax camax zamax");
    add(&[""], "csscal zdscal csrot zdrot dsdot sdsdot scnrm2 dznrm2 scasum dzasum");
    // lsame, xerbla and xerbla_array make it 151; so do scabs1 and dcabs1.
    assert_eq!(names.len(), 151 - 5, "the list itself");
    let listed = exports_txt();
    for name in &names {
        let by_pointer = name.ends_with("dotu") || name.ends_with("dotc");
        for api in library::Api::ALL {
            let symbol = if by_pointer && api.is_cblas() { api.name(&format!("{name}_sub")) } else { api.name(name) };
            assert!(listed.contains(&symbol), "{symbol} is missing");
        }
    }
    for symbol in [
        "scabs1_",
        "dcabs1_",
        "lsame_",
        "xerbla_",
        "xerbla_array_",
        "cblas_xerbla",
        "RowMajorStrg",
        "CBLAS_CallFromC",
        "openblas_get_num_threads",
        "openblas_set_num_threads",
        "openblas_get_config",
        "openblas_get_parallel",
        "openblas_get_corename",
        "goto_set_num_threads",
        "corten_version",
    ] {
        assert!(listed.contains(symbol), "{symbol} is missing");
    }
}

/// Promise 5: libc and its family only.
#[test]
fn p5_dependencies() {
    let lib = library::path();
    let text = tool("binutils", "readelf", &["-d", lib.to_str().unwrap()]);
    let entry = |tag: &str| -> Vec<String> {
        text.lines()
            .filter(|l| l.contains(&format!("({tag})")))
            .map(|l| l.split('[').nth(1).unwrap_or("").split(']').next().unwrap_or("").to_string())
            .collect()
    };
    for needed in entry("NEEDED") {
        let family = ["libc.so.", "libm.so.", "libgcc_s.so.", "ld-linux", "libpthread.so.", "libdl.so."];
        assert!(family.iter().any(|f| needed.starts_with(f)), "needs {needed}");
    }
    assert_eq!(entry("SONAME"), ["libcorten.so.0"]);
    let flags: String = text.lines().filter(|l| l.contains("FLAGS")).collect();
    assert!(flags.contains("NODELETE"), "-z nodelete is missing: {flags}");
    assert!(!text.contains("(TEXTREL)"), "has text relocations");
    assert!(!text.contains("(RPATH)") && !text.contains("(RUNPATH)"), "has a path of the build machine");
    let segments = tool("binutils", "readelf", &["-lW", lib.to_str().unwrap()]);
    let stack = segments.lines().find(|l| l.contains("GNU_STACK")).expect("GNU_STACK");
    assert!(!stack.contains("RWE"), "wants an executable stack");
}

fn probe() -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_probe"));
    c.env("CORTEN_LIB", library::path());
    c
}

/// Loading starts no thread, keeps no file open, and takes no memory of note
/// (the loader itself notes the library in a few hundred bytes).
#[test]
fn loading_does_nothing() {
    let out = probe().arg("load").output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    let pair = |what: &str| -> (i64, i64) {
        let line = text.lines().find(|l| l.starts_with(what)).unwrap_or_else(|| panic!("{what} in {text}"));
        let mut n = line.split_whitespace().skip(1).map(|x| x.parse().unwrap());
        (n.next().unwrap(), n.next().unwrap())
    };
    let (before, after) = pair("threads");
    assert_eq!(before, after, "threads");
    let (before, after) = pair("files");
    assert_eq!(before, after, "open files");
    let (before, after) = pair("heap");
    assert!(after - before < 16 << 10, "loading took {} bytes", after - before);
}

/// The same seen by strace: between the marks the loader opens the library
/// and what it needs; nothing else is opened, no thread is made.
#[test]
fn loading_makes_no_call_of_its_own() {
    let log = std::env::temp_dir().join(format!("corten-load-{}.strace", std::process::id()));
    let out = Command::new("strace")
        .args(["-f", "-o", log.to_str().unwrap(), env!("CARGO_BIN_EXE_probe"), "load"])
        .env("CORTEN_LIB", library::path())
        .output()
        .unwrap_or_else(|e| panic!("strace does not run ({e}): install the package strace"));
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    assert!(out.status.success(), "strace: {}", String::from_utf8_lossy(&out.stderr));
    let from = text.find("/mark-before-load").expect("first mark");
    let to = text.find("/mark-after-load").expect("second mark");
    let between: Vec<&str> = text[from..to].lines().skip(1).collect();
    assert!(between.iter().any(|l| l.contains("libcorten.so") || l.contains(".so")), "the load itself: {between:?}");
    for line in between {
        let call = line.split('(').next().unwrap().split_whitespace().last().unwrap_or("");
        if line.contains("/mark-after-load") || call.is_empty() || !line.contains('(') {
            continue;
        }
        let loader = [
            "openat",
            "read",
            "pread64",
            "fstat",
            "newfstatat",
            "mmap",
            "mprotect",
            "munmap",
            "close",
            "brk",
            "access",
            "lseek",
            "readlink",
            "getcwd",
        ];
        assert!(loader.contains(&call), "at load: {line}");
        if call == "openat" {
            assert!(line.contains(".so"), "at load, a file was opened: {line}");
        }
    }
}
