//! An iframe that changes its process as fast as it can.
