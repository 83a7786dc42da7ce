//! Bytes to typed Chrome DevTools Protocol messages and back. Pure.
