//! What the CPU offers: instruction sets and cache sizes.
//!
//! Chosen by feature bits and the operating system's support (`is_x86_feature_detected!` looks at CPUID and XCR0), never
//! by vendor or model. `CORTEN_ISA` can only lower the choice, so every path can be tested on one machine.

use super::env;
use std::sync::OnceLock;

/// Instruction sets with kernels of their own, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Isa {
    /// Portable Rust: whatever the target's baseline is.
    Generic,
    /// AVX2, FMA and F16C: Intel since Haswell (2013), AMD since Zen (2017).
    Avx2,
    /// AVX-512 F, BW, DQ, VL: Intel since Skylake-X (2017), AMD since Zen 4 (2022).
    Avx512,
}

impl Isa {
    pub const ALL: [Isa; 3] = [Isa::Generic, Isa::Avx2, Isa::Avx512];

    pub fn name(self) -> &'static str {
        match self {
            Isa::Generic => "generic",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }
}

/// The highest instruction set of this machine.
pub fn detected() -> Isa {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("fma") && has!("f16c");
        if avx2 && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            return Isa::Avx512;
        }
        if avx2 {
            return Isa::Avx2;
        }
    }
    Isa::Generic
}

/// The instruction set in use.
pub fn isa() -> Isa {
    static CHOSEN: OnceLock<Isa> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let best = detected();
        let Some(asked) = env::ISA.get() else { return best };
        match Isa::ALL.into_iter().find(|i| i.name().eq_ignore_ascii_case(asked)) {
            Some(isa) => isa.min(best),
            None => {
                super::trace::say(format_args!("CORTEN_ISA={asked} is not one of generic, avx2, avx512; ignored"));
                best
            }
        }
    })
}

/// Name of the instruction set in use.
pub fn isa_name() -> &'static str {
    isa().name()
}

/// Bytes of data cache that one core may count on.
#[derive(Clone, Copy, Debug)]
pub struct Caches {
    pub l1: usize,
    pub l2: usize,
    /// The last level, whole.
    pub l3: usize,
}

/// The machine's caches, from CPUID where it tells them, bounded to what is plausible (virtual machines tell tales).
pub fn caches() -> Caches {
    static CACHES: OnceLock<Caches> = OnceLock::new();
    *CACHES.get_or_init(|| {
        let mut c = Caches { l1: 32 << 10, l2: 512 << 10, l3: 8 << 20 };
        #[cfg(target_arch = "x86_64")]
        from_cpuid(&mut c);
        c.l1 = c.l1.clamp(16 << 10, 128 << 10);
        c.l2 = c.l2.clamp(256 << 10, 4 << 20);
        c.l3 = c.l3.clamp(1 << 20, 512 << 20);
        c
    })
}

#[cfg(target_arch = "x86_64")]
fn from_cpuid(c: &mut Caches) {
    #[allow(unused_unsafe)] // __cpuid became safe to call in later toolchains
    let cpuid = |leaf, sub| {
        // SAFETY: every x86-64 CPU has CPUID; unknown leaves give zeros or other data that is bounded below.
        unsafe { std::arch::x86_64::__cpuid_count(leaf, sub) }
    };
    let vendor_leaf = cpuid(0x8000_0000, 0).eax;
    // Intel's leaf 4 and AMD's 0x8000001D have the same layout; AMD CPUs answer 0 in leaf 4.
    let leaf = if cpuid(0, 0).eax >= 4 && cpuid(4, 0).eax & 31 != 0 {
        4
    } else if vendor_leaf >= 0x8000_001D {
        0x8000_001D
    } else {
        return;
    };
    for sub in 0..8 {
        let r = cpuid(leaf, sub);
        let kind = r.eax & 31;
        if kind == 0 {
            break;
        }
        let bytes = (((r.ebx >> 22) + 1) as usize)
            * ((((r.ebx >> 12) & 0x3ff) + 1) as usize)
            * (((r.ebx & 0xfff) + 1) as usize)
            * (r.ecx as usize + 1);
        match ((r.eax >> 5) & 7, kind) {
            (1, 1) => c.l1 = bytes,
            (2, 1 | 3) => c.l2 = bytes,
            (3, 1 | 3) => c.l3 = bytes,
            _ => {}
        }
    }
}
