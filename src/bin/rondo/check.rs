//! `rondo check`: run a job once with Rondo, and say what keeps Rondo from its ranks or from its calls.

#![forbid(unsafe_code)]

mod findings;
mod job;
mod ranks;
mod report;

use crate::{Failure, bench::output::Sink, launcher::Variables, output, program, run::Launch};
use findings::Evidence;
use ranks::Ranks;
use report::Report;
use rondo::config;
use std::{
    ffi::OsString,
    fs::{self, DirBuilder},
    io::{self, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process,
    time::Duration,
};

/// Run a job once with Rondo and say what keeps Rondo from working.
///
/// LAUNCHER is started with ARGS as by 'rondo run', and has to wait for the end of the job, as flux submit does not.
/// Does it start ranks, does the library reach them all, does it fit the MPI library, do calls arrive, can a node have
/// shared memory, does a GPU keep calls away, are node names sane, who carried out which collectives, and what was
/// gained? Each problem comes with what to do about it.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
EXAMPLES:
  rondo check mpirun -n 8 ./app
  rondo check --limit 60s --json=check.json srun -n 1152 ./app

OUTPUT:
  The report is on the standard output; all that the job writes is on the standard error output. The statistics of the
  job are part of the report: whatever RONDO_STATS says, they go nowhere else.

EXIT STATUS:
  0 if all is well, 1 if a problem was found, or if the folder, the library or the file for JSON is of no use, 2 if the
  arguments are wrong, 127 if the launcher cannot be started."
)]
pub struct Args {
    /// End the job after so long: 90s, 10m, 2h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = humantime::parse_duration)]
    limit: Duration,
    /// Write the report as JSON, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where ranks leave what they know: a folder that all nodes see, in which one is made and removed [default: .]
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = ".",
        hide_default_value = true
    )]
    folder: PathBuf,
    /// The librondo.so to use
    #[arg(long, value_name = "PATH")]
    lib: Option<PathBuf>,
    /// The launcher and its arguments
    #[arg(required = true, trailing_var_arg = true, value_names = ["LAUNCHER", "ARGS"])]
    command: Vec<OsString>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    // Before the job, which may take hours, is run.
    let mut json = args.json.as_deref().map(Sink::open).transpose()?;
    let folder = Folder::new(&args.folder)?;
    let mut set: Variables = config::variables().into_iter().collect();
    let statistics = folder.0.join("statistics");
    let mut spec = OsString::from("json:");
    spec.push(&statistics);
    set.insert("RONDO_STATS".into(), spec);
    set.insert(config::CHECK_FOLDER.into(), folder.0.clone().into());
    let launch = Launch::new(&args.command, args.lib.as_deref(), set)?;
    let library = launch.library.clone().map_err(Failure::Failed)?;
    let end = job::run(&launch, args.limit, &folder.0)?;
    let text = fs::read_to_string(&statistics).unwrap_or_default();
    let evidence = Evidence {
        end,
        ranks: Ranks::read(&folder.0),
        statistics: serde_json::from_str(&text).ok(),
        programs: program::all(&args.command[1..]),
        library,
        against: launch.line.against,
    };
    let report = Report::new(&evidence);
    // People get theirs even if the file takes none.
    output(|out| out.write_all(report.text().as_bytes()))?;
    if let Some(json) = &mut json {
        json.write(&report.json())?;
    }
    match report.is_fine() {
        true => Ok(()),
        false => Err(Failure::SaidElsewhere(1)),
    }
}

/// A folder that is there for as long as the command runs.
struct Folder(PathBuf);

impl Folder {
    fn new(within: &Path) -> Result<Folder, Failure> {
        let failed = |error: io::Error| {
            let within = within.display();
            let why =
                format!("cannot make a folder in {within}: {error}; --folder names another place");
            Failure::Failed(why)
        };
        let within = within.canonicalize().map_err(failed)?;
        let folder = within.join(format!(".rondo-check-{}", process::id()));
        DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .map_err(failed)?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
