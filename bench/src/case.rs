//! What is measured: a case is one call of one routine, written the way a person would say it
//! (`dgemm NT 500 500 64`, `ztrsm LLNN 1000 1000`, `ddot 10000 incx=2`), with its flops and its bytes.
//!
//! Counts follow the usual rule (LAWN 41): a complex multiplication is 6 flops, a complex addition 2.
//! Bytes are the least traffic that the operation permits: each operand read or written once.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prec {
    S,
    D,
    C,
    Z,
}

impl Prec {
    pub fn is_complex(self) -> bool {
        matches!(self, Prec::C | Prec::Z)
    }
    pub fn is_double(self) -> bool {
        matches!(self, Prec::D | Prec::Z)
    }
    /// Bytes of one real number of this precision.
    pub fn real_size(self) -> usize {
        if self.is_double() { 8 } else { 4 }
    }
    /// Reals in one element.
    pub fn width(self) -> usize {
        if self.is_complex() { 2 } else { 1 }
    }
    pub fn letter(self) -> char {
        ['s', 'd', 'c', 'z'][self as usize]
    }
}

/// The letters a routine takes, in the order of the Fortran argument list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flag {
    Side,
    Uplo,
    Trans,
    Diag,
}

impl Flag {
    fn letters(self) -> &'static str {
        match self {
            Flag::Side => "LR",
            Flag::Uplo => "UL",
            Flag::Trans => "NTC",
            Flag::Diag => "NU",
        }
    }
}

/// Which types a base name exists for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Types {
    All,
    Real,
    Complex,
}

pub struct Op {
    /// Name without the type's letter.
    pub base: &'static str,
    pub level: u8,
    pub flags: &'static [Flag],
    pub dims: &'static [&'static str],
    types: Types,
}

use Flag::{Diag, Side, Trans, Uplo};
use Types::{All, Complex, Real};

const fn op(base: &'static str, level: u8, flags: &'static [Flag], dims: &'static [&'static str], types: Types) -> Op {
    Op { base, level, flags, dims, types }
}

pub const OPS: &[Op] = &[
    op("gemm", 3, &[Trans, Trans], &["m", "n", "k"], All),
    op("gemm_batch_strided", 3, &[Trans, Trans], &["m", "n", "k", "batch"], All),
    op("gemm_loop", 3, &[Trans, Trans], &["m", "n", "k", "batch"], All),
    op("symm", 3, &[Side, Uplo], &["m", "n"], All),
    op("hemm", 3, &[Side, Uplo], &["m", "n"], Complex),
    op("syrk", 3, &[Uplo, Trans], &["n", "k"], All),
    op("herk", 3, &[Uplo, Trans], &["n", "k"], Complex),
    op("syr2k", 3, &[Uplo, Trans], &["n", "k"], All),
    op("her2k", 3, &[Uplo, Trans], &["n", "k"], Complex),
    op("trmm", 3, &[Side, Uplo, Trans, Diag], &["m", "n"], All),
    op("trsm", 3, &[Side, Uplo, Trans, Diag], &["m", "n"], All),
    op("gemv", 2, &[Trans], &["m", "n"], All),
    op("gbmv", 2, &[Trans], &["m", "n", "kl", "ku"], All),
    op("ger", 2, &[], &["m", "n"], Real),
    op("geru", 2, &[], &["m", "n"], Complex),
    op("gerc", 2, &[], &["m", "n"], Complex),
    op("symv", 2, &[Uplo], &["n"], Real),
    op("hemv", 2, &[Uplo], &["n"], Complex),
    op("sbmv", 2, &[Uplo], &["n", "k"], Real),
    op("hbmv", 2, &[Uplo], &["n", "k"], Complex),
    op("spmv", 2, &[Uplo], &["n"], Real),
    op("hpmv", 2, &[Uplo], &["n"], Complex),
    op("trmv", 2, &[Uplo, Trans, Diag], &["n"], All),
    op("trsv", 2, &[Uplo, Trans, Diag], &["n"], All),
    op("tbmv", 2, &[Uplo, Trans, Diag], &["n", "k"], All),
    op("tbsv", 2, &[Uplo, Trans, Diag], &["n", "k"], All),
    op("tpmv", 2, &[Uplo, Trans, Diag], &["n"], All),
    op("tpsv", 2, &[Uplo, Trans, Diag], &["n"], All),
    op("syr", 2, &[Uplo], &["n"], Real),
    op("her", 2, &[Uplo], &["n"], Complex),
    op("syr2", 2, &[Uplo], &["n"], Real),
    op("her2", 2, &[Uplo], &["n"], Complex),
    op("spr", 2, &[Uplo], &["n"], Real),
    op("hpr", 2, &[Uplo], &["n"], Complex),
    op("spr2", 2, &[Uplo], &["n"], Real),
    op("hpr2", 2, &[Uplo], &["n"], Complex),
    op("dot", 1, &[], &["n"], Real),
    op("dotu", 1, &[], &["n"], Complex),
    op("dotc", 1, &[], &["n"], Complex),
    op("axpy", 1, &[], &["n"], All),
    op("scal", 1, &[], &["n"], All),
    op("nrm2", 1, &[], &["n"], All),
    op("asum", 1, &[], &["n"], All),
    op("amax", 1, &[], &["n"], All),
    op("copy", 1, &[], &["n"], All),
    op("swap", 1, &[], &["n"], All),
    op("rot", 1, &[], &["n"], All),
];

