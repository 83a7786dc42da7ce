//! Pages that a page opens.

use cdp_wire::page::DialogType;

use crate::browser::Browser;
use crate::document::Destination;
use crate::frame::Pending;
use crate::ids::{FrameNo, LoaderNo};

impl Browser {
    /// A script opens a window. Until it is resumed, the script waits. `dialog`: its first script opens one.
    pub(crate) fn open_popup(
        &mut self,
        opener: FrameNo,
        destination: Destination,
        dialog: Option<DialogType>,
    ) -> bool {
        let Some((family, process)) = self
            .page_of(opener)
            .and_then(|page| Some((self.page(page)?.family, self.frames.process(opener)?)))
        else {
            return false;
        };
        self.tally.popups += 1;
        let main = self.new_page(Some(opener), family, process);
        self.new_context(main);
        if let Some(page) = self.page_mut(main) {
            page.first_dialog = dialog;
        }
        let loader = LoaderNo(self.loaders.next());
        let (gate, asked_by) = (None, None);
        if let Some(frame) = self.frames.get_mut(main) {
            // Announced only once it is resumed: 0 stands for "not yet".
            frame.pending = Some(Pending {
                destination,
                loader,
                ready: true,
                gate,
                swapped: false,
                cache: false,
                announced: 0,
                asked_by,
            });
        }
        self.announce_page(main, true);
        self.release_all();
        true
    }
}
