//! Which libraries race: ours first, then every peer that is installed, then those given by path.
//! Finding means looking where distributions, wheels and vendors put them; nothing is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Debug, PartialEq)]
pub struct Lib {
    pub name: String,
    pub path: PathBuf,
    /// What stands before `dgemm_` and after it; both empty: the worker looks which of the usual forms exists.
    pub prefix: String,
    pub suffix: String,
    /// Held to so many threads, where the others have those of the race.
    pub threads: Option<usize>,
}

impl Lib {
    fn new(name: &str, path: PathBuf) -> Lib {
        Lib { name: name.into(), path, prefix: String::new(), suffix: String::new(), threads: None }
    }

    /// `NAME=PATH[:PREFIX[:SUFFIX]]`.
    pub fn parse(text: &str) -> Result<Lib, String> {
        let wrong = || format!("{text:?}: expected NAME=PATH[:PREFIX[:SUFFIX]]");
        let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
        let mut parts = rest.split(':');
        let path = parts.next().filter(|p| !p.is_empty() && !name.is_empty()).ok_or_else(wrong)?;
        let mut lib = Lib::new(name, path.into());
        lib.prefix = parts.next().unwrap_or_default().into();
        lib.suffix = parts.next().unwrap_or_default().into();
        if parts.next().is_some() {
            return Err(wrong());
        }
        Ok(lib)
    }
}

/// Our library: CORTEN_LIB, or the one that cargo built in the checkout that this program was built in.
pub fn ours() -> Result<Lib, String> {
    if let Some(path) = std::env::var_os("CORTEN_LIB") {
        return Ok(Lib::new("corten", path.into()));
    }
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    exe.ancestors()
        .skip(1)
        .flat_map(|dir| [dir.join("libcorten.so"), dir.join("target/release/libcorten.so")])
        .find(|p| p.is_file())
        .map(|p| Lib::new("corten", p))
        .ok_or_else(|| "no libcorten.so: run `cargo build --release -p corten`, or set CORTEN_LIB".into())
}

/// Every peer that is found, each file once.
pub fn installed(venv: Option<&Path>) -> Vec<Lib> {
    let mut found: Vec<Lib> = Vec::new();
    let mut add = |name: &str, path: Option<PathBuf>| {
        let Some(path) = path.and_then(|p| p.canonicalize().ok()) else { return };
        if found.iter().all(|l| l.path != path && l.name != name) {
            found.push(Lib::new(name, path));
        }
    };
    let (mut prefixes, mut sites) = (Vec::new(), Vec::new());
    match venv {
        Some(dir) => {
            prefixes.push(dir.to_path_buf());
            sites.extend(glob(&dir.join("lib/python3*/site-packages")));
        }
        None => python(&mut prefixes, &mut sites),
    }
    let mkl_dirs: Vec<PathBuf> = prefixes
        .iter()
        .map(|p| p.join("lib"))
        .chain(std::env::var_os("MKLROOT").map(|r| Path::new(&r).join("lib")))
        .chain(["/opt/intel/oneapi/mkl/latest/lib", "/opt/intel/mkl/lib/intel64"].map(PathBuf::from))
        .chain(glob(Path::new("/usr/lib/*-linux-gnu")))
        .collect();
    add("mkl", mkl_dirs.iter().find_map(|d| last(&d.join("libmkl_rt.so*"))));
    for site in &sites {
        for pattern in [
            "scipy_openblas32/lib/libscipy_openblas.so",
            "scipy_openblas64/lib/libscipy_openblas64_.so",
            "scipy.libs/libscipy_openblas-*.so",
            "numpy.libs/libscipy_openblas64_-*.so",
        ] {
            add("openblas-pypi", last(&site.join(pattern)));
        }
    }
    for root in ["/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib", "/opt/homebrew/lib"] {
        for (name, pattern) in [
            ("openblas", "openblas-pthread/libopenblas.so.0"),
            ("openblas", "openblas-openmp/libopenblas.so.0"),
            ("openblas", "libopenblas.so.0"),
            ("blis", "blis-openmp/libblis.so.[0-9]"),
            ("blis", "blis-pthread/libblis.so.[0-9]"),
            ("blis", "libblis.so.[0-9]"),
            ("eigen", "libeigen_blas.so"),
            ("netlib", "blas/libblas.so.3"),
        ] {
            add(name, last(&Path::new(root).join(pattern)));
        }
    }
    found
}

/// Prefixes and package directories of the Python in the PATH; none without Python.
fn python(prefixes: &mut Vec<PathBuf>, sites: &mut Vec<PathBuf>) {
    let code = "import sys, sysconfig\nfor p in sys.prefix, sysconfig.get_path('purelib'), sysconfig.get_path('platlib'): print(p)";
    let Ok(out) = Command::new("python3").args(["-c", code]).output() else { return };
    let text = String::from_utf8_lossy(&out.stdout);
    let mut lines = text.lines().map(PathBuf::from);
    prefixes.extend(lines.next());
    sites.extend(lines);
}

/// The last match in the order of names: of several versions the one with the longest or highest name.
fn last(pattern: &Path) -> Option<PathBuf> {
    glob(pattern).pop()
}

/// Files that match a pattern whose components may hold one `*` or end in `[0-9]`; sorted.
fn glob(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let part = part.as_os_str().to_string_lossy().into_owned();
        if !part.contains(['*', '[']) {
            found = found.into_iter().map(|d| d.join(&part)).filter(|d| d.exists()).collect();
            continue;
        }
        let (head, tail, digit) = match part.strip_suffix("[0-9]") {
            Some(head) => (head.to_string(), String::new(), true),
            None => part.split_once('*').map(|(a, b)| (a.to_string(), b.to_string(), false)).unwrap_or_default(),
        };
        let fits = |name: &str| {
            name.len() >= head.len() + tail.len()
                && name.starts_with(&head)
                && name.ends_with(&tail)
                && (!digit || name.len() == head.len() + 1 && name.ends_with(|c: char| c.is_ascii_digit()))
        };
        found = found
            .iter()
            .filter_map(|dir| std::fs::read_dir(dir).ok())
            .flat_map(|entries| entries.flatten())
            .filter(|e| fits(&e.file_name().to_string_lossy()))
            .map(|e| e.path())
            .collect();
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_given_by_path() {
        let lib = Lib::parse("ob=/x/lib.so:scipy_:64_").unwrap();
        assert_eq!((lib.name.as_str(), lib.prefix.as_str(), lib.suffix.as_str()), ("ob", "scipy_", "64_"));
        assert_eq!(lib.path, Path::new("/x/lib.so"));
        for text in ["ob", "=x", "ob=", "ob=a:b:c:d"] {
            assert!(Lib::parse(text).is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn patterns() {
        let dir = std::env::temp_dir().join(format!("corten-bench-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("sub-1")).unwrap();
        for name in ["libx.so.3", "libx.so.4", "libx.so.4.1"] {
            std::fs::write(dir.join("sub-1").join(name), "").unwrap();
        }
        let names = |p: &str| -> Vec<String> {
            glob(&dir.join(p)).iter().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names("sub-*/libx.so.[0-9]"), ["libx.so.3", "libx.so.4"]);
        assert_eq!(names("sub-*/libx.so*"), ["libx.so.3", "libx.so.4", "libx.so.4.1"]);
        assert!(names("sub-*/liby*").is_empty());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
