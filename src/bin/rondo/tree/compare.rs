//! `rondo tree --compare`: the paper's table of completion times.

use super::{Args, Json, Model, Sizes, blocks, check_program, root};
use crate::{Failure, output};
use rondo::tree::{Algorithm, Distribution, Root};
use serde::Serialize;
use std::io::{self, Write};

/// The columns of the table.
const COLUMNS: [Algorithm; 5] = [
    Algorithm::Linear,
    Algorithm::Binary,
    Algorithm::Binomial,
    Algorithm::Adaptive,
    Algorithm::Optimal,
];

/// The JSON form of a time in the table.
#[derive(Serialize)]
struct Cell {
    distribution: String,
    bytes: u64,
    gamma: serde_json::Number,
    /// Whether the algorithm chose the root.
    best: bool,
    #[serde(flatten)]
    tree: Json,
}

/// Two rows: the blocks, with the given root and with the best one.
struct Rows {
    name: String,
    blocks: Vec<u64>,
    given: Root,
}

impl Rows {
    fn cells(&self, model: &Model, gamma: &serde_json::Number) -> [Vec<Cell>; 2] {
        [self.given, Root::Best].map(|root| {
            let cell = |algorithm: Algorithm| {
                let tree = algorithm.tree(&self.blocks, root, &model.cost);
                Cell {
                    distribution: self.name.clone(),
                    bytes: tree.size(tree.root()),
                    gamma: gamma.clone(),
                    best: root == Root::Best,
                    tree: Json::new(algorithm, &tree, model),
                }
            };
            COLUMNS.map(cell).into()
        })
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let sizes = match &args.dist {
        Some(sizes) => vec![sizes.clone()],
        None => Distribution::ALL.map(Sizes::Named).into(),
    };
    // Whatever is wrong is found before anything is printed.
    let mut tables = Vec::new();
    for gamma in &args.gamma {
        let model = Model::new(&args.alpha, &args.beta, gamma)?;
        let mut table = Vec::new();
        for sizes in &sizes {
            let (name, blocks) = (sizes.name(), blocks(args, sizes, &model)?);
            check_program(blocks.len())?;
            let given = root(args, blocks.len())?;
            if given == Root::Best {
                return Err(Failure::Usage(
                    "--compare shows both a given root and the best one".into(),
                ));
            }
            table.push(Rows {
                name,
                blocks,
                given,
            });
        }
        tables.push((gamma.to_string().parse().expect("a number"), model, table));
    }
    output(|out| {
        if args.json {
            let rows = tables.iter().flat_map(|(gamma, model, table)| {
                table.iter().flat_map(move |rows| rows.cells(model, gamma))
            });
            let cells: Vec<Cell> = rows.flatten().collect();
            serde_json::to_writer(&mut *out, &cells)?;
            return writeln!(out);
        }
        for (nth, (gamma, model, table)) in tables.iter().enumerate() {
            if nth > 0 {
                writeln!(out)?;
            }
            text(out, gamma, model, table)?;
        }
        Ok(())
    })
}

fn text(
    out: &mut impl Write,
    gamma: &serde_json::Number,
    model: &Model,
    table: &[Rows],
) -> io::Result<()> {
    let Rows { blocks, given, .. } = &table[0];
    let Root::Given(root) = given else {
        unreachable!("checked")
    };
    writeln!(
        out,
        "p = {}, given root {root}, {}",
        blocks.len(),
        model.text
    )?;
    write!(out, "{:18}{:>12}", "", "bytes")?;
    for column in COLUMNS {
        write!(out, "{:>12} {:8}", column.name(), "(root)")?;
    }
    writeln!(out)?;
    for rows in table {
        for cells in rows.cells(model, gamma) {
            write!(out, "{:18}{:>12}", cells[0].distribution, cells[0].bytes)?;
            for cell in &cells {
                let root = match cell.best {
                    true => format!("({})", cell.tree.root),
                    false => String::new(),
                };
                write!(out, "{:>12} {root:8}", cell.tree.completion.to_string())?;
            }
            writeln!(out)?;
        }
        // Each pair takes a while.
        out.flush()?;
    }
    Ok(())
}
