//! Calls that are in flight when their document goes: they end on the browser's word, not at their deadline.
