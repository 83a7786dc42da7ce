//! On a real Chromium.

mod beforeunload;
mod bridge;
mod bridge_backends;
mod bridge_pages;
mod crash;
mod dialog_blocking;
mod dialog_clients;
mod dialog_ends;
mod dialog_places;
mod dialog_policies;
mod dialog_unanswerable;
mod dialogs;
mod endpoints;
mod frames;
mod in_flight;
mod kinds;
mod main_job;
mod navigation;
mod oopif;
mod pages;
mod popup;
mod reconnect;
mod scope;
mod session;
mod swaps;
mod worker;
