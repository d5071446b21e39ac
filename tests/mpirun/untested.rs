//! Tests that cannot run everywhere.

use std::io::Write;

/// Says what is not tested, and why. Fails where `RONDO_TEST_STRICT` is set.
pub fn not_tested(what: &str) {
    let line = format!("not tested: {what}");
    assert!(std::env::var_os("RONDO_TEST_STRICT").is_none(), "{line}");
    // Unlike what macros print, this is shown of tests that pass as well.
    let _ = writeln!(std::io::stderr(), "{line}");
}
