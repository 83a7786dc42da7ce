//! Every kind of frame that a page can have, each with its URL, origin, name, parent and process.
