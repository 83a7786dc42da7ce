//! Makes a list of things small while something about it stays true (delta debugging).

/// How far a reduction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// How many things are left.
    pub left: usize,
    /// How many there were.
    pub before: usize,
    /// How many lists were tried.
    pub tries: u64,
}

/// Leaves out whatever it can: first halves, then quarters, down to single things, until no single one can be left out or
/// `go_on` says that it is enough. `holds` must be true of `items`; of the result it is.
pub fn reduce<T: Clone>(
    items: &[T],
    holds: impl FnMut(&[T]) -> bool,
    go_on: impl FnMut(&Progress) -> bool,
) -> (Vec<T>, Progress) {
    let progress = Progress { left: items.len(), before: items.len(), tries: 0 };
    let mut search = Search { found: items.to_vec(), holds, go_on, progress };
    search.run();
    (search.found, search.progress)
}

struct Search<T, H, G> {
    found: Vec<T>,
    holds: H,
    go_on: G,
    progress: Progress,
}

impl<T: Clone, H: FnMut(&[T]) -> bool, G: FnMut(&Progress) -> bool> Search<T, H, G> {
    fn run(&mut self) {
        let mut size = self.found.len().div_ceil(2);
        while size > 0 {
            let Some(any) = self.leave_out(size) else { return };
            size = match size {
                1 if any => 1,
                1 => 0,
                _ => size / 2,
            };
        }
    }

    /// Leaves out stretches of this length, the last first. Says whether any could be; none when it is to end.
    fn leave_out(&mut self, size: usize) -> Option<bool> {
        let mut any = false;
        let mut end = self.found.len();
        while end > 0 {
            if !(self.go_on)(&self.progress) {
                return None;
            }
            let start = end.saturating_sub(size);
            any |= self.attempt(start, end);
            end = start;
        }
        Some(any)
    }

    fn attempt(&mut self, start: usize, end: usize) -> bool {
        self.progress.tries += 1;
        let rest = [&self.found[..start], &self.found[end..]].concat();
        let is_enough = (self.holds)(&rest);
        if is_enough {
            self.progress.left = rest.len();
            self.found = rest;
        }
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced(items: &[u32], holds: impl FnMut(&[u32]) -> bool) -> Vec<u32> {
        reduce(items, holds, |_| true).0
    }

    #[test]
    fn only_what_matters_is_left_and_in_order() {
        let items: Vec<u32> = (0..1_000).collect();
        assert_eq!(reduced(&items, |it| it.contains(&3) && it.contains(&977)), [3, 977]);
        assert_eq!(reduced(&items, |it| it.iter().filter(|n| *n % 7 == 0).count() >= 3).len(), 3);
        assert!(reduced(&items, |_| true).is_empty() && reduced(&[], |_| true).is_empty());
    }

    #[test]
    fn a_thing_that_can_go_once_another_has_gone_goes() {
        // 1 may go only while 2 is not there.
        let found = reduced(&[1, 2, 3], |it| it.contains(&3) && (it.contains(&1) || !it.contains(&2)));
        assert_eq!(found, [3]);
    }

    #[test]
    fn it_ends_when_told_to_with_what_it_has() {
        let items: Vec<u32> = (0..64).collect();
        let (found, progress) = reduce(&items, |it| it.contains(&63), |progress| progress.tries < 3);
        assert_eq!((progress.tries, progress.before, progress.left), (3, 64, found.len()));
        assert!(found.contains(&63) && found.len() < 64);
    }
}
