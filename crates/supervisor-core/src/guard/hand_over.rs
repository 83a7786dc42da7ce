//! The main connection is back: page by page it takes over from the guard.

use cdp_wire::{TargetId, browser};

use crate::context::Cx;
use crate::flights::Purpose;
use crate::guard::rules::{self, emit};
use crate::guard::{GuardEvent, Teller, carry};
use crate::ids::Route;

/// The main connection has just been asked to listen on a page.
pub(crate) fn begin(cx: &mut Cx<'_>, target: &TargetId) {
    if cx.state().guard.watches.get(target).is_some_and(|watch| watch.teller != Teller::Main) {
        next(cx, target, Teller::MainBegins);
    }
}

/// The sign that was waited for. A connection gives its signs in order: only the last one that it was asked for counts.
pub(crate) fn signed(cx: &mut Cx<'_>, target: &TargetId) {
    let Some(teller) = cx.state().guard.watches.get(target).map(|watch| watch.teller) else { return };
    let purpose = Purpose::HandOver(target.clone());
    let (by_main, by_guard) = (cx.state().flights.any(&purpose), cx.state().guard.flights.any(&purpose));
    match teller {
        Teller::MainBegins if !by_main => next(cx, target, Teller::GuardFollows),
        Teller::GuardFollows if !by_guard => next(cx, target, Teller::MainCompares),
        Teller::MainCompares if !by_main => next(cx, target, Teller::GuardSettles),
        Teller::GuardSettles if !by_guard => {
            carry::adopt_left(cx, target);
            emit(cx, GuardEvent::Tells { target: target.clone(), teller: Teller::Main });
            rules::dialog_ended(cx);
        }
        _ => {}
    }
}

fn next(cx: &mut Cx<'_>, target: &TargetId, teller: Teller) {
    emit(cx, GuardEvent::Tells { target: target.clone(), teller });
    let purpose = Purpose::HandOver(target.clone());
    match teller {
        Teller::MainBegins | Teller::MainCompares => {
            cx.send(&Route::Root, &browser::GetVersion {}, purpose);
        }
        _ => {
            cx.send_guard(&Route::Root, &browser::GetVersion {}, purpose);
        }
    }
}
