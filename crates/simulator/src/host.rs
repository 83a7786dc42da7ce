//! What a host asks. Objects are small numbers, taken modulo how many there are.

use browser_model::NEVER;
use supervisor_core::{
    Action, Bridge, CallId, Command, DialogChoice, DialogPolicy, FrameId, Options, Place, Remedy, Req,
};

use crate::world::World;

/// Something that a host asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// An expression is evaluated in a frame.
    Eval {
        /// The frame.
        frame: u8,
        /// Which expression.
        kind: u8,
    },
    /// A raw call goes to a frame.
    Call {
        /// The frame.
        frame: u8,
        /// Which method.
        kind: u8,
    },
    /// So many expressions are evaluated in a frame at once.
    Burst {
        /// The frame.
        frame: u8,
        /// How many, in sixteens.
        count: u8,
    },
    /// A dialog is answered.
    Respond {
        /// Which one.
        nth: u8,
        /// Accept or dismiss.
        accept: bool,
    },
    /// A late result is asked for.
    Result {
        /// Of which call.
        nth: u8,
    },
    /// A page is freed.
    Recover {
        /// The page.
        page: u8,
        /// How.
        kind: u8,
    },
    /// The caller of an open request leaves.
    Cancel {
        /// Which one.
        nth: u8,
    },
    /// The policy is changed.
    Policy {
        /// To which.
        kind: u8,
    },
    /// The guard is turned on or off.
    Guard {
        /// On.
        on: bool,
    },
    /// The bridge is turned on or off, or left to the machine.
    Bridge {
        /// Which.
        kind: u8,
    },
    /// The task is to end.
    Stop,
}

/// What is evaluated. Any expression's value is the frame that it ran in.
const EXPRESSIONS: [&str; 6] = ["1", "1", NEVER, "alert('x')", "confirm('x')", "prompt('x')"];

/// Raw calls: for the renderer, for the browser process, and ones that end what they run in.
const CALLS: [(&str, &str); 6] = [
    ("Runtime.evaluate", r#"{"expression":"1"}"#),
    ("Page.getLayoutMetrics", "{}"),
    ("Page.navigate", r#"{"url":"http://b.test/called"}"#),
    ("Page.reload", "{}"),
    ("Page.getNavigationHistory", "{}"),
    ("Nonsense.method", "{}"),
];

pub(crate) fn ask(world: &mut World, ask: Ask) {
    let count = match ask {
        Ask::Burst { count, .. } => 16 * usize::from(count),
        _ => 1,
    };
    for _ in 0..count {
        let Some(command) = command(world, ask) else { return };
        world.ask(command);
    }
}

fn command(world: &World, ask: Ask) -> Option<Command> {
    Some(match ask {
        Ask::Eval { frame, kind } => eval(nth_frame(world, frame)?, nth(&EXPRESSIONS, kind)?),
        Ask::Burst { frame, .. } => eval(nth_frame(world, frame)?, "1"),
        Ask::Call { frame, kind } => {
            let (method, params) = *nth(&CALLS, kind)?;
            let place = Place::Frame(nth_frame(world, frame)?);
            Command::Call { place, method: method.into(), params: params.into(), timeout_ms: None }
        }
        Ask::Respond { nth: which, accept } => respond(world, which, accept)?,
        Ask::Result { nth: which } => {
            let last = world.machine.state().calls.next.0;
            Command::Result { call_id: CallId(1 + u64::from(which) % last), timeout_ms: None }
        }
        Ask::Recover { page, kind } => recover(world, page, kind)?,
        Ask::Cancel { nth: which } => {
            let open: Vec<Req> = world.requests.open().collect();
            Command::Cancel { req: *nth(&open, which)? }
        }
        Ask::Policy { kind } => {
            let policies = [DialogPolicy::MustRespond, DialogPolicy::AutoDismiss, DialogPolicy::AutoAccept];
            let policy = *nth(&policies, kind)?;
            configure(world, |options| options.dialog_policy = policy)
        }
        Ask::Guard { on } => configure(world, |options| options.guard = on),
        Ask::Bridge { kind } => {
            let choice = *nth(&[Bridge::Auto, Bridge::On, Bridge::Off], kind)?;
            configure(world, |options| options.bridge = choice)
        }
        Ask::Stop => Command::Stop,
    })
}

fn eval(frame: FrameId, expression: &str) -> Command {
    Command::Eval {
        frame_id: Some(frame),
        expression: expression.to_owned(),
        await_promise: false,
        timeout_ms: None,
    }
}

fn respond(world: &World, which: u8, accept: bool) -> Option<Command> {
    let open: Vec<_> = world.machine.state().dialogs.open.keys().copied().collect();
    let choice = DialogChoice { dialog_id: Some(*nth(&open, which)?), target_id: None };
    let action = if accept { Action::Accept { prompt_text: None } } else { Action::Dismiss };
    Some(Command::Respond { choice, action })
}

fn recover(world: &World, page: u8, kind: u8) -> Option<Command> {
    let pages: Vec<_> = world.machine.state().pages.iter().map(|(target, _)| target.clone()).collect();
    let elsewhere = Remedy::Navigate { url: "http://c.test/".into() };
    let remedies = [Remedy::Reload, elsewhere, Remedy::Close];
    Some(Command::Recover { target_id: nth(&pages, page)?.clone(), remedy: nth(&remedies, kind)?.clone() })
}

fn configure(world: &World, change: impl FnOnce(&mut Options)) -> Command {
    let mut options: Options = world.machine.state().options.clone();
    change(&mut options);
    Command::Configure { options: Box::new(options) }
}

fn nth_frame(world: &World, which: u8) -> Option<FrameId> {
    let state = world.machine.state();
    let mut all: Vec<FrameId> =
        state.pages.iter().flat_map(|(page, _)| state.frames.of_page(page).cloned()).collect();
    all.sort();
    nth(&all, which).cloned()
}

fn nth<T>(all: &[T], which: u8) -> Option<&T> {
    all.get(usize::from(which) % all.len().max(1))
}
