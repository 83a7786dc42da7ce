#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| simulator::targets::transcript(bytes));
