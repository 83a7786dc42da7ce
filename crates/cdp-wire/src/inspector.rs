//! The `Inspector` domain: a target's renderer dies and comes back.

use serde::Deserialize;

use crate::Text;

/// `Inspector.detached`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Detached<'a> {
    /// Why, in the browser's words.
    #[serde(borrow)]
    pub reason: Text<'a>,
}

/// `Inspector.targetCrashed`: nothing on this session is answered until it is navigated again.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TargetCrashed {}

/// `Inspector.targetReloadedAfterCrash`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TargetReloadedAfterCrash {}
