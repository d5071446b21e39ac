//! Programs that others wrote, from Debian's packages: their results must be the same with Rondo, forced to carry
//! everything out or left to choose, and Rondo's counters must move. `make matrix` installs the programs and runs this.

#![forbid(unsafe_code)]

mod mpirun;

use mpirun::{Ended, folder, library, mpirun};
use std::fs;
use std::path::Path;

/// A program and a small problem for it.
struct Program {
    name: &'static str,
    mpi: &'static str,
    /// Commands, one after the other, each under the launcher.
    steps: &'static [&'static [&'static str]],
    /// Files of its folder, which is where it runs.
    input: &'static [(&'static str, &'static str)],
    variables: &'static [(&'static str, &'static str)],
    /// The part of its output and files that is the same in every run; empty if it failed.
    result: fn(&str, &Path) -> String,
    /// Collectives that it is known to call.
    calls: &'static [&'static str],
}

/// Rondo carries out whatever it can without changing the bits of sums.
const FORCED: &[(&str, &str)] = &[
    ("RONDO_BCAST", "circulant"),
    ("RONDO_ALLGATHERV", "circulant"),
    ("RONDO_ALLGATHER", "circulant"),
    ("RONDO_GATHERV", "hybrid"),
    ("RONDO_SCATTERV", "hybrid"),
    ("RONDO_GATHER", "hybrid"),
    ("RONDO_SCATTER", "hybrid"),
    ("RONDO_ALLTOALL", "pairwise"),
    ("RONDO_ALLTOALLV", "pairwise"),
    ("RONDO_ALLTOALLW", "pairwise"),
    ("RONDO_BARRIER", "dissemination"),
];

const RANKS: u32 = 4;

/// The lines that hold one of these texts.
fn lines_with(text: &str, marks: &[&str]) -> String {
    let lines = text
        .lines()
        .filter(|line| marks.iter().any(|mark| line.contains(mark)));
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Runs it in its folder: how the last step ended, and the result.
fn run(program: &Program, env: &[(&str, &str)], mut after_each: impl FnMut()) -> (Ended, String) {
    let folder = folder("programs").join(program.name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in program.input {
        fs::write(folder.join(name), text).unwrap();
    }
    let mut output = String::new();
    let mut last = None;
    for step in program.steps {
        let mut command = mpirun(program.mpi, RANKS, 300, &[program.variables, env].concat());
        command.args(*step).current_dir(&folder);
        let ended = Ended::of(&command.output().expect("the launcher starts"));
        if ended.status != Some(0) {
            return (ended, String::new());
        }
        after_each();
        output += &ended.stdout;
        last = Some(ended);
    }
    let result = (program.result)(&output, &folder);
    (last.expect("there is a step"), result)
}

/// Bare, forced and as Rondo chooses.
fn is_the_same_under_rondo(program: &Program) {
    let (ended, bare) = run(program, &[], || {});
    assert!(
        bare.lines().count() > 3,
        "{} fails by itself: {ended:?}",
        program.name
    );
    let preload = library(program.mpi).display().to_string();
    let stats = folder("programs").join(format!("{}.json", program.name));
    let spec = format!("json:{}", stats.display());
    let own = [("LD_PRELOAD", preload.as_str()), ("RONDO_STATS", &spec)];
    for (way, env) in [("forced", FORCED), ("auto", &[])] {
        let mut rows: Vec<serde_json::Value> = vec![];
        let (ended, result) = run(program, &[&own, env].concat(), || {
            let text = fs::read_to_string(&stats).expect("statistics");
            let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            rows.extend(report["collectives"].as_array().expect("rows").clone());
            fs::remove_file(&stats).unwrap();
        });
        assert_eq!(result, bare, "{} {way}: {}", program.name, ended.stderr);
        assert!(!ended.stderr.contains("rondo: "), "{}", ended.stderr);
        for collective in program.calls {
            let (mut own, mut host) = (0, 0);
            for row in rows.iter().filter(|row| row["collective"] == *collective) {
                let calls = row["calls"].as_u64().expect("a number");
                match row["algorithm"].as_str() {
                    Some("host") => host += calls,
                    _ => own += calls,
                }
            }
            println!(
                "{} {way}: {collective} {own} by Rondo, {host} by the host",
                program.name
            );
            assert!(own + host > 0, "{}: no {collective} is seen", program.name);
            assert!(
                way == "auto" || own > 0,
                "{}: no {collective} is Rondo's",
                program.name
            );
        }
    }
}

/// LAMMPS, in C++: molecular dynamics of a melt, replicated from a smaller one. Its input is broadcast line by line.
#[test]
#[ignore = "needs LAMMPS: make matrix"]
fn lammps_melts_in_the_same_way() {
    is_the_same_under_rondo(&Program {
        name: "lammps",
        mpi: "openmpi",
        steps: &[&["lmp", "-in", "in.melt", "-log", "none"]],
        input: &[(
            "in.melt",
            "units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 5 0 5 0 5
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
replicate 2 2 1 bbox
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 5 every 1
compute part all chunk/atom bin/1d z lower 0.1
fix profile all ave/chunk 5 4 20 part density/number temp file profile.txt
fix 1 all nve
thermo 10
dump 1 all custom 50 dump.txt id x y z vx vy vz
dump_modify 1 sort id format float %.15g
run 100
",
        )],
        variables: &[("OMP_NUM_THREADS", "1")],
        result: |_, folder| {
            // The screen has times in it.
            let file = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
            file("dump.txt") + &file("profile.txt")
        },
        calls: &["bcast", "allgatherv"],
    });
}

/// Quantum ESPRESSO, in Fortran: the ground state of silicon and its density. What one rank reads or decides is
/// broadcast, and the density is gathered from the planes that each rank has.
#[test]
#[ignore = "needs Quantum ESPRESSO: make matrix"]
fn quantum_espresso_finds_the_same_energy() {
    is_the_same_under_rondo(&Program {
        name: "quantum-espresso",
        mpi: "openmpi",
        steps: &[&["pw.x", "-in", "si.in"], &["pp.x", "-in", "pp.in"]],
        input: &[
            (
                "si.in",
                "&control
  calculation = 'scf', prefix = 'si', outdir = './out', tprnfor = .true.,
  pseudo_dir = '/usr/share/espresso/pseudo'
/
&system
  ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = 16
/
&electrons
  conv_thr = 1.0d-8
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.26 0.25 0.25
K_POINTS automatic
 2 2 2 1 1 1
",
            ),
            (
                "pp.in",
                "&inputpp
  prefix = 'si', outdir = './out', filplot = 'rho', plot_num = 0
/
&plot
  iflag = 3, output_format = 6, fileout = 'rho.cube'
/
",
            ),
        ],
        variables: &[("OMP_NUM_THREADS", "1")],
        result: |output, folder| {
            let marks = [
                "total energy",
                "Total force",
                "force =",
                "highest occupied",
                "JOB DONE",
            ];
            let density = fs::read_to_string(folder.join("rho.cube"));
            lines_with(output, &marks) + &density.unwrap_or_default()
        },
        calls: &["bcast", "gatherv"],
    });
}
