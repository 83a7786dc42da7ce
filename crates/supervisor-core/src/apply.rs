//! Folding events into state. The `match` is the table of contents; each arm is a function of its subject.

use crate::deadlines::Due;
use crate::event::{Event, Recorded};
use crate::flights::InFlight;
use crate::page::Blocked;
use crate::session::Context;
use crate::state::State;

impl State {
    /// Folds one event. It is total: an event that does not fit changes nothing.
    pub fn apply(&mut self, recorded: &Recorded) {
        self.history = recorded.seq;
        let at = recorded.at;
        if let Some(observer) = &mut self.observer {
            observer.apply(&recorded.event);
        }
        match &recorded.event {
            Event::BrowserNamed { .. } | Event::BrowserReplaced => self.apply_identity(&recorded.event),
            Event::Dialing { .. } | Event::Connected { .. } => {
                self.apply_identity(&recorded.event);
                self.apply_connection(at, &recorded.event);
            }
            Event::StartRequested { .. }
            | Event::SocketOpened { .. }
            | Event::BrowserIdentified { .. }
            | Event::ConnectionLost { .. }
            | Event::Failed { .. }
            | Event::StopRequested { .. }
            | Event::Stopped
            | Event::StartAnswered { .. }
            | Event::ProbeScheduled { .. } => self.apply_connection(at, &recorded.event),
            Event::DeadlinePassed { due } => self.deadlines.cancel(due),
            Event::OptionsChanged { options } => self.options = (**options).clone(),
            Event::CommandSent { id, route, method, purpose } => {
                let flight =
                    InFlight { route: route.clone(), method: method.clone(), purpose: purpose.clone() };
                self.command_sent(at, *id, flight);
            }
            Event::CommandAnswered { id, .. } => self.command_answered(*id),
            Event::PageAttached { .. } | Event::IframeAttached { .. } => {
                self.apply_attached(at, &recorded.event)
            }
            Event::SessionReleased { route, .. } => self.sessions.release(route.clone()),
            Event::SessionStandsBy { .. } => {}
            Event::SessionGone { route } => self.session_gone(at, route),
            Event::SessionSilent { route, looks, look_again } => {
                self.session_silent(route, *looks, *look_again)
            }
            Event::SessionAnswered { route } => {
                if let Some(session) = self.sessions.get_mut(route) {
                    session.unresponsive = false;
                }
            }
            Event::SessionCrashed { route } => self.session_crashed(route),
            Event::SessionRevived { route } => self.session_revived(at, route),
            Event::PageChanged { target, url, title } => {
                if let Some(page) = self.pages.get_mut(target) {
                    page.url.clone_from(url);
                    page.title.clone_from(title);
                }
            }
            Event::PageBlocked { target, why, dialog } => {
                if let Some(page) = self.pages.get_mut(target) {
                    page.blocked = Some(Blocked { why: *why, dialog: *dialog });
                }
            }
            Event::PageFlooding { target, until } => self.page_flooding(target, Some(*until)),
            Event::PageCalm { target } => self.page_flooding(target, None),
            Event::PageFreed { target } => {
                if let Some(page) = self.pages.get_mut(target) {
                    page.blocked = None;
                }
                // Its iframe is there after all; it may still go.
                if self.connection.doomed.get(target).is_some_and(|doomed| doomed.without.is_none()) {
                    self.connection.doomed.remove(target);
                }
            }
            Event::FrameAttached { route, frame, parent } => self.frame_attached(route, frame, parent),
            Event::FrameNavigated { route, frame, .. } => self.frame_navigated(route, frame),
            Event::FramesListed { route, frames, .. } => self.frames_listed(route, frames),
            Event::IframeUrlChanged { frame, url } | Event::FrameUrlChanged { frame, url } => {
                if let Some(frame) = self.frames.get_mut(frame) {
                    frame.url.clone_from(url);
                }
            }
            Event::DocumentOpened { frame } => {
                if let Some(known) = self.frames.get_mut(&frame.id) {
                    known.describe(frame);
                }
            }
            Event::FrameSwappedOut { route, frame } => self.frame_swapped_out(at, route, frame),
            Event::FrameGone { frame } => self.frame_gone(frame),
            Event::OrphanWaits { frame, until } => self.deadlines.set(Due::Orphan(frame.clone()), *until),
            Event::NavigationsAreTold => self.connection.tells_navigations = true,
            Event::NavigationStarted { frame, loader } => self.navigation_started(frame, loader.as_ref()),
            Event::LoadingStopped { frame } => self.loading_stopped(frame),
            Event::ContextCreated { route, id, unique, frame, origin } => {
                let (frame, unique, origin) = (frame.clone(), unique.clone(), origin.clone());
                if let Some(session) = self.sessions.get_mut(route) {
                    session.context_created(*id, Context { frame, unique, origin });
                }
            }
            Event::ContextDestroyed { route, id } => {
                if let Some(session) = self.sessions.get_mut(route) {
                    session.context_destroyed(*id);
                }
            }
            Event::ContextsCleared { route } => {
                if let Some(session) = self.sessions.get_mut(route) {
                    session.contexts_cleared();
                }
            }
            Event::DialogOpened { .. }
            | Event::DialogSeenAgain { .. }
            | Event::DialogWatchdogSet { .. }
            | Event::DialogAwaited { .. }
            | Event::DialogAnswering { .. }
            | Event::DialogAnswerOverdue { .. }
            | Event::DialogClosing { .. }
            | Event::DialogTaken { .. }
            | Event::DialogAnswerRefused { .. }
            | Event::DialogUnanswerable { .. }
            | Event::DialogEnded { .. }
            | Event::DialogStrayTaken { .. }
            | Event::DialogAnswerSettled { .. }
            | Event::DialogEndRepeated { .. }
            | Event::DialogReasonKnown { .. } => self.apply_dialog(at, &recorded.event),
            Event::Guard(event) => self.apply_guard(at, event),
            Event::DialogSnatched { .. }
            | Event::BridgeTurnedOn { .. }
            | Event::BridgeTurnedOff
            | Event::BridgeElementAsked { .. }
            | Event::BridgeElementKnown { .. }
            | Event::BridgeRequestHeld { .. }
            | Event::BridgeRequestLetGo { .. }
            | Event::BridgeScriptAdded { .. }
            | Event::BridgeUnavailable { .. }
            | Event::BridgeAvailable { .. } => self.apply_bridge(&recorded.event),
            Event::CallStarted { .. }
            | Event::CallWaits { .. }
            | Event::CallSent { .. }
            | Event::CallBound { .. }
            | Event::CallSuspected { .. }
            | Event::CallInterrupted { .. }
            | Event::CallReleased { .. }
            | Event::CallEnded { .. }
            | Event::LateResultKept { .. }
            | Event::LateResultGone { .. }
            | Event::ResultAwaited { .. }
            | Event::ResultAnswered { .. } => self.apply_call(at, &recorded.event),
            Event::ConsoleGathered { gathered } => self.console.add(gathered),
            Event::ConsoleObjectsKept { route, until } => {
                self.deadlines.set(Due::Objects(route.clone()), *until);
            }
        }
    }
}
