//! A dialog, as hosts read it.

use cdp_wire::page::DialogType;
use cdp_wire::{FrameId, SessionId, TargetId};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::dialog::{ClosedBy, Reason, Source};
use crate::ids::DialogId;

/// A dialog, open or ended.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DialogView {
    /// Its id, never used twice for a task within a process.
    pub id: DialogId,
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::schema::dialog_type"))]
    pub kind: DialogType,
    /// What the page says. Untrusted.
    pub message: String,
    /// Whether the message was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The message's whole length in bytes, when it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_length: Option<usize>,
    /// The default text of a prompt; cut like the message. Untrusted.
    pub default_prompt: String,
    /// Seconds since the Unix epoch.
    pub opened_at: f64,
    /// The frame that raised it; older browsers do not say.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
    /// Its page.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub target_id: TargetId,
    /// The page's session, where the answer goes; none on a page endpoint.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub session_id: Option<SessionId>,
    /// The URL of the frame. Untrusted.
    pub url: String,
    /// Where it comes from.
    pub source: Source,
    /// Whether it can be answered.
    pub answerable: bool,
    /// When it ended, in seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<f64>,
    /// Once it has ended: whether it was accepted; null when it just vanished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::schema::or_null::<bool>"))]
    pub accepted: Option<bool>,
    /// What was typed into an accepted prompt; null for one that was not. Other kinds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::schema::or_null::<String>"))]
    pub user_input: Option<String>,
    /// Who closed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_by: Option<ClosedBy>,
    /// What did, when it was nobody here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Written by hand, because what is left out depends on what the dialog is: one that has ended always says whether it was
/// accepted, and a prompt what was typed, if only that nobody knows or nothing was.
impl Serialize for DialogView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let has_ended = self.closed_at.is_some();
        let mut out = serializer.serialize_struct("DialogView", FIELDS)?;
        out.serialize_field("id", &self.id)?;
        out.serialize_field("type", &self.kind)?;
        out.serialize_field("message", &self.message)?;
        written_if(&mut out, "truncated", self.truncated, &self.truncated)?;
        written_if(&mut out, "full_length", self.full_length.is_some(), &self.full_length)?;
        out.serialize_field("default_prompt", &self.default_prompt)?;
        out.serialize_field("opened_at", &self.opened_at)?;
        out.serialize_field("frame_id", &self.frame_id)?;
        out.serialize_field("target_id", &self.target_id)?;
        out.serialize_field("session_id", &self.session_id)?;
        out.serialize_field("url", &self.url)?;
        out.serialize_field("source", &self.source)?;
        out.serialize_field("answerable", &self.answerable)?;
        written_if(&mut out, "closed_at", has_ended, &self.closed_at)?;
        written_if(&mut out, "accepted", has_ended, &self.accepted)?;
        let is_prompt = has_ended && self.kind == DialogType::Prompt;
        written_if(&mut out, "user_input", is_prompt || self.user_input.is_some(), &self.user_input)?;
        written_if(&mut out, "closed_by", self.closed_by.is_some(), &self.closed_by)?;
        written_if(&mut out, "reason", self.reason.is_some(), &self.reason)?;
        out.end()
    }
}

/// The most fields that a dialog is written with.
const FIELDS: usize = 18;

fn written_if<S: SerializeStruct>(
    out: &mut S,
    name: &'static str,
    is_there: bool,
    value: &impl Serialize,
) -> Result<(), S::Error> {
    if is_there { out.serialize_field(name, value) } else { out.skip_field(name) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn prompt() -> DialogView {
        DialogView {
            id: DialogId(1),
            kind: DialogType::Prompt,
            message: "?".into(),
            truncated: true,
            full_length: Some(9),
            default_prompt: String::new(),
            opened_at: 1.0,
            frame_id: None,
            target_id: "P".into(),
            session_id: Some("S".into()),
            url: String::new(),
            source: Source::Native,
            answerable: false,
            closed_at: Some(2.0),
            accepted: Some(false),
            user_input: None,
            closed_by: Some(ClosedBy::Remote),
            reason: Some(Reason::OtherClient),
        }
    }

    fn written(dialog: &DialogView) -> Value {
        let value = serde_json::to_value(dialog).unwrap();
        assert_eq!(&serde_json::from_value::<DialogView>(value.clone()).unwrap(), dialog);
        value
    }

    #[test]
    fn a_prompt_that_ended_without_a_text_says_null() {
        let dismissed = written(&prompt());
        assert_eq!(
            (&dismissed["accepted"], dismissed.get("user_input")),
            (&json!(false), Some(&Value::Null))
        );
        assert_eq!(dismissed.as_object().unwrap().len(), FIELDS);
        let typed = written(&DialogView { accepted: Some(true), user_input: Some("Ada".into()), ..prompt() });
        assert_eq!(typed["user_input"], "Ada");
    }

    #[test]
    fn one_that_vanished_says_that_nobody_knows_and_one_that_is_open_says_nothing() {
        let alert = DialogView { kind: DialogType::Alert, accepted: None, ..prompt() };
        let vanished = written(&alert);
        assert_eq!((vanished.get("accepted"), vanished.get("user_input")), (Some(&Value::Null), None));
        let open = DialogView { closed_at: None, accepted: None, closed_by: None, reason: None, ..prompt() };
        let open = written(&open);
        assert!(
            ["closed_at", "accepted", "user_input", "closed_by", "reason"]
                .iter()
                .all(|name| open.get(name).is_none())
        );
    }
}
