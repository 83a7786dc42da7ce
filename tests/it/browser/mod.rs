//! On a real Chromium.

mod main_job;