/// One call. `dims` is in the order of the Fortran argument list, as `op.dims` names them.
#[derive(Clone)]
pub struct Case {
    pub op: &'static Op,
    pub prec: Prec,
    pub flags: Vec<u8>,
    pub dims: Vec<i64>,
    /// Added to every leading dimension.
    pub pad: i64,
    pub incx: i64,
    pub incy: i64,
    pub beta: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut s = self.routine();
        if !self.flags.is_empty() {
            s.push(' ');
            s.push_str(&String::from_utf8_lossy(&self.flags));
        }
        for d in &self.dims {
            s.push_str(&format!(" {d}"));
        }
        for (key, value, default) in [("pad", self.pad, 0), ("incx", self.incx, 1), ("incy", self.incy, 1)] {
            if value != default {
                s.push_str(&format!(" {key}={value}"));
            }
        }
        if self.beta != 0.0 {
            s.push_str(&format!(" beta={}", self.beta));
        }
        f.pad(&s)
    }
}

/// Finds the table's row and the type of a routine: `dgemm`, but also `scnrm2`, `izamax`, `zdrot`.
fn routine_of(name: &str) -> Option<(&'static Op, Prec)> {
    OPS.iter().flat_map(|op| [Prec::S, Prec::D, Prec::C, Prec::Z].map(|p| (op, p))).find(|(op, p)| {
        let exists = match op.types {
            All => true,
            Real => !p.is_complex(),
            Complex => p.is_complex(),
        };
        exists && routine_name(op, *p) == name
    })
}

fn routine_name(op: &Op, prec: Prec) -> String {
    let (p, complex) = (prec.letter(), prec.is_complex());
    let real = if prec.is_double() { 'd' } else { 's' };
    match op.base {
        "amax" => format!("i{p}amax"),
        "nrm2" | "asum" if complex => format!("{real}{p}{}", op.base),
        "rot" if complex => format!("{p}{real}rot"),
        base => format!("{p}{base}"),
    }
}

/// The cases of shape files that write transposes as digits, `routine ta tb m n k`, in our letters.
fn from_digits(words: &[&str]) -> Option<Vec<String>> {
    let [name, ta, tb, m, n, k] = words else { return None };
    let letter = |s: &str| match s {
        "0" => Some("N"),
        "1" => Some("T"),
        _ => None,
    };
    let (ta, tb) = (letter(ta)?, letter(tb)?);
    let (op, _) = routine_of(name)?;
    let rest: Vec<String> = match (op.base, op.level) {
        ("gemm", _) => vec![format!("{ta}{tb}"), m.to_string(), n.to_string(), k.to_string()],
        ("trsm", _) => vec![format!("LL{ta}N"), m.to_string(), n.to_string()],
        ("syrk", _) => vec![format!("L{ta}"), n.to_string(), k.to_string()],
        ("gemv", _) => vec![ta.to_string(), m.to_string(), n.to_string()],
        (_, 1) => vec![m.to_string()],
        _ => return None,
    };
    Some(std::iter::once(name.to_string()).chain(rest).collect())
}

