//! `rondo info`: what this build is, and how the environment configures it.

use crate::{Failure, output, run, warn};
use rondo::config::{self, Config};
use rondo::rules::{self, File};
use std::{io::Write, path::Path};

/// Show the version, the MPI that this build is for, and every option.
///
/// Each option is shown with its current value and where that comes from. A value that Rondo
/// cannot use, an unknown variable, or a mistake in the file of RONDO_RULES, is reported on the standard
/// error output; Rondo would go on with the default, or without the rules.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Print the options as Markdown, the page docs/options.md
    #[arg(long)]
    markdown: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.markdown {
        return output(|out| write!(out, "{}", config::markdown()));
    }
    let mut loaded = Config::load();
    let path = &loaded.config.rules;
    if !path.is_empty() {
        let file = File::read(Path::new(path));
        let removed = file.and_then(|file| Ok((file.compile()?, file.removed())));
        let warning = match removed {
            Ok((_, removed)) => removed.map(|what| rules::passed_over(path, &what)),
            Err(what) => Some(rules::ignored(path, &what)),
        };
        loaded.warnings.extend(warning);
    }
    for warning in &loaded.warnings {
        warn(warning);
    }
    let library = run::find_library(Some(run::ABI)).ok();
    let library = library.map(|path| path.display().to_string());
    let library = library.unwrap_or("not found beside this tool".into());
    let [abi, host] = [env!("RONDO_ABI"), env!("RONDO_HOST")];
    output(|out| {
        writeln!(out, "version  {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "abi      {abi}, built with {host}")?;
        writeln!(out, "library  {library}\n")?;
        write!(out, "{}", config::table(&loaded))
    })
}
