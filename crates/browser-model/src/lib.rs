//! A fake browser that speaks CDP, for tests, simulation and benchmarks. Pure.
