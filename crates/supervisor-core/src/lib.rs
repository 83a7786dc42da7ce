//! Everything that decides: a pure state machine from inputs to events and effects.
