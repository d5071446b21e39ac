//! `rondo man`: the manual pages, made of the help texts and of the table of options.

#![forbid(unsafe_code)]

use crate::{Cli, Failure};
use clap::CommandFactory;
use clap_mangen::Man;
use roff::{Roff, bold, roman};
use rondo::{
    collective::Collective,
    config::{self, OPTIONS},
};
use std::{fs, io, iter, path::PathBuf};

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
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    let shown = |command: &&clap::Command| !command.is_hide_set();
    let pages = iter::once(&cli).chain(cli.get_subcommands().filter(shown));
    let pages: Vec<&clap::Command> = pages.collect();
    let name = |command: &&clap::Command| command.get_display_name().unwrap_or("rondo").to_owned();
    let names: Vec<String> = pages.iter().map(name).collect();
    for (command, name) in pages.into_iter().zip(&names) {
        let mut page = tool_page(command)?;
        let others = names.iter().filter(|other| *other != name);
        let others = others.map(|other| (&**other, "1"));
        references(others.chain([("librondo", "7")])).to_writer(&mut page)?;
        fs::write(tool.join(format!("{name}.1")), page)?;
    }
    fs::write(library.join("librondo.7"), page())?;
    Ok(())
}

/// The page of the tool or of one of its commands. What stands behind the options in the help text has its own headings
/// there, and examples are left in their lines.
fn tool_page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let (mut page, man) = (Vec::new(), Man::new(command.clone()));
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    let usage = command.clone().render_usage().to_string();
    let mut rest = Roff::new();
    rest.control("SH", ["SYNOPSIS"]);
    rest.text([bold(usage.trim_start_matches("Usage: "))]);
    rest.to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let more = command.get_after_long_help().map(|text| text.to_string());
    let mut rest = Roff::new();
    for line in more.iter().flat_map(|text| text.lines()) {
        match line.strip_suffix(':').filter(|_| !line.starts_with(' ')) {
            Some(heading) => {
                rest.control("fi", []);
                rest.control("SH", [heading]);
                if heading == "EXAMPLES" {
                    rest.control("nf", []);
                }
            }
            None => {
                rest.text([roman(line)]);
            }
        }
    }
    rest.control("fi", []);
    rest.to_writer(&mut page)?;
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

/// The last section of a page: others, with their sections.
fn references<'a>(pages: impl Iterator<Item = (&'a str, &'a str)>) -> Roff {
    let mut section = Roff::new();
    section.control("SH", ["SEE ALSO"]);
    let mut texts = Vec::new();
    for (i, (name, number)) in pages.enumerate() {
        texts.push(roman(if i > 0 { ", " } else { "" }));
        texts.extend([bold(name), roman(format!("({number})"))]);
    }
    section.text(texts);
    section
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
    let others = ["rondo", "rondo-run", "rondo-check", "mpirun"].map(|name| (name, "1"));
    page.to_roff() + &references(others.into_iter()).to_roff()
}
