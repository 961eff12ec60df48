//! What the machine can do at most, measured: FMA throughput for level 3, read bandwidth at a given
//! footprint for levels 1 and 2. Measured in a worker of its own, pinned like the others and with as many
//! threads, so that the share of the limit that a table states holds for this machine in this run.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Length of one window, and how many are tried: the best one counts, as for the libraries. Fewer are tried
/// of data so large that reading it once fills a window.
const WINDOW: Duration = Duration::from_millis(2);
const WINDOWS: usize = 40;
const WINDOWS_LARGE: usize = 15;

/// Work of one thread: does a portion, says how much it was (flops or bytes).
type Portion = unsafe fn(&mut [f32]) -> f64;

/// GFLOPS of fused multiply-adds on `threads` threads at once; none where no kernel is written.
pub fn fma(threads: usize, double: bool) -> Option<f64> {
    Some(windows(threads, 1 << 14, fma_kernel(double)?))
}

/// GB/s of reading `bytes` again and again, each thread its own share of them.
pub fn read(threads: usize, bytes: usize) -> Option<f64> {
    let floats = (bytes / 4 / threads).next_multiple_of(512).max(512);
    Some(windows(threads, floats, read_kernel()?))
}

fn windows(threads: usize, floats: usize, portion: Portion) -> f64 {
    // A look at the clock costs as much as reading a kilobyte: enough is done between two of them.
    let repeats = ((1 << 16) / floats).clamp(1, 256);
    let windows = if floats > 1 << 20 { WINDOWS_LARGE } else { WINDOWS };
    let barrier = Barrier::new(threads);
    let run = || {
        let mut data = vec![1.0f32; floats + 16];
        let skip = data.as_ptr().align_offset(64);
        let data = &mut data[skip..skip + floats];
        let mut rates = vec![0.0; windows];
        for rate in &mut rates {
            // SAFETY: the kernel was chosen by the features that the processor has.
            unsafe { portion(data) };
            barrier.wait();
            let (start, mut work) = (Instant::now(), 0.0);
            while start.elapsed() < WINDOW {
                for _ in 0..repeats {
                    // SAFETY: as above.
                    work += unsafe { portion(data) };
                }
            }
            *rate = work / start.elapsed().as_secs_f64() * 1e-9;
        }
        rates
    };
    let all: Vec<Vec<f64>> = std::thread::scope(|s| {
        let handles: Vec<_> = (0..threads).map(|_| s.spawn(run)).collect();
        // A panic aborts the process in release builds; in others it is passed on.
        handles.into_iter().map(|h| h.join().unwrap()).collect()
    });
    (0..windows).map(|w| all.iter().map(|r| r[w]).sum()).fold(0.0, f64::max)
}

/// A kernel that keeps `$count` independent chains of FMAs in registers: more than latency times ports
/// needs, fewer than there are registers. The values stay near 1 or grow slowly,
/// whichever operand order the instruction has: none is ever subnormal.
macro_rules! fma_loop {
    ($name:ident, $feature:literal, $set:path, $fma:path, $count:literal, $lanes:literal, $scalar:ty) => {
        #[target_feature(enable = $feature)]
        fn $name(_: &mut [f32]) -> f64 {
            const TURNS: usize = 2000;
            let a = $set(black_box(0.5 as $scalar));
            let b = a;
            let mut acc = [a; $count];
            for _ in 0..TURNS {
                for x in &mut acc {
                    *x = $fma(*x, a, b);
                }
            }
            black_box(acc);
            (TURNS * $count * $lanes * 2) as f64
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use super::{Portion, black_box};
    use std::arch::x86_64::*;

    fma_loop!(avx512_s, "avx512f", _mm512_set1_ps, _mm512_fmadd_ps, 24, 16, f32);
    fma_loop!(avx512_d, "avx512f", _mm512_set1_pd, _mm512_fmadd_pd, 24, 8, f64);
    fma_loop!(avx2_s, "avx2,fma", _mm256_set1_ps, _mm256_fmadd_ps, 12, 8, f32);
    fma_loop!(avx2_d, "avx2,fma", _mm256_set1_pd, _mm256_fmadd_pd, 12, 4, f64);

    macro_rules! read_loop {
        ($name:ident, $feature:literal, $zero:path, $load:path, $combine:path, $lanes:literal) => {
            #[target_feature(enable = $feature)]
            fn $name(data: &mut [f32]) -> f64 {
                let mut acc = [$zero(); 8];
                for chunk in data.chunks_exact(8 * $lanes) {
                    for (i, x) in acc.iter_mut().enumerate() {
                        // SAFETY: the chunk holds eight vectors.
                        let v = unsafe { $load(chunk.as_ptr().add(i * $lanes)) };
                        *x = $combine(*x, v);
                    }
                }
                black_box(acc);
                (data.len() / (8 * $lanes) * 8 * $lanes * 4) as f64
            }
        };
    }
    read_loop!(avx512_read, "avx512f", _mm512_setzero_ps, _mm512_loadu_ps, _mm512_max_ps, 16);
    read_loop!(avx2_read, "avx2,fma", _mm256_setzero_ps, _mm256_loadu_ps, _mm256_max_ps, 8);

    pub fn fma_kernel(double: bool) -> Option<Portion> {
        if is_x86_feature_detected!("avx512f") {
            Some(if double { avx512_d } else { avx512_s })
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            Some(if double { avx2_d } else { avx2_s })
        } else {
            None
        }
    }

    pub fn read_kernel() -> Option<Portion> {
        if is_x86_feature_detected!("avx512f") {
            Some(avx512_read)
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            Some(avx2_read)
        } else {
            None
        }
    }

    pub fn name() -> &'static str {
        if is_x86_feature_detected!("avx512f") { "AVX-512" } else { "AVX2" }
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use super::{Portion, black_box};
    use std::arch::aarch64::*;

    fma_loop!(neon_s, "neon", vdupq_n_f32, vfmaq_f32, 24, 4, f32);
    fma_loop!(neon_d, "neon", vdupq_n_f64, vfmaq_f64, 24, 2, f64);

    #[target_feature(enable = "neon")]
    fn neon_read(data: &mut [f32]) -> f64 {
        let mut acc = [vdupq_n_f32(0.0); 8];
        for chunk in data.chunks_exact(32) {
            for (i, x) in acc.iter_mut().enumerate() {
                // SAFETY: the chunk holds eight vectors.
                *x = vmaxq_f32(*x, unsafe { vld1q_f32(chunk.as_ptr().add(i * 4)) });
            }
        }
        black_box(acc);
        (data.len() / 32 * 32 * 4) as f64
    }

    pub fn fma_kernel(double: bool) -> Option<Portion> {
        Some(if double { neon_d } else { neon_s })
    }

    pub fn read_kernel() -> Option<Portion> {
        Some(neon_read)
    }

    pub fn name() -> &'static str {
        "NEON"
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod arch {
    pub fn fma_kernel(_: bool) -> Option<super::Portion> {
        None
    }
    pub fn read_kernel() -> Option<super::Portion> {
        None
    }
    pub fn name() -> &'static str {
        "no vector unit that is measured"
    }
}

pub use arch::name as isa_name;
use arch::{fma_kernel, read_kernel};
