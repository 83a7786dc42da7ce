//! The events of frames.

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, Error};

use super::{Plain, Reader, once, read};
use crate::page::{
    Frame, FrameAttached, FrameDetached, FrameNavigated, FrameStartedLoading, FrameStartedNavigating,
    FrameStoppedLoading,
};
use crate::{Known, Text};

/// The event of this method, if it is one that comes often and is written plainly.
pub(crate) fn known<'a>(method: &str, params: &'a str) -> Option<Known<'a>> {
    Some(match method {
        "Page.frameAttached" => Known::FrameAttached(read(params)?),
        "Page.frameDetached" => Known::FrameDetached(read(params)?),
        "Page.frameNavigated" => Known::FrameNavigated(read(params)?),
        "Page.frameStartedLoading" => Known::FrameStartedLoading(read(params)?),
        "Page.frameStartedNavigating" => Known::FrameStartedNavigating(read(params)?),
        "Page.frameStoppedLoading" => Known::FrameStoppedLoading(read(params)?),
        _ => return None,
    })
}

impl<'a> Plain<'a> for FrameAttached<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let [frame_id, parent_frame_id] = reader.texts(["frameId", "parentFrameId"])?;
        Some(Self { frame_id: frame_id?.into(), parent_frame_id: parent_frame_id?.into() })
    }
}

impl<'a> Plain<'a> for FrameDetached<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let [frame_id, reason] = reader.texts(["frameId", "reason"])?;
        Some(Self { frame_id: frame_id?.into(), reason: one_of(reason)? })
    }
}

impl<'a> Plain<'a> for FrameNavigated<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let (mut frame, mut kind) = (None, None);
        reader.object(|reader, name| match name {
            "frame" => once(&mut frame, Frame::read(reader)?),
            "type" => once(&mut kind, reader.text()?),
            _ => reader.pass(),
        })?;
        Some(Self { frame: frame?, kind: one_of(kind)? })
    }
}

impl<'a> Plain<'a> for FrameStartedLoading<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        frame_alone(reader).map(|frame_id| Self { frame_id })
    }
}

impl<'a> Plain<'a> for FrameStartedNavigating<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let [frame_id, url, loader_id, navigation_type] =
            reader.texts(["frameId", "url", "loaderId", "navigationType"])?;
        Some(Self {
            frame_id: frame_id?.into(),
            url: url?.into(),
            loader_id: loader_id?.into(),
            navigation_type: or_none(navigation_type),
        })
    }
}

impl<'a> Plain<'a> for FrameStoppedLoading<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        frame_alone(reader).map(|frame_id| Self { frame_id })
    }
}

impl<'a> Plain<'a> for Frame<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let [id, parent_id, loader_id, name, url, url_fragment, security_origin, unreachable_url] = reader
            .texts([
                "id",
                "parentId",
                "loaderId",
                "name",
                "url",
                "urlFragment",
                "securityOrigin",
                "unreachableUrl",
            ])?;
        Some(Self {
            id: id?.into(),
            parent_id: parent_id.map(Text::from),
            loader_id: or_none(loader_id),
            name: name.map(Text::from),
            url: or_none(url),
            url_fragment: url_fragment.map(Text::from),
            security_origin: or_none(security_origin),
            unreachable_url: unreachable_url.map(Text::from),
        })
    }
}

/// Of an event that names its frame and says nothing else.
fn frame_alone<'a>(reader: &mut Reader<'a>) -> Option<Text<'a>> {
    let [frame_id] = reader.texts(["frameId"])?;
    frame_id.map(Text::from)
}

/// The text, or an empty one where there is none.
fn or_none(text: Option<&str>) -> Text<'_> {
    text.map(Text::from).unwrap_or_default()
}

/// The variant of this name, or the usual one where none is named.
fn one_of<'a, T: Default + Deserialize<'a>>(name: Option<&'a str>) -> Option<T> {
    let Some(name) = name else { return Some(T::default()) };
    T::deserialize(BorrowedStrDeserializer::<Error>::new(name)).ok()
}
