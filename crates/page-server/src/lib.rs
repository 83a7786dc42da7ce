//! A small local HTTP server for the pages of the demo and the browser tests.
