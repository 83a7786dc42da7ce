//! Choices, as numbers out of a seed: what a run does is a function of its script and its seed.

/// A generator of numbers. Its seed 0 always gives 0: the simplest choice, which is what failures shrink to.
#[derive(Debug, Clone)]
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        if self.0 == 0 || bound < 2 {
            return 0;
        }
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) | 1;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }
}
