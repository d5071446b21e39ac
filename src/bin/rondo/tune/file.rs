//! The file of rules that is written.

#![forbid(unsafe_code)]

use super::{choose::kept, in_words};
use crate::{Failure, bench::report::Node, mpi::Mpi};
use rondo::rules::{File, Rule};
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// A file of rules, and what was in it.
pub struct Rules {
    path: PathBuf,
    /// What is written, but for the new rules.
    file: File,
}

impl Rules {
    /// A new file, or one that has rules for the same MPI library.
    pub fn open(path: &Path, mpi: &Mpi, nodes: &[Node]) -> Result<Rules, Failure> {
        let host = mpi.version()?;
        let name = path.display();
        let old = match fs::read_to_string(path) {
            Ok(text) => File::parse(&text).map_err(|what| {
                Failure::Usage(format!("{name} is there and is no file of rules: {what}"))
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => File::default(),
            Err(error) => return Err(Failure::Failed(format!("{name}: {error}"))),
        };
        if !old.rules.is_empty() && old.host != host {
            let of = match old.host.as_str() {
                "" => "any MPI library",
                host => host,
            };
            return Err(Failure::Usage(format!(
                "{name} has rules for {of}, and this is {host}: name another file with -o"
            )));
        }
        let date = humantime::format_rfc3339_seconds(SystemTime::now());
        let version = env!("CARGO_PKG_VERSION");
        let (ranks, on) = (mpi.ranks, in_words(nodes));
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let names = names.join(", ");
        let made = format!("rondo tune {version} at {date}: {ranks} ranks on {on} ({names})");
        let made = [made, old.made].join("; ");
        let rules = Rules {
            path: path.to_owned(),
            file: File {
                host,
                made: made.trim_end_matches("; ").into(),
                network: old.network,
                rules: old.rules,
            },
        };
        // Rather now than after the first measurement.
        rules.write(&[])?;
        Ok(rules)
    }

    /// Writes the new rules, and what there was for other calls.
    pub fn write(&self, new: &[Rule]) -> Result<(), Failure> {
        let mut file = self.file.clone();
        file.rules = new.to_vec();
        file.rules.extend(kept(self.file.rules.clone(), new));
        let text = serde_json::to_string_pretty(&file).expect("names and numbers are always JSON");
        // A reader finds the old file or the new one, whatever happens meanwhile.
        let mut beside = self.path.clone().into_os_string();
        beside.push(".new");
        let written =
            fs::write(&beside, text + "\n").and_then(|()| fs::rename(&beside, &self.path));
        let name = self.path.display();
        written.map_err(|error| Failure::Failed(format!("cannot write {name}: {error}")))
    }

    /// What to do with it.
    pub fn summary(&self) -> String {
        let name = self.path.display();
        format!("\nthe rules are in {name}; use them with RONDO_RULES={name}\n")
    }
}
