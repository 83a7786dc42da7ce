//! Pages.

use crate::frame::Frame;
use crate::ids::{DialogNo, FrameNo};

/// A tab or popup. Its target has the id of its main frame.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) main: FrameNo,
    /// The frame that opened it.
    pub(crate) opener: Option<FrameNo>,
    /// The page of that frame.
    pub(crate) opener_page: Option<FrameNo>,
    /// Pages of one family can script each other, so they share renderers.
    pub(crate) family: u32,
    /// The dialog that an answer would reach.
    pub(crate) dialog: Option<DialogNo>,
    /// An iframe was removed while its dialog was open: almost any command now kills the browser.
    pub(crate) poisoned: bool,
    /// The document to go back to, with all its frames.
    pub(crate) cached: Option<Vec<Frame>>,
    /// The dialog that its first document opens.
    pub(crate) first_dialog: Option<cdp_wire::page::DialogType>,
}
