//! Link arguments of `libcorten.so` that cargo has no setting for.
//!
//! The SONAME makes the plain `cargo build` product linkable as it is (without one, linkers record a path). `nodelete`
//! keeps the library mapped after `dlclose`: its worker threads may still be inside it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=Cargo.toml");
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if target != "linux" {
        return;
    }
    let manifest = std::fs::read_to_string("Cargo.toml").expect("Cargo.toml of this package is readable");
    let version: u32 = manifest
        .lines()
        .find_map(|line| line.strip_prefix("so-version = "))
        .and_then(|number| number.trim().parse().ok())
        .expect("Cargo.toml has `so-version = <number>` in [package.metadata.corten]");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcorten.so.{version}");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
