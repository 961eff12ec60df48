//! Writes `include/*.h` and `ffi/exports.txt` from the Rust source.
//!
//! The exported functions come out of macros, which cbindgen does not expand on stable Rust. So the compiler expands the
//! crate first (an unstable flag, allowed for this one run), we pick the functions of each header out of the result and
//! have cbindgen declare them, section by section, into a template. Only developers run this; its results are checked
//! in, and `--check` says whether they are up to date.

use quote::ToTokens;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use syn::visit::{self, Visit};

/// A function or variable with a C name.
struct Export {
    /// The file of `ffi/src` that it comes from: `level1`.
    section: String,
    name: String,
    doc: String,
    /// Nothing for a variable.
    signature: Option<syn::Signature>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => return Err("usage: corten-headers [--check]".into()),
    };
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").map_err(|_| "run me with `cargo run`")?);
    let root = here.parent().and_then(Path::parent).ok_or("the tool is not in its place, <project>/ffi/headers")?;

    let exports = exports(&expand(root)?)?;
    let mut stale = Vec::new();
    for (path, text) in outputs(&here, root, &exports)? {
        let path = root.join(path);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if check && old != text {
            stale.push(format!("{}:\n{}", path.display(), difference(&old, &text)));
        } else if old != text {
            std::fs::write(&path, text)?;
            println!("wrote {}", path.display());
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    for text in &stale {
        eprintln!("{text}");
    }
    Err("generated files differ from the source; run `make headers`".into())
}

/// The source of the ffi crate with all its macros expanded.
fn expand(root: &Path) -> Result<String, Box<dyn Error>> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let target = std::env::var("CARGO_TARGET_DIR").map_or_else(|_| root.join("target"), PathBuf::from).join("headers");
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["rustc", "--quiet", "--package", "corten", "--lib", "--profile", "check", "--target-dir"])
        .arg(target)
        .args(["--", "-Zunpretty=expanded"])
        // The flag is not stable. What it prints is only read here; nothing that we ship is compiled this way.
        .env("RUSTC_BOOTSTRAP", "1")
        .output()?;
    if !output.status.success() {
        return Err(format!("expanding the crate failed:\n{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// All exported items of the expanded crate, in the order of the source.
fn exports(source: &str) -> Result<Vec<Export>, Box<dyn Error>> {
    #[derive(Default)]
    struct Collect {
        section: String,
        found: Vec<Export>,
    }
    impl Collect {
        fn add(&mut self, attributes: &[syn::Attribute], ident: &syn::Ident, signature: Option<&syn::Signature>) {
            if let Some(name) = exported_name(attributes, ident) {
                let (section, doc) = (self.section.clone(), documentation(attributes));
                self.found.push(Export { section, name, doc, signature: signature.cloned() });
            }
        }
    }
    impl<'ast> Visit<'ast> for Collect {
        fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
            self.add(&item.attrs, &item.sig.ident, Some(&item.sig));
        }
        fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
            self.add(&item.attrs, &item.ident, None);
        }
    }
    let file = syn::parse_file(source)?;
    let mut collect = Collect::default();
    for item in &file.items {
        if let syn::Item::Mod(module) = item {
            collect.section = module.ident.to_string();
            visit::visit_item_mod(&mut collect, module);
        }
    }
    Ok(collect.found)
}

/// The C name that `no_mangle` or `export_name` gives.
fn exported_name(attributes: &[syn::Attribute], ident: &syn::Ident) -> Option<String> {
    let parsed = attributes.iter().filter_map(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("unsafe") => list.parse_args::<syn::Meta>().ok(),
        meta => Some(meta.clone()),
    });
    parsed.into_iter().find_map(|meta| match meta {
        syn::Meta::Path(path) if path.is_ident("no_mangle") => Some(ident.to_string()),
        syn::Meta::NameValue(pair) if pair.path.is_ident("export_name") => literal(&pair.value),
        _ => None,
    })
}

fn documentation(attributes: &[syn::Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => literal(&pair.value),
        _ => None,
    });
    lines.map(|line| line.trim().replace('`', "")).collect::<Vec<_>>().join("\n")
}