impl Case {
    pub fn parse(text: &str) -> Result<Case, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Some(words) = from_digits(&words) {
            return Case::parse(&words.join(" "));
        }
        let (&name, mut rest) = words.split_first().ok_or("empty case")?;
        let (op, prec) = routine_of(name).ok_or_else(|| format!("{text:?}: no routine {name:?} in the benchmark"))?;
        let want = || {
            let flags: Vec<String> = op.flags.iter().map(|f| format!("[{}]", f.letters())).collect();
            let flags = if flags.is_empty() { String::new() } else { format!(" {}", flags.concat()) };
            format!("{text:?}: expected `{name}{flags} {} [pad= incx= incy= beta=]`", op.dims.join(" "))
        };
        let mut flags = Vec::new();
        if !op.flags.is_empty() {
            let (letters, tail) = rest.split_first().ok_or_else(want)?;
            flags = letters.to_ascii_uppercase().into_bytes();
            rest = tail;
        }
        let fits = |(c, f): (&u8, &Flag)| f.letters().as_bytes().contains(c);
        if flags.len() != op.flags.len() || !flags.iter().zip(op.flags).all(fits) {
            return Err(want());
        }
        let mut case = Case { op, prec, flags, dims: Vec::new(), pad: 0, incx: 1, incy: 1, beta: 0.0 };
        for word in rest {
            match word.split_once('=') {
                None => case.dims.push(word.parse().map_err(|_| want())?),
                Some(("beta", v)) => case.beta = v.parse().map_err(|_| want())?,
                Some((key, v)) => {
                    let v: i64 = v.parse().map_err(|_| want())?;
                    match key {
                        "pad" if v >= 0 => case.pad = v,
                        "incx" if v != 0 => case.incx = v,
                        "incy" if v != 0 => case.incy = v,
                        _ => return Err(want()),
                    }
                }
            }
        }
        // A negative width of a band is as wrong as a negative size; sizes of zero measure the bare call.
        if case.dims.len() != op.dims.len() || case.dims.iter().any(|&d| d < 0) {
            return Err(want());
        }
        // The standard has no 'T' for Hermitian updates and no 'C' for complex symmetric ones.
        let base = op.base;
        let t = case.flags.last().copied();
        if matches!(base, "herk" | "her2k") && t == Some(b'T')
            || matches!(base, "syrk" | "syr2k") && prec.is_complex() && t == Some(b'C')
        {
            return Err(format!("{text:?}: {name} does not take trans={}", t.unwrap_or_default() as char));
        }
        Ok(case)
    }

    pub fn routine(&self) -> String {
        routine_name(self.op, self.prec)
    }

    pub fn dim(&self, name: &str) -> i64 {
        self.op.dims.iter().position(|d| *d == name).map_or(0, |i| self.dims[i])
    }

    pub fn flag(&self, flag: Flag) -> u8 {
        self.op.flags.iter().position(|f| *f == flag).map_or(0, |i| self.flags[i])
    }

    /// Order of the square operand of symm, hemm, trmm, trsm.
    pub fn order(&self) -> i64 {
        self.dim(if self.flag(Side) == b'L' { "m" } else { "n" })
    }

    /// Stored elements of a band matrix.
    fn band(&self) -> f64 {
        let (m, n, kl, ku) = (self.dim("m"), self.dim("n"), self.dim("kl"), self.dim("ku"));
        (0..n).map(|j| ((j + kl + 1).min(m) - (j - ku).max(0)).max(0) as f64).sum()
    }

    /// Stored elements of a triangular or symmetric band matrix.
    fn half_band(&self) -> f64 {
        let (n, k) = (self.dim("n"), self.dim("k"));
        (0..n).map(|j| (k.min(n - 1 - j) + 1) as f64).sum()
    }

    /// Floating-point operations of one call.
    pub fn flops(&self) -> f64 {
        let [m, n, k] = ["m", "n", "k"].map(|d| self.dim(d) as f64);
        let (mul, add) = match self.op.base {
            "gemm" => (m * n * k, m * n * k),
            "gemm_batch_strided" | "gemm_loop" => {
                let all = m * n * k * self.dim("batch") as f64;
                (all, all)
            }
            "symm" | "hemm" => (m * n * self.order() as f64, m * n * self.order() as f64),
            "syrk" | "herk" => (k * n * (n + 1.0) / 2.0, k * n * (n + 1.0) / 2.0),
            "syr2k" | "her2k" => (k * n * (n + 1.0), k * n * (n + 1.0)),
            "trmm" | "trsm" => {
                let (o, other) = (self.order() as f64, if self.flag(Side) == b'L' { n } else { m });
                (other * o * (o + 1.0) / 2.0, other * o * (o - 1.0) / 2.0)
            }
            "gemv" | "ger" | "geru" | "gerc" => (m * n, m * n),
            "gbmv" => (self.band(), self.band()),
            "symv" | "hemv" | "spmv" | "hpmv" => (n * n, n * n),
            "sbmv" | "hbmv" => (2.0 * self.half_band() - n, 2.0 * self.half_band() - n),
            "trmv" | "trsv" | "tpmv" | "tpsv" => (n * (n + 1.0) / 2.0, n * (n - 1.0) / 2.0),
            "tbmv" | "tbsv" => (self.half_band(), self.half_band() - n),
            "syr" | "her" | "spr" | "hpr" => (n * (n + 1.0) / 2.0, n * (n + 1.0) / 2.0),
            "syr2" | "her2" | "spr2" | "hpr2" => (n * (n + 1.0), n * (n + 1.0)),
            "dot" | "dotu" | "dotc" | "axpy" => (n, n),
            "scal" => (n, 0.0),
            // These work on the reals of the elements, whatever the type.
            "nrm2" => return 2.0 * n * self.prec.width() as f64,
            "asum" | "amax" => return n * self.prec.width() as f64,
            "rot" => return 6.0 * n * self.prec.width() as f64,
            _ => (0.0, 0.0),
        };
        if self.prec.is_complex() { 6.0 * mul + 2.0 * add } else { mul + add }
    }

    /// Bytes that one call must move at least; what is both read and written counts twice.
    pub fn bytes(&self) -> f64 {
        self.operand_bytes(2.0)
    }

    /// Bytes of all operands: what decides on the cache that they fit in. Strides are not counted.
    pub fn footprint(&self) -> f64 {
        self.operand_bytes(1.0)
    }

    /// `rw`: how often an operand counts that is both read and written.
    fn operand_bytes(&self, rw: f64) -> f64 {
        let [m, n, k] = ["m", "n", "k"].map(|d| self.dim(d) as f64);
        // A result that is overwritten (beta = 0) is not read.
        let result = if self.beta == 0.0 { 1.0 } else { rw };
        let half = n * (n + 1.0) / 2.0;
        let elements = match self.op.base {
            "gemm" => m * k + k * n + result * m * n,
            "gemm_batch_strided" | "gemm_loop" => self.dim("batch") as f64 * (m * k + k * n + result * m * n),
            "symm" | "hemm" => (self.order() * (self.order() + 1)) as f64 / 2.0 + (1.0 + result) * m * n,
            "syrk" | "herk" => n * k + result * half,
            "syr2k" | "her2k" => 2.0 * n * k + result * half,
            "trmm" | "trsm" => (self.order() * (self.order() + 1)) as f64 / 2.0 + rw * m * n,
            "gemv" | "gbmv" => {
                let a = if self.op.base == "gemv" { m * n } else { self.band() };
                let (x, y) = if self.flag(Trans) == b'N' { (n, m) } else { (m, n) };
                a + x + result * y
            }
            "ger" | "geru" | "gerc" => rw * m * n + m + n,
            "symv" | "hemv" | "spmv" | "hpmv" => half + n + result * n,
            "sbmv" | "hbmv" => self.half_band() + n + result * n,
            "trmv" | "trsv" | "tpmv" | "tpsv" => half + rw * n,
            "tbmv" | "tbsv" => self.half_band() + rw * n,
            "syr" | "her" | "spr" | "hpr" => rw * half + n,
            "syr2" | "her2" | "spr2" | "hpr2" => rw * half + 2.0 * n,
            "dot" | "dotu" | "dotc" | "copy" => 2.0 * n,
            "scal" => rw * n,
            "axpy" => (1.0 + rw) * n,
            "swap" | "rot" => 2.0 * rw * n,
            _ => n,
        };
        elements * (self.prec.real_size() * self.prec.width()) as f64
    }

    /// The gemm whose speed this level-3 case is held against: the same product, none of the structure; for a batch, as
    /// many calls of gemm in a row.
    pub fn same_size_gemm(&self) -> Option<Case> {
        if self.op.level != 3 || matches!(self.op.base, "gemm" | "gemm_loop") {
            return None;
        }
        if self.op.base == "gemm_batch_strided" {
            return Case::parse(&self.to_string().replace("gemm_batch_strided", "gemm_loop")).ok();
        }
        let (m, n, k) = match self.op.base {
            "syrk" | "herk" | "syr2k" | "her2k" => (self.dim("n"), self.dim("n"), self.dim("k")),
            _ => (self.dim("m"), self.dim("n"), self.order()),
        };
        Case::parse(&format!("{}gemm NN {m} {n} {k}", self.prec.letter())).ok()
    }

    /// The size to plot over: the one dimension of a square case; none for other shapes.
    pub fn size(&self) -> Option<i64> {
        let sizes: Vec<i64> = self
            .op
            .dims
            .iter()
            .zip(&self.dims)
            .filter(|(d, _)| !matches!(**d, "kl" | "ku" | "batch"))
            .map(|(_, &v)| v)
            .collect();
        let banded = matches!(self.op.base, "sbmv" | "hbmv" | "tbmv" | "tbsv");
        let plain = self.pad == 0 && self.incx == 1 && self.incy == 1;
        (plain && sizes[0] > 0 && (banded || sizes.iter().all(|s| *s == sizes[0]))).then_some(sizes[0])
    }

    /// What a plot is drawn of: the routine with its letters (and the widths of its band).
    pub fn family(&self) -> String {
        let letters = String::from_utf8_lossy(&self.flags).into_owned();
        let batch = match self.dim("batch") {
            0 => String::new(),
            n => format!(" batch of {n}"),
        };
        format!("{} {letters}{batch}", self.routine()).trim().to_string()
    }
}

