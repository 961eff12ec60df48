//! A small random generator (xorshift64*), so that a seed in a failure's text
//! repeats the failure on every machine and with every version of every crate.

use crate::scalar::{Scalar, Z};

#[derive(Clone)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        // Any seed will do, zero and neighbours too: splitmix64 spreads them.
        let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Rng((z ^ (z >> 31)) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.bits() >> 33) % n as u64) as usize
    }

    /// A number in `lo..=hi`.
    pub fn range(&mut self, lo: usize, hi: usize) -> usize {
        lo + self.below(hi - lo + 1)
    }

    pub fn pick<X: Copy>(&mut self, of: &[X]) -> X {
        of[self.below(of.len())]
    }

    /// Uniform in [-1, 1), never zero.
    pub fn real(&mut self) -> f64 {
        let bits = self.bits() >> 11;
        (bits as f64 + 0.5) / (1u64 << 52) as f64 - 1.0
    }

    /// A value that `T` holds exactly.
    pub fn value<T: Scalar>(&mut self) -> Z {
        let re = self.real();
        let im = if T::COMPLEX { self.real() } else { 0.0 };
        T::round(Z::new(re, im))
    }
}

/// A seed from a text: a test's name gives it its own sequence.
pub fn seed_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ b as u64).wrapping_mul(0x0000_0100_0000_01b3))
}
