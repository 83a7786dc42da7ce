//! Choices, as numbers out of a seed: what a run does is a function of its ops and its seed.

use std::time::Duration;

/// A generator of numbers. Its seed 0 always gives 0: the simplest choice, which is what failures shrink to.
#[derive(Debug, Clone)]
pub struct Draw(u64);

impl Draw {
    /// These numbers, from here on.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Numbers that have nothing in common with those of the seed next to it.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        Self(spread(seed) | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        if self.0 == 0 || bound < 2 {
            return 0;
        }
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) | 1;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap_or_default()
    }

    /// What an action of the menu is made of.
    pub fn bytes(&mut self) -> [u8; 4] {
        std::array::from_fn(|_| self.byte())
    }

    /// Whether something happens that happens so often in a hundred times.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// A time up to `longest`, to the millisecond.
    pub fn up_to(&mut self, longest: Duration) -> Duration {
        let millis = usize::try_from(longest.as_millis()).unwrap_or(usize::MAX);
        Duration::from_millis(self.below(millis.max(1)) as u64)
    }
}

/// Seeds that differ by one give runs that have nothing in common: one step of SplitMix64.
pub(crate) fn spread(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
