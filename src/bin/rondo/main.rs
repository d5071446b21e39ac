//! The command line tool: what Rondo would do, and how to start a program under it.

#![deny(unsafe_code)] // but in mpi.rs

mod algorithms;
mod arguments;
mod bench;
mod check;
mod info;
mod job;
mod launcher;
mod man;
mod model;
mod mpi;
mod plot;
mod program;
mod run;
mod schedule;
mod tree;
mod tune;

use clap::{Parser, Subcommand};
use std::{
    io::{self, BufWriter, ErrorKind, StdoutLock, Write},
    process::ExitCode,
};

/// Round-optimal MPI collectives under unchanged programs.
///
/// Rondo is a library, librondo.so, that is preloaded under an MPI program and runs collectives of it
/// (man librondo names them) in the fewest possible rounds. This tool starts programs that way, shows how
/// Rondo is configured, lists its algorithms and predicts what they take, prints the schedules that it
/// follows, builds trees for gather and scatter, times collectives by the MPI library and by Rondo, and
/// tunes Rondo to a machine.
#[derive(Parser)]
#[command(version, verbatim_doc_comment, after_long_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
EXAMPLES:
  rondo run mpirun -n 8 ./app            run a program with Rondo in its ranks
  rondo run --stats mpirun -n 8 ./app    the same, and say at the end what Rondo did
  rondo check mpirun -n 8 ./app          run it once, and say what keeps Rondo from working
  rondo info                             list the options and their values
  rondo algorithms allreduce             list the algorithms of a collective, with their sources
  rondo model bcast -p 64 -b 1K,1M       predict what each algorithm takes
  rondo schedule -p 20                   print the broadcast schedules of 20 ranks
  rondo tree -p 20 --dist random         build a tree for a gather of blocks of different sizes
  mpirun -n 8 rondo bench bcast          time broadcasts by the MPI library and by Rondo
  mpirun -n 8 rondo tune -o rules.json   measure what is best on this machine, as rules for Rondo
  rondo plot results.json -o times.svg   draw what 'rondo bench --json=results.json' measured

ENVIRONMENT:
  Rondo is configured by variables that begin with RONDO_; 'rondo info' lists them.

EXIT STATUS:
  0 on success, 1 if something failed, 2 if the arguments are wrong, 127 if the launcher cannot be
  started; 'rondo run' otherwise ends as the launcher does. 'rondo check' ends with 1 if it found a problem, too.";

#[derive(Subcommand)]
enum Command {
    Info(info::Args),
    Algorithms(algorithms::Args),
    Model(model::Args),
    Schedule(schedule::Args),
    Tree(tree::Args),
    Run(run::Args),
    Check(check::Args),
    Bench(bench::Args),
    Plot(plot::Args),
    Tune(tune::Args),
    #[command(hide = true)]
    Man(man::Args),
}

/// Why a command stopped.
pub enum Failure {
    /// The arguments ask for something that cannot be.
    Usage(String),
    /// The arguments are fine, but it did not work.
    Failed(String),
    /// The launcher could not be started.
    NotStarted(String),
    /// The output could not be written.
    Output(io::Error),
    /// Another rank says why; the status is the same on all.
    SaidElsewhere(u8),
}

impl Failure {
    /// The exit status.
    fn status(&self) -> u8 {
        match self {
            Failure::Output(_) | Failure::Failed(_) => 1,
            Failure::Usage(_) => 2,
            Failure::NotStarted(_) => 127,
            Failure::SaidElsewhere(status) => *status,
        }
    }

    /// Tells the user.
    fn say(&self) {
        match self {
            Failure::Output(error) => warn(&format!("cannot write the output: {error}")),
            Failure::Failed(message) | Failure::Usage(message) | Failure::NotStarted(message) => {
                warn(message);
            }
            Failure::SaidElsewhere(_) => {}
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Info(args) => info::run(&args),
        Command::Algorithms(args) => algorithms::run(&args),
        Command::Model(args) => model::run(&args),
        Command::Schedule(args) => schedule::run(&args),
        Command::Tree(args) => tree::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Plot(args) => plot::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Man(args) => man::run(&args),
    };
    let failure = match done {
        Ok(()) => return ExitCode::SUCCESS,
        // The reader, head for example, has seen enough: that is no failure.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {
            return ExitCode::SUCCESS;
        }
        Err(failure) => failure,
    };
    failure.say();
    ExitCode::from(failure.status())
}

/// Lets `write` fill the standard output, and makes sure that all of it got there.
pub fn output(
    write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// Says something on the standard error output. If even that is closed there is nobody to tell.
pub fn warn(message: &str) {
    // In one piece: launchers mix what several processes say.
    let _ = io::stderr().write_all(format!("rondo: {message}\n").as_bytes());
}