/// The standard sets. `short` is made to end within three minutes against five peers.
pub fn set(name: &str) -> Option<Vec<Case>> {
    let mut list: Vec<String> = Vec::new();
    let mut add = |text: String| list.push(text);
    match name {
        "short" => {
            for n in [8, 16, 32, 64, 128, 256, 500, 1000] {
                add(format!("sgemm NN {n} {n} {n}"));
                add(format!("dgemm NN {n} {n} {n}"));
            }
            for n in [16, 64, 256, 500] {
                add(format!("cgemm NN {n} {n} {n}"));
                add(format!("zgemm NN {n} {n} {n}"));
            }
            for text in [
                "sgemm TN 333 777 555",
                "dgemm NT 500 500 64",
                "sgemm NN 3136 64 576",
                "sgemm NN 49 512 4608",
                "dgemm NN 1000 4 1000",
            ] {
                add(text.into());
            }
            // Neighbours of the usual sizes: odd, transposed, padded.
            for text in [
                "dgemm NN 7 7 7",
                "dgemm TN 31 33 29",
                "sgemm NT 65 63 67 pad=3",
                "dgemm TT 129 127 131 pad=5 beta=1",
                "zgemm CN 65 65 65",
                "sgemm_batch_strided NN 8 8 8 1000",
                "dgemm_batch_strided NN 16 16 16 500",
            ] {
                add(text.into());
            }
            for n in [64, 500] {
                for text in
                    ["dsymm LL", "zhemm LU", "dtrmm LUNN", "strsm LLNN", "dtrsm LLNN", "dtrsm RUTN", "ztrsm LLNN"]
                {
                    add(format!("{text} {n} {n}"));
                }
                for text in ["ssyrk LN", "dsyrk LN", "dsyr2k UT", "zherk LN"] {
                    add(format!("{text} {n} {n}"));
                }
            }
            for n in [64, 1000] {
                for text in ["sgemv N", "dgemv N", "dgemv T", "zgemv N", "dger"] {
                    add(format!("{text} {n} {n}"));
                }
                for text in ["dsymv L", "zhemv U", "dtrmv LNN", "dtrsv LNN", "dspmv U"] {
                    add(format!("{text} {n}"));
                }
            }
            add("dgbmv N 10000 10000 8 8".into());
            add("dtbsv LNN 10000 8".into());
            for n in [100, 10_000, 1_000_000] {
                for text in ["sdot", "ddot", "daxpy", "dscal", "dnrm2", "dasum", "idamax"] {
                    add(format!("{text} {n}"));
                }
            }
            for text in ["dcopy", "dswap", "drot", "zdotc", "zaxpy", "snrm2"] {
                add(format!("{text} 10000"));
            }
        }
        "level1" => {
            for n in [1, 10, 100, 1000, 10_000, 100_000, 2_000_000] {
                for base in ["dot", "dotu", "dotc", "axpy", "scal", "nrm2", "asum", "amax", "copy", "swap", "rot"] {
                    for (op, prec) in both(base) {
                        add(format!("{} {n}", routine_name(op, prec)));
                    }
                }
            }
            for text in ["ddot", "daxpy", "dcopy", "dswap", "sdot", "saxpy"] {
                add(format!("{text} 1000 incx=2 incy=3"));
            }
            for text in ["dscal", "dnrm2", "dasum", "idamax"] {
                add(format!("{text} 1000 incx=2"));
            }
        }
        "level2" => {
            for n in [4, 16, 64, 256, 1000, 3000] {
                for op in OPS.iter().filter(|op| op.level == 2) {
                    for (op, prec) in both(op.base) {
                        let dims = match op.dims.len() {
                            4 => format!("{n} {n} 8 5"),
                            2 if op.dims[1] == "k" => format!("{n} 8"),
                            2 => format!("{n} {n}"),
                            _ => n.to_string(),
                        };
                        for flags in level2_flags(op) {
                            add(format!("{} {flags} {dims}", routine_name(op, prec)));
                        }
                    }
                }
            }
            for (m, n) in [(10_000, 10), (10, 10_000), (333, 777)] {
                for p in ["s", "d", "c", "z"] {
                    for t in ["N", "T"] {
                        add(format!("{p}gemv {t} {m} {n}"));
                    }
                }
            }
        }
        "level3" => {
            for n in [1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1000, 2000] {
                for p in ["s", "d", "c", "z"] {
                    add(format!("{p}gemm NN {n} {n} {n}"));
                }
            }
            for p in ["s", "d", "c", "z"] {
                for t in ["NT", "TN", "TT"] {
                    for n in [64, 1000] {
                        add(format!("{p}gemm {t} {n} {n} {n}"));
                    }
                }
                for shape in
                    ["777 555 333", "4096 16 1024", "17 2048 2048", "2048 2048 8", "2048 1 2048", "49 512 4608"]
                {
                    add(format!("{p}gemm NN {shape}"));
                }
                add(format!("{p}gemm NN 512 512 512 pad=5 beta=1"));
            }
            for n in [64, 256, 1000, 2000] {
                for op in OPS.iter().filter(|op| op.level == 3 && !op.base.starts_with("gemm")) {
                    let flags: &[&str] = match op.base {
                        "symm" | "hemm" => &["LL", "RU"],
                        "herk" | "her2k" => &["LN", "UC"],
                        "syrk" | "syr2k" => &["LN", "UT"],
                        _ => &["LLNN", "LUTN", "RLTN", "RUNU"],
                    };
                    for (op, prec) in both(op.base) {
                        for f in flags {
                            add(format!("{} {f} {n} {n}", routine_name(op, prec)));
                        }
                    }
                }
            }
        }
        // What docs/performance.md shows: curves over size, and the rest of each level at two or three sizes.
        "performance" => {
            for n in [2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1000, 1500] {
                for p in ["s", "d", "c", "z"] {
                    add(format!("{p}gemm NN {n} {n} {n}"));
                }
            }
            for n in [64, 500] {
                for text in ["sgemm TN", "sgemm NT", "dgemm TN", "dgemm NT", "dgemm TT", "zgemm CN"] {
                    add(format!("{text} {n} {n} {n} pad=3"));
                }
            }
            for text in ["sgemm NN 3136 64 576", "sgemm NN 49 512 4608", "dgemm NN 1000 4 1000", "dgemm NN 4 1000 1000"]
            {
                add(text.into());
            }
            for n in [8, 16, 32, 64, 128, 256, 500, 1000] {
                for text in ["strsm LLNN", "dtrsm LLNN", "ztrsm RUTN", "dtrmm LUNN", "dsymm LL", "ssyrk LN", "dsyrk LN"]
                {
                    add(format!("{text} {n} {n}"));
                }
            }
            for n in [64, 500] {
                for text in ["dsyr2k UT", "zherk LN", "zher2k LN", "zhemm RU", "ctrmm RLCN"] {
                    add(format!("{text} {n} {n}"));
                }
            }
            for n in [4, 8, 16, 32, 64, 128, 256, 512, 1000, 2000] {
                for text in ["sgemv N", "dgemv N", "dgemv T", "zgemv N", "dger"] {
                    add(format!("{text} {n} {n}"));
                }
                for text in ["dsymv L", "zhemv U", "dtrmv LNN", "dtrsv LNN", "dspmv U", "dsyr L"] {
                    add(format!("{text} {n}"));
                }
            }
            for n in [1, 10, 100, 1000, 10_000, 100_000, 1_000_000] {
                for text in
                    ["sdot", "ddot", "saxpy", "daxpy", "zaxpy", "dscal", "dnrm2", "dasum", "idamax", "dcopy", "drot"]
                {
                    add(format!("{text} {n}"));
                }
            }
            for n in [4, 8, 16, 32, 64] {
                add(format!("sgemm_batch_strided NN {n} {n} {n} 500"));
                add(format!("dgemm_batch_strided NN {n} {n} {n} 500"));
            }
        }
        // What a benchmark of powers of two does not show: sizes beside them, all transposes, padded leading dimensions.
        "neighbours" => {
            for n in [2, 3, 5, 7, 9, 12, 15, 17, 20, 23, 31, 33, 47, 49, 63, 65, 95, 97, 127, 129, 255, 257, 511, 513] {
                for (i, t) in ["NN", "NT", "TN", "TT"].iter().enumerate() {
                    let p = ["s", "d", "c", "z"];
                    add(format!("{}gemm {t} {n} {n} {n} pad=3", p[i % 2]));
                    if n < 200 {
                        add(format!("{}gemm {t} {n} {} {} pad=1 beta=1", p[(i + 1) % 4], n + 1, n + 2));
                    }
                }
            }
            for n in [5, 17, 33, 65, 129, 257, 501] {
                for text in ["dtrsm LLNN", "dtrsm RUTU", "strmm LUTN", "dsymm RU", "zhemm LL", "ctrsm LUCN"] {
                    add(format!("{text} {n} {} pad=3", n + 2));
                }
                for text in ["ssyrk UT", "dsyrk LN", "dsyr2k LN", "zherk UC"] {
                    add(format!("{text} {n} {} pad=3 beta=1", n + 2));
                }
                for text in ["sgemv T", "dgemv N", "zgemv N", "zgemv C", "dger"] {
                    add(format!("{text} {n} {} pad=1", n + 2));
                    add(format!("{text} {n} {} incx=2 incy=-3", n + 2));
                }
                for text in ["dsymv U", "zhemv L", "dtrmv UTN", "strsv LNU", "dspmv L", "dtpsv UNN"] {
                    add(format!("{text} {n} incx=-2"));
                }
            }
            for (m, n, k) in [(1, 1, 1000), (1000, 1, 1), (1000, 3, 5), (5, 1000, 3), (3, 3, 1000), (2, 300, 300)] {
                for p in ["s", "d", "z"] {
                    add(format!("{p}gemm NN {m} {n} {k}"));
                    add(format!("{p}gemm TT {m} {n} {k}"));
                }
            }
        }
        // Sizes around those where a second thread begins to pay, each some 20 % from the next.
        "threads" => {
            for n in [24, 32, 40, 48, 56, 64, 72, 88, 104, 128, 150, 200, 300, 500] {
                for text in ["sgemm NN", "dgemm TN", "zgemm NC"] {
                    add(format!("{text} {n} {n} {n}"));
                }
                for text in ["dtrsm LLNN", "strsm RUTN", "dtrmm LUNN", "dsymm LL", "ssyrk LN", "zher2k LN"] {
                    add(format!("{text} {n} {n}"));
                }
            }
            for n in [64, 100, 128, 150, 180, 220, 260, 320, 400, 500, 700, 1000] {
                for text in ["sgemv N", "dgemv N", "dgemv T", "zgemv N", "dger"] {
                    add(format!("{text} {n} {n}"));
                }
                for text in ["dsymv L", "zhemv U", "dtrmv LNN", "dtrsv LNN", "dspmv U", "dsyr L"] {
                    add(format!("{text} {n}"));
                }
            }
            for shape in ["4 500 500", "500 4 500", "500 500 4", "8 100 100", "100 8 100", "1000 16 16", "2 2 20000"] {
                add(format!("sgemm NN {shape}"));
                add(format!("dgemm TT {shape}"));
            }
            for n in [1000, 3000, 10_000, 20_000, 40_000, 80_000, 200_000, 1_000_000] {
                for text in ["sdot", "ddot", "daxpy", "dscal", "dnrm2", "dasum", "idamax", "dcopy", "drot"] {
                    add(format!("{text} {n}"));
                }
            }
        }
        "batch" => {
            for n in [2, 4, 8, 16, 32, 64, 128] {
                for p in ["s", "d", "c", "z"] {
                    add(format!("{p}gemm_batch_strided NN {n} {n} {n} {}", (20_000 / n).min(2000)));
                }
                add(format!("sgemm_batch_strided TN {n} {} {n} 100", n + 1));
            }
            add("dgemm_batch_strided NN 500 500 500 4".into());
            add("sgemm_batch_strided NT 64 64 8 1".into());
        }
        "all" => {
            return Some(
                ["level1", "level2", "level3", "neighbours", "batch"]
                    .iter()
                    .flat_map(|s| set(s).unwrap_or_default())
                    .collect(),
            );
        }
        _ => return None,
    }
    // The texts above are fixed: one that does not parse is a mistake here, and the tests parse every set.
    Some(list.iter().map(|text| Case::parse(text).unwrap_or_else(|e| panic!("standard set: {e}"))).collect())
}

