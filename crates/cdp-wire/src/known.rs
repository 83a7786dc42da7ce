use crate::{Text, WireError, fetch, inspector, log, page, parse, plain, runtime, target};

macro_rules! known {
    ($($(#[$doc:meta])* $method:literal => $variant:ident($type:ty)),+ $(,)?) => {
        /// An event that this crate models, its parameters parsed.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Known<'a> {
            $($(#[$doc])* #[doc = concat!("`", $method, "`")] $variant($type),)+
        }

        impl<'a> Known<'a> {
            /// Parses the parameters of a modelled event; `None` for any other method.
            ///
            /// # Errors
            /// [`WireError::Body`] when the parameters do not have the protocol's shape.
            pub fn decode(method: &Text<'_>, params: &'a str) -> Result<Option<Self>, WireError> {
                if let Some(known) = plain::known(method, params) {
                    return Ok(Some(known));
                }
                Ok(Some(match method.as_str() {
                    $($method => Known::$variant(parse($method, params)?),)+
                    _ => return Ok(None),
                }))
            }

            /// Whether [`Known::decode`] would parse events of this method.
            #[must_use]
            pub fn is_modelled(method: &str) -> bool {
                matches!(method, $($method)|+)
            }
        }
    };
}

known! {
    "Fetch.requestPaused" => RequestPaused(fetch::RequestPaused<'a>),
    "Inspector.detached" => InspectorDetached(inspector::Detached<'a>),
    "Inspector.targetCrashed" => InspectorTargetCrashed(inspector::TargetCrashed),
    "Inspector.targetReloadedAfterCrash" => TargetReloadedAfterCrash(inspector::TargetReloadedAfterCrash),
    "Log.entryAdded" => EntryAdded(log::EntryAdded<'a>),
    "Page.documentOpened" => DocumentOpened(page::DocumentOpened<'a>),
    "Page.frameAttached" => FrameAttached(page::FrameAttached<'a>),
    "Page.frameDetached" => FrameDetached(page::FrameDetached<'a>),
    "Page.frameNavigated" => FrameNavigated(page::FrameNavigated<'a>),
    "Page.frameStartedLoading" => FrameStartedLoading(page::FrameStartedLoading<'a>),
    "Page.frameStartedNavigating" => FrameStartedNavigating(page::FrameStartedNavigating<'a>),
    "Page.frameStoppedLoading" => FrameStoppedLoading(page::FrameStoppedLoading<'a>),
    "Page.javascriptDialogClosed" => DialogClosed(page::JavascriptDialogClosed<'a>),
    "Page.javascriptDialogOpening" => DialogOpening(page::JavascriptDialogOpening<'a>),
    "Page.navigatedWithinDocument" => NavigatedWithinDocument(page::NavigatedWithinDocument<'a>),
    "Runtime.consoleAPICalled" => ConsoleApiCalled(runtime::ConsoleApiCalled<'a>),
    "Runtime.exceptionThrown" => ExceptionThrown(runtime::ExceptionThrown<'a>),
    "Runtime.executionContextCreated" => ContextCreated(runtime::ExecutionContextCreated<'a>),
    "Runtime.executionContextDestroyed" => ContextDestroyed(runtime::ExecutionContextDestroyed<'a>),
    "Runtime.executionContextsCleared" => ContextsCleared(runtime::ExecutionContextsCleared),
    "Target.attachedToTarget" => AttachedToTarget(target::AttachedToTarget<'a>),
    "Target.detachedFromTarget" => DetachedFromTarget(target::DetachedFromTarget<'a>),
    "Target.targetCrashed" => TargetCrashed(target::TargetCrashed<'a>),
    "Target.targetCreated" => TargetCreated(target::TargetCreated<'a>),
    "Target.targetDestroyed" => TargetDestroyed(target::TargetDestroyed<'a>),
    "Target.targetInfoChanged" => TargetInfoChanged(target::TargetInfoChanged<'a>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::EVENTS;

    #[test]
    fn the_list_of_modelled_events_is_the_one_that_is_parsed() {
        assert!(EVENTS.iter().all(|method| Known::is_modelled(method)));
        assert!(!Known::is_modelled("Page.loadEventFired"));
    }
}
