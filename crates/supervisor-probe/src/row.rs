//! What is asked of a backend.

use serde::Serialize;

macro_rules! rows {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $title:literal;)+) => {
        /// The questions, each with its name in the report.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[non_exhaustive]
        pub enum Row {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)+
        }

        impl Row {
            /// All of them, in the order of the report.
            pub const ALL: &[Row] = &[$(Row::$variant),+];

            /// Its name in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Row::$variant => $name,)+ }
            }

            /// What it asks, in a few words for people.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Row::$variant => $title,)+ }
            }
        }
    };
}

rows! {
    /// May the probe have a browser context of its own?
    OwnContext = "own_context", "a browser context of its own";
    /// Does a dialog stay open until it is answered?
    DialogStaysOpen = "dialog_stays_open", "a dialog stays open until answered";
    /// Does an alert end when it is accepted?
    Alert = "alert", "an alert ends when answered";
    /// Does an accepted confirm give true?
    ConfirmTrue = "confirm_true", "an accepted confirm gives true";
    /// Does a dismissed confirm give false?
    ConfirmFalse = "confirm_false", "a dismissed confirm gives false";
    /// Does the text that is typed into a prompt reach the page?
    PromptText = "prompt_text", "the text for a prompt arrives";
    /// Do dialog events name their frame?
    DialogFrameId = "dialog_frame_id", "dialog events name the frame";
    /// Does a dismissed `beforeunload` keep the page?
    BeforeunloadStay = "beforeunload_stay", "a dismissed beforeunload stays";
    /// Does an accepted one let it go?
    BeforeunloadLeave = "beforeunload_leave", "an accepted beforeunload leaves";
    /// Are all frames in the tree, in their places?
    FrameTree = "frame_tree", "the frame tree is whole";
    /// Do evaluations reach a frame in the page's own process?
    SameProcessEval = "same_process_eval", "eval in a frame of the same process";
    /// Do frames of other sites have a process and session of their own?
    Oopif = "oopif", "frames of other sites are OOPIFs";
    /// Do calls and evaluations reach them, to any depth?
    OopifCalls = "oopif_calls", "calls into OOPIFs, also nested";
    /// Is the dialog of an OOPIF seen and answered?
    OopifDialog = "oopif_dialog", "a dialog of an OOPIF is answered";
    /// Does a second connection show the same browser?
    SecondClient = "second_client", "a second client sees the same browser";
    /// Is it told of dialogs?
    SecondClientSees = "second_client_sees_dialog", "a second client sees dialogs";
    /// Can it answer them?
    SecondClientAnswers = "second_client_answers", "a second client can answer";
    /// Is a dialog that was open before anybody listened reported?
    EarlierDialogSeen = "earlier_dialog_seen", "a dialog from before is reported";
    /// Can it be answered?
    EarlierDialogAnswered = "earlier_dialog_answered", "a dialog from before is answered";
    /// Do all answers arrive by the bridge, from the first script on, on an `https` page?
    BridgeHttps = "bridge_https", "bridge on an https page";
    /// And in an OOPIF?
    BridgeOopif = "bridge_oopif", "bridge in an OOPIF";
    /// And where a Content-Security-Policy names the hosts that a page may ask?
    BridgeCsp = "bridge_csp", "bridge on a page with a strict CSP";
    /// And where a Permissions-Policy forbids synchronous requests?
    BridgeSyncXhr = "bridge_sync_xhr", "bridge on a page without sync-xhr";
}