/// A base name in every type that it exists for.
fn both(base: &str) -> Vec<(&'static Op, Prec)> {
    let Some(op) = OPS.iter().find(|op| op.base == base) else { return Vec::new() };
    [Prec::S, Prec::D, Prec::C, Prec::Z]
        .into_iter()
        .filter(|p| match op.types {
            All => true,
            Real => !p.is_complex(),
            Complex => p.is_complex(),
        })
        .map(|p| (op, p))
        .collect()
}

fn level2_flags(op: &Op) -> &'static [&'static str] {
    match op.flags {
        [] => &[""],
        [Trans] => &["N", "T"],
        [Uplo] => &["L", "U"],
        _ => &["LNN", "UTN"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(text: &str) -> Case {
        Case::parse(text).unwrap()
    }

    #[test]
    fn names_and_text_round_trip() {
        for text in [
            "dgemm NT 3 4 5",
            "scnrm2 7",
            "izamax 7",
            "zdrot 9",
            "csrot 9",
            "dgbmv T 5 6 1 2",
            "ztbsv UCN 9 2",
            "ddot 10 incx=2 incy=-3",
            "sgemm NN 2 2 2 pad=1 beta=1",
        ] {
            assert_eq!(case(text).to_string(), text);
        }
        assert_eq!(case("strsm 1 0 10 20 1").to_string(), "strsm LLTN 10 20");
        assert_eq!(case("ssyrk 0 0 9 10 11").to_string(), "ssyrk LN 10 11");
        assert_eq!(case("sdot 0 0 100 1 1").to_string(), "sdot 100");
    }

    #[test]
    fn wrong_cases_are_refused() {
        for text in [
            "",
            "dgemm",
            "dgemm NX 1 1 1",
            "dgemm NN 1 1",
            "dgemm NN 1 1 -1",
            "qgemm NN 1 1 1",
            "dhemm LL 2 2",
            "zherk LT 2 2",
            "zsyrk LC 2 2",
            "ddot 5 incx=0",
            "dger 2 2 pad=x",
            "ddot 5 foo=1",
        ] {
            assert!(Case::parse(text).is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn flops_and_bytes() {
        assert_eq!(case("dgemm NN 2 3 5").flops(), 60.0);
        assert_eq!(case("zgemm NN 2 3 5").flops(), 240.0);
        assert_eq!(case("dtrsm LLNN 4 3").flops(), 48.0);
        assert_eq!(case("dtrsm RLNN 4 3").flops(), 36.0);
        assert_eq!(case("ztrsm LLNN 4 3").flops(), 3.0 * (6.0 * 10.0 + 2.0 * 6.0));
        assert_eq!(case("dsyrk LN 4 3").flops(), 60.0);
        assert_eq!(case("dsyr2k LN 4 3").flops(), 120.0);
        assert_eq!(case("dsymm RL 4 3").flops(), 72.0);
        assert_eq!(case("dgemv T 4 3").flops(), 24.0);
        // A tridiagonal matrix of order 4: 10 stored elements, 7 in its half.
        assert_eq!(case("dgbmv N 4 4 1 1").flops(), 20.0);
        assert_eq!(case("dsbmv U 4 1").flops(), 20.0);
        assert_eq!(case("dtbsv UNN 4 1").flops(), 10.0);
        assert_eq!(case("ddot 10").flops(), 20.0);
        assert_eq!(case("zscal 10").flops(), 60.0);
        assert_eq!(case("dgemv N 4 3").bytes(), 8.0 * (12.0 + 3.0 + 4.0));
        assert_eq!(case("daxpy 10").bytes(), 240.0);
        assert_eq!(case("zcopy 10").bytes(), 320.0);
        assert_eq!(case("daxpy 10").footprint(), 160.0);
        assert_eq!(case("dswap 10").bytes(), 2.0 * case("dswap 10").footprint());
    }

    #[test]
    fn every_set_parses_and_says_nothing_twice() {
        for name in ["short", "level1", "level2", "level3", "neighbours", "batch", "threads", "performance", "all"] {
            let mut texts: Vec<String> = set(name).unwrap().iter().map(Case::to_string).collect();
            let all = texts.len();
            texts.sort();
            texts.dedup();
            assert_eq!(texts.len(), all, "{name}");
        }
        assert!(set("none").is_none());
    }

    #[test]
    fn gemm_of_the_same_size() {
        assert_eq!(case("ztrsm RLNN 4 3").same_size_gemm().unwrap().to_string(), "zgemm NN 4 3 3");
        assert_eq!(case("dsyrk LN 4 3").same_size_gemm().unwrap().to_string(), "dgemm NN 4 4 3");
        let batch = case("sgemm_batch_strided NT 4 3 2 10");
        assert_eq!(batch.same_size_gemm().unwrap().to_string(), "sgemm_loop NT 4 3 2 10");
        assert_eq!(batch.flops(), 480.0);
        assert!(case("dgemv N 4 3").same_size_gemm().is_none());
    }
}
