//! On a real Chromium.

mod frames;
mod in_flight;
mod kinds;
mod main_job;
mod navigation;
mod oopif;
mod swaps;