fn literal(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// All generated files: path from the root of the project, and text.
fn outputs(here: &Path, root: &Path, exports: &[Export]) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    type Choice = fn(&str) -> bool;
    let headers: [(&str, Choice); 5] = [
        ("cblas.h", |name| name.starts_with("cblas_") && !name.ends_with("_64") && !name.ends_with("64_")),
        ("cblas_64.h", |name| name.starts_with("cblas_") && name.ends_with("_64")),
        ("blas.h", |name| is_fortran(name) && !name.ends_with("_64_")),
        ("blas_64.h", |name| is_fortran(name) && name.ends_with("_64_")),
        ("corten.h", |name| is_own(name) || is_openblas(name)),
    ];
    let version = version(root)?;
    let numbers: Vec<&str> = version.split('.').collect();
    let [major, minor, patch] = numbers[..] else { return Err(format!("version {version} is not x.y.z").into()) };

    let mut files = Vec::new();
    for (file, chosen) in headers {
        let template = std::fs::read_to_string(here.join("templates").join(file))?;
        let mut text = String::new();
        for line in template.lines() {
            match line.strip_prefix('@').and_then(|rest| rest.strip_suffix('@')) {
                Some("complex") => {
                    text.push_str(&std::fs::read_to_string(here.join("templates/complex.h"))?);
                }
                Some(section) => {
                    let (source, kin): (&str, Choice) = match section {
                        "corten" => ("runtime", is_own),
                        "openblas" => ("runtime", is_openblas),
                        // variadic, which Rust cannot say: the templates declare it
                        other => (other, |name| !name.starts_with("cblas_xerbla")),
                    };
                    let members: Vec<&Export> = exports
                        .iter()
                        .filter(|e| e.section == source && chosen(&e.name) && kin(&e.name) && e.signature.is_some())
                        .collect();
                    if members.is_empty() {
                        return Err(format!("{file}: nothing to declare in section {section}").into());
                    }
                    text.push_str(&declarations(here, &members)?);
                }
                None => {
                    let line = line.replace("@version@", &version).replace("@major@", major);
                    let line = line.replace("@minor@", minor).replace("@patch@", patch);
                    text.push_str(&line);
                    text.push('\n');
                }
            }
        }
        files.push((format!("include/{file}"), text));
    }

    let mut names: Vec<&str> = exports.iter().map(|export| export.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("{} is exported twice", twice[0]).into());
    }
    files.push(("ffi/exports.txt".into(), names.join("\n") + "\n"));
    Ok(files)
}

fn is_own(name: &str) -> bool {
    name.starts_with("corten_")
}
/// Thread control under OpenBLAS's names; the forms with ornaments are for tools, not for headers.
fn is_openblas(name: &str) -> bool {
    let known = name.starts_with("openblas_") || name.starts_with("goto_");
    known && !name.ends_with('_') && !name.ends_with("_64")
}
fn is_fortran(name: &str) -> bool {
    let other = ["scipy_", "cblas_", "openblas_", "goto_"].iter().any(|prefix| name.starts_with(prefix));
    name.ends_with('_') && !other
}

/// The workspace's version, which is the library's.
fn version(root: &Path) -> Result<String, Box<dyn Error>> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let section = manifest.split("[workspace.package]").nth(1).ok_or("Cargo.toml has no [workspace.package]")?;
    let line = section.lines().find_map(|line| line.strip_prefix("version = ")).ok_or("Cargo.toml has no version")?;
    Ok(line.trim().trim_matches('"').to_string())
}

/// cbindgen's declarations of these functions, one family (same comment) together.
fn declarations(here: &Path, members: &[&Export]) -> Result<String, Box<dyn Error>> {
    let mut source = String::new();
    for export in members {
        let Some(mut signature) = export.signature.clone() else { continue };
        signature.ident = syn::Ident::new(&export.name, proc_macro2::Span::call_site());
        let signature = signature.to_token_stream().to_string();
        let signature = signature.replace("CBLAS_INT64", "i64").replace("blas_int64", "i64");
        writeln!(source, "#[unsafe(no_mangle)] pub {signature} {{}}")?;
    }
    let file = std::env::temp_dir().join(format!("corten-headers-{}.rs", std::process::id()));
    std::fs::write(&file, source)?;
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml"))?;
    let bindings = cbindgen::Builder::new().with_config(config).with_src(&file).generate();
    std::fs::remove_file(&file)?;
    let mut text = Vec::new();
    bindings?.write(&mut text);
    let text = String::from_utf8(text)?;

    let declared: Vec<&str> = text.split(';').map(str::trim).filter(|text| !text.is_empty()).collect();
    if declared.len() != members.len() {
        return Err(format!("cbindgen declared {} of {} functions", declared.len(), members.len()).into());
    }
    let mut out = String::new();
    let mut last = None;
    for (export, declaration) in members.iter().zip(declared) {
        if !declaration.contains(&format!("{}(", export.name)) {
            return Err(format!("cbindgen lost {}: {declaration}", export.name).into());
        }
        if last != Some(&export.doc) {
            if last.is_some() {
                out.push('\n');
            }
            writeln!(out, "/* {} */", export.doc.replace('\n', "\n * ").replace(" * \n", " *\n"))?;
            last = Some(&export.doc);
        }
        out.push_str(&wrap(declaration));
    }
    Ok(out)
}

/// A declaration in lines of readable length.
fn wrap(declaration: &str) -> String {
    const WIDTH: usize = 110;
    let mut lines = vec![String::new()];
    for part in declaration.split_inclusive(", ") {
        let line = lines.last_mut().expect("there is a first line");
        if line.len() + part.trim_end().len() > WIDTH {
            *line = line.trim_end().to_string();
            lines.push(format!("    {part}"));
        } else {
            line.push_str(part);
        }
    }
    lines.join("\n") + ";\n"
}

/// The lines that differ, for a reader of a log.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut text = String::new();
    for line in old.iter().filter(|line| !new.contains(line)) {
        let _ = writeln!(text, "-{line}");
    }
    for line in new.iter().filter(|line| !old.contains(line)) {
        let _ = writeln!(text, "+{line}");
    }
    if text.is_empty() {
        text.push_str("(the same lines in another order)\n");
    }
    text
}
