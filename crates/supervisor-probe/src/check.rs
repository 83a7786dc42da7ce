//! The checks: each has a deadline of its own, and one that fails does not keep the next from running.

use tokio::time::timeout;

use crate::checks::{bridge, clients, dialogs, earlier, frames, unload};
use crate::error::Trouble;
use crate::notes::Notes;
use crate::report::Verdict;
use crate::row::Row;
use crate::run::Progress;
use crate::stage::Stage;

/// Something that is measured at once, on pages of its own. The bridge's come last: it is turned on for them, and stays on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Context,
    Alert,
    ConfirmTrue,
    ConfirmFalse,
    Prompt,
    Beforeunload,
    Frames,
    OopifDialog,
    SecondClient,
    EarlierDialog,
    BridgeHttps,
    BridgeOopif,
    BridgeCsp,
    BridgeSyncXhr,
}

const ALL: [Check; 14] = [
    Check::Context,
    Check::Alert,
    Check::ConfirmTrue,
    Check::ConfirmFalse,
    Check::Prompt,
    Check::Beforeunload,
    Check::Frames,
    Check::OopifDialog,
    Check::SecondClient,
    Check::EarlierDialog,
    Check::BridgeHttps,
    Check::BridgeOopif,
    Check::BridgeCsp,
    Check::BridgeSyncXhr,
];

/// Runs them all.
pub(crate) async fn all(stage: &Stage<'_>, notes: &mut Notes<'_>) {
    for check in ALL {
        notes.begin();
        notes.tell(Progress::Begins(check.title()));
        one(stage, notes, check).await;
        stage.clear().await;
    }
}

/// Whatever happens, each of its questions has an answer afterwards.
async fn one(stage: &Stage<'_>, notes: &mut Notes<'_>, check: Check) {
    let limit = stage.request.check_timeout;
    let rest = match timeout(limit, check.run(stage, notes)).await {
        Ok(Ok(())) => Verdict::unknown("not_measured"),
        Ok(Err(trouble)) => trouble.verdict(),
        Err(_) => Verdict::unknown("timeout").with(format!("it took longer than {} s", limit.as_secs_f64())),
    };
    check.rows().iter().for_each(|row| notes.note(*row, rest.clone()));
}

impl Check {
    fn title(self) -> &'static str {
        match self {
            Check::Context => "room for the probe's pages",
            Check::Alert => "an alert",
            Check::ConfirmTrue => "a confirm, accepted",
            Check::ConfirmFalse => "a confirm, dismissed",
            Check::Prompt => "a prompt",
            Check::Beforeunload => "leaving a page that asks",
            Check::Frames => "frames of three sites",
            Check::OopifDialog => "a dialog of a frame in another process",
            Check::SecondClient => "a second client",
            Check::EarlierDialog => "a dialog from before anybody listened",
            Check::BridgeHttps => "the bridge, on an https page",
            Check::BridgeOopif => "the bridge, in a frame in another process",
            Check::BridgeCsp => "the bridge, on a page with a strict CSP",
            Check::BridgeSyncXhr => "the bridge, on a page that forbids synchronous requests",
        }
    }

    fn rows(self) -> &'static [Row] {
        match self {
            Check::Context => &[Row::OwnContext],
            Check::Alert => &[Row::DialogStaysOpen, Row::Alert],
            Check::ConfirmTrue => &[Row::ConfirmTrue, Row::DialogFrameId],
            Check::ConfirmFalse => &[Row::ConfirmFalse],
            Check::Prompt => &[Row::PromptText],
            Check::Beforeunload => &[Row::BeforeunloadStay, Row::BeforeunloadLeave],
            Check::Frames => &[Row::FrameTree, Row::SameProcessEval, Row::Oopif, Row::OopifCalls],
            Check::OopifDialog => &[Row::OopifDialog],
            Check::SecondClient => &[Row::SecondClient, Row::SecondClientSees, Row::SecondClientAnswers],
            Check::EarlierDialog => &[Row::EarlierDialogSeen, Row::EarlierDialogAnswered],
            Check::BridgeHttps => &[Row::BridgeHttps],
            Check::BridgeOopif => &[Row::BridgeOopif],
            Check::BridgeCsp => &[Row::BridgeCsp],
            Check::BridgeSyncXhr => &[Row::BridgeSyncXhr],
        }
    }

    async fn run(self, stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
        match self {
            Check::Context => dialogs::context(stage, notes),
            Check::Alert => dialogs::alert(stage, notes).await,
            Check::ConfirmTrue => dialogs::confirm_true(stage, notes).await,
            Check::ConfirmFalse => dialogs::confirm_false(stage, notes).await,
            Check::Prompt => dialogs::prompt(stage, notes).await,
            Check::Beforeunload => unload::beforeunload(stage, notes).await,
            Check::Frames => frames::frames(stage, notes).await,
            Check::OopifDialog => frames::dialog(stage, notes).await,
            Check::SecondClient => clients::second(stage, notes).await,
            Check::EarlierDialog => earlier::dialog(stage, notes).await,
            Check::BridgeHttps => bridge::https(stage, notes).await,
            Check::BridgeOopif => bridge::oopif(stage, notes).await,
            Check::BridgeCsp => bridge::strict(stage, notes, Row::BridgeCsp, "/csp").await,
            Check::BridgeSyncXhr => bridge::strict(stage, notes, Row::BridgeSyncXhr, "/sync-xhr").await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_is_asked_by_one_check() {
        let mut asked: Vec<Row> = ALL.iter().flat_map(|check| check.rows()).copied().collect();
        asked.sort();
        assert_eq!(asked, Row::ALL);
    }
}
