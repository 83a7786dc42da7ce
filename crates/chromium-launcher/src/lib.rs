//! Finds, starts and stops a Chromium.
