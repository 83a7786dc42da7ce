//! Navigations: what they do to the tree, and to calls.
