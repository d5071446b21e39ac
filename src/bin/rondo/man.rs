//! `rondo man`: the manual pages, made of the help texts and of the table of options.

#![forbid(unsafe_code)]

use crate::{Cli, Failure};
use clap::CommandFactory;
use clap_mangen::roff::{Roff, bold, roman};
use rondo::{
    collective::Collective,
    config::{self, OPTIONS},
};
use std::{fs, path::PathBuf};

/// Write the manual pages into DIR/man1 and DIR/man7.
#[derive(clap::Args)]
pub struct Args {
    /// The directory, as in MANPATH
    dir: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let [tool, library] = ["man1", "man7"].map(|section| args.dir.join(section));
    for folder in [&tool, &library] {
        fs::create_dir_all(folder)?;
    }
    clap_mangen::generate_to(Cli::command(), tool)?;
    fs::write(library.join("librondo.7"), page())?;
    Ok(())
}

/// The page of the library.
fn page() -> String {
    let version = concat!("rondo ", env!("CARGO_PKG_VERSION"));
    let mut page = Roff::new();
    page.control("TH", ["librondo", "7", "", version]);
    page.control("SH", ["NAME"]);
    page.text([roman(
        "librondo - round-optimal MPI collectives under unchanged programs",
    )]);
    page.control("SH", ["SYNOPSIS"]);
    page.text([bold("rondo run mpirun"), roman(" ... "), bold("./app")]);
    page.control("br", []);
    page.text([bold("mpicc"), roman(" ... "), bold("-lrondo")]);
    page.control("SH", ["DESCRIPTION"]);
    page.text([roman(format!(
        "librondo.so is preloaded into the ranks of an MPI program, or linked before the MPI library. It carries out \
         {} over the messages of the MPI library, where its built-in choice or its measurements find that faster, and \
         hands every other call to it untouched. It must be built for the ABI of the program's MPI library; otherwise \
         it says so once and hands every call on.",
        Collective::all_mpi_names()
    ))]);
    page.control("SH", ["ENVIRONMENT"]);
    page.text([roman(config::intro())]);
    for opt in OPTIONS {
        page.control("TP", []);
        page.text([bold(opt.variable()), roman(format!(" ({})", opt.values()))]);
        page.text([roman(opt.doc())]);
        page.control("br", []);
        let default = match opt.default {
            "" => "Empty by default.".to_owned(),
            value => format!("Default: {value}."),
        };
        page.text([roman(default)]);
    }
    page.control("SH", ["FILES"]);
    page.text([roman(
        "What RONDO_RULES, RONDO_LEARN and RONDO_STATS name. It writes no other file, except for 'rondo check'.",
    )]);
    page.control("SH", ["SEE ALSO"]);
    page.text([roman("rondo(1), rondo-run(1), rondo-check(1), mpirun(1)")]);
    page.to_roff()
}
