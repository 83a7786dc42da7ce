//! Recordings of CDP traffic: lines, reader, replay. Pure.
