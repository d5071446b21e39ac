//! The file of rules that is written.

#![forbid(unsafe_code)]

use super::in_words;
use crate::{Failure, bench::report::Node, mpi::Mpi};
use rondo::rules::{self, File, Refusal, Rule};
use std::{
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
        let mut file = File::before(path, &host).map_err(|refusal| match refusal {
            Refusal::Unreadable(error) => Failure::Failed(format!("{name}: {error}")),
            Refusal::Other(what) => {
                Failure::Usage(format!("{name} {what}: name another file with -o"))
            }
        })?;
        let date = humantime::format_rfc3339_seconds(SystemTime::now());
        let version = env!("CARGO_PKG_VERSION");
        let (ranks, on) = (mpi.ranks, in_words(nodes));
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let names = names.join(", ");
        let made = format!("rondo tune {version} at {date}: {ranks} ranks on {on} ({names})");
        file.add_made(&made);
        file.host = host;
        let rules = Rules {
            path: path.to_owned(),
            file,
        };
        // Rather now than after the first measurement.
        rules.write(&[])?;
        Ok(rules)
    }

    /// Writes the new rules, and what there was for other calls.
    pub fn write(&self, new: &[Rule]) -> Result<(), Failure> {
        let mut file = self.file.clone();
        // All sizes of a collective are measured anew.
        file.rules = rules::merged(new, file.rules, Rule::ranks_as);
        let written = file.write(&self.path);
        let name = self.path.display();
        written.map_err(|error| Failure::Failed(format!("cannot write {name}: {error}")))
    }

    /// What to do with it.
    pub fn summary(&self) -> String {
        let name = self.path.display().to_string();
        let quoted = shlex::try_quote(&name).unwrap_or((&*name).into());
        format!("\nthe rules are in {name}; use them with RONDO_RULES={quoted}\n")
    }
}
