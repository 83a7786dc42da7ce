//! How many threads do the work.
//!
//! One reads more messages than a browser writes; of two, each takes a busy connection from the other, batch after batch.
//! Who supervises many busy browsers says how many there are to be.

use crate::error::CliError;

/// The variable that tokio reads, too.
const VARIABLE: &str = "TOKIO_WORKER_THREADS";

/// More than any machine has processors that this was run on.
const MOST: usize = 1_024;

/// # Errors
/// [`CliError::Workers`] when the variable is no such number.
pub(crate) fn number() -> Result<usize, CliError> {
    let Some(given) = std::env::var_os(VARIABLE) else { return Ok(1) };
    let given = given.to_string_lossy();
    read(&given).ok_or_else(|| CliError::Workers(given.into_owned()))
}

fn read(given: &str) -> Option<usize> {
    given.parse().ok().filter(|number| (1..=MOST).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_the_most_are_taken() {
        assert_eq!((read("1"), read(&MOST.to_string())), (Some(1), Some(MOST)));
        for wrong in ["0", "-1", "", "two", &(MOST + 1).to_string()] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
