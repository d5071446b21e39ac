//! `rondo info`: what this build is, and how the environment configures it.

use crate::{Failure, output, run, warn};
use rondo::config::{self, Config, OPTIONS};
use rondo::rules::{self, File};
use serde::Serialize;
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Show the version, the MPI that this build is for, and every option.
///
/// Each option is shown with its current value and where that comes from. A value that Rondo
/// cannot use, an unknown variable, or a mistake in the file of RONDO_RULES, is reported on the standard
/// error output; Rondo would go on with the default, or without the rules.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Print the options as Markdown, the page docs/options.md
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// The JSON form; the field names are an interface to scripts.
#[derive(Serialize)]
struct Info<'a> {
    version: &'a str,
    abi: &'a str,
    host: &'a str,
    library: Option<PathBuf>,
    options: Vec<OptionInfo>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct OptionInfo {
    name: String,
    value: String,
    source: &'static str,
    default: &'static str,
    values: String,
    doc: String,
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
    let option = |(opt, source): (&config::Opt, &config::Source)| OptionInfo {
        name: opt.variable(),
        value: opt.show(&loaded.config),
        source: source.name(),
        default: opt.default,
        values: opt.values(),
        doc: opt.doc(),
    };
    let info = Info {
        version: env!("CARGO_PKG_VERSION"),
        abi: env!("RONDO_ABI"),
        host: env!("RONDO_HOST"),
        library: run::find_library(Some(run::ABI)).ok(),
        options: OPTIONS.iter().zip(&loaded.sources).map(option).collect(),
        warnings: &loaded.warnings,
    };
    output(|out| {
        if args.json {
            serde_json::to_writer_pretty(&mut *out, &info)?;
            return writeln!(out);
        }
        let library = info.library.as_ref().map(|path| path.display().to_string());
        writeln!(out, "version  {}", info.version)?;
        writeln!(out, "abi      {}, built with {}", info.abi, info.host)?;
        writeln!(
            out,
            "library  {}\n",
            library.as_deref().unwrap_or("not found beside this tool")
        )?;
        write!(out, "{}", config::table(&loaded))
    })
}
