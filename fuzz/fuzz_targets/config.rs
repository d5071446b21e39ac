//! Any environment at all: a value is taken or warned of, never anything else, and what was taken is written down in
//! such a way that it would be taken again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rondo::config::{Config, OPTIONS};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

fuzz_target!(|data: &[u8]| {
    // Lines of NAME=VALUE; a first byte below the number of options stands for the name of one.
    let lines = data.split(|&byte| byte == b'\n');
    let variables: Vec<(OsString, OsString)> = lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let (name, value) = match OPTIONS.get(usize::from(line[0])) {
                Some(opt) => (opt.variable().into_bytes(), &line[1..]),
                None => {
                    let end = line.iter().position(|&byte| byte == b'=');
                    let end = end.unwrap_or(line.len());
                    (
                        [b"RONDO_", &line[..end]].concat(),
                        line.get(end + 1..).unwrap_or(&[]),
                    )
                }
            };
            (OsString::from_vec(name), OsString::from_vec(value.to_vec()))
        })
        .collect();
    let once = Config::from_vars(variables.iter().cloned());
    let again = Config::from_vars(variables.into_iter());
    assert_eq!(once.config, again.config);
});
