//! Nodes without a cluster: which rank is on which node, as `RONDO_NODE` will tell it.

use serde::Deserialize;

/// Ranks on nodes.
///
/// Written as nodes x ranks of each ("2x3") or as the ranks of each node ("1+5+2"), and the order of the
/// ranks: "block", the default, "cyclic" or "scrambled".
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Shape {
    text: String,
    /// The node of each rank.
    nodes: Vec<usize>,
}

impl TryFrom<String> for Shape {
    type Error = String;

    fn try_from(text: String) -> Result<Shape, String> {
        let mut words = text.split_whitespace();
        let widths = words
            .next()
            .and_then(widths)
            .ok_or_else(|| format!("{text}: not like 2x3 or 1+5+2"))?;
        let nodes = match words.next().unwrap_or("block") {
            "block" => block(&widths),
            "cyclic" => cyclic(&widths),
            "scrambled" => scrambled(&widths),
            order => return Err(format!("{text}: {order} is no order of ranks")),
        };
        match words.next() {
            None => Ok(Shape { text, nodes }),
            Some(more) => Err(format!("{text}: what is {more}?")),
        }
    }
}

impl Shape {
    /// As it is written in the list.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn ranks(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The node of each rank, as `on_node.c` wants it.
    pub fn list(&self) -> String {
        let nodes = self.nodes.iter().map(usize::to_string);
        nodes.collect::<Vec<_>>().join(",")
    }
}

/// The ranks of each node, at least one.
fn widths(text: &str) -> Option<Vec<usize>> {
    let number = |word: &str| word.parse().ok().filter(|&n| n > 0);
    match text.split_once('x') {
        Some((nodes, each)) => Some(vec![number(each)?; number(nodes)?]),
        None => text.split('+').map(number).collect(),
    }
}

/// Node after node.
fn block(widths: &[usize]) -> Vec<usize> {
    let nodes = widths.iter().enumerate();
    nodes
        .flat_map(|(node, &width)| std::iter::repeat_n(node, width))
        .collect()
}

/// One rank for each node in turn, as long as it has room.
fn cyclic(widths: &[usize]) -> Vec<usize> {
    let turns = 0..widths.iter().max().copied().unwrap_or(0);
    turns
        .flat_map(|turn| (0..widths.len()).filter(move |&node| widths[node] > turn))
        .collect()
}

/// In no order: a shuffle that is always the same.
fn scrambled(widths: &[usize]) -> Vec<usize> {
    let mut nodes = block(widths);
    let mut random = 5_u32;
    for i in (1..nodes.len()).rev() {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        nodes.swap(i, (random >> 8) as usize % (i + 1));
    }
    nodes
}
