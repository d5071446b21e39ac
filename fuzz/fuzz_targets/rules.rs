//! Any text as a file of rules: it is taken as a whole or refused with a reason, and rules that were taken travel
//! between ranks unchanged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rondo::collective::Collective;
use rondo::rules::{File, Rules};

fuzz_target!(|text: &str| {
    let file = match File::parse(text) {
        Ok(file) => file,
        Err(why) => return assert!(!why.is_empty()),
    };
    let written = serde_json::to_string(&file).expect("what was read can be written");
    File::parse(&written).expect("and read again");
    if let Ok(rules) = file.compile() {
        let words = rules.encode();
        assert_eq!(words.len(), Rules::encoded_len(rules.len()));
        let handed = Rules::decode(&words);
        assert_eq!(handed.hash(), rules.hash());
        let sizes = [None, Some(0), Some(1 << 40)];
        for bytes in sizes {
            let (one, other) = (
                rules.find(Collective::Bcast, (8, 2), bytes),
                handed.find(Collective::Bcast, (8, 2), bytes),
            );
            assert_eq!(one, other);
        }
    }
});
