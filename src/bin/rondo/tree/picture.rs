//! Trees as pictures: for Graphviz, and as SVG.

use super::Model;
use rondo::tree::Tree;
use std::fmt::Write;

/// The tree in the language of Graphviz. Edges point to the receiver, and say in which place it receives them and how
/// many bytes.
pub fn dot(tree: &Tree) -> String {
    let mut dot = String::from("digraph tree {\n  rankdir = BT\n  node [shape = circle]\n");
    let mut line = |text: String| writeln!(dot, "  {text}").expect("a string takes everything");
    line(format!("{} [shape = doublecircle]", tree.root()));
    for rank in 0..tree.p() {
        for (place, &child) in (1..).zip(tree.children(rank)) {
            line(format!(
                "{child} -> {rank} [label = \"{place}: {}\"]",
                tree.size(child)
            ));
        }
    }
    dot + "}\n"
}

/// Pixels between ranks, between levels, around everything; and of circles.
const RANK: usize = 32;
const LEVEL: usize = 64;
const MARGIN: usize = 40;
const RADIUS: usize = 12;

/// The tree as a drawing: ranks from left to right, the root on top. The number above a rank is its place among the
/// messages of its receiver; a dashed line has no bytes. Pointing at a rank shows its message and times.
pub fn svg(tree: &Tree, title: &str, model: &Model) -> String {
    let ready = tree.ready(&model.cost);
    let mut level = vec![0; tree.p()];
    let mut todo = vec![tree.root()];
    let mut body = String::new();
    let mut circles = String::new();
    let x = |rank: usize| MARGIN + RADIUS + rank * RANK;
    let y = |level: usize| 2 * MARGIN + level * LEVEL;
    let fine = "a string takes everything";
    while let Some(rank) = todo.pop() {
        let (cx, cy) = (x(rank), y(level[rank]));
        for (place, &child) in (1..).zip(tree.children(rank)) {
            level[child] = level[rank] + 1;
            todo.push(child);
            let (x, y) = (x(child), y(level[child]));
            let dashed = if tree.size(child) == 0 {
                " stroke-dasharray=\"3 3\""
            } else {
                ""
            };
            writeln!(
                body,
                "<line x1=\"{cx}\" y1=\"{cy}\" x2=\"{x}\" y2=\"{y}\"{dashed}/>"
            )
            .expect(fine);
            let above = y - RADIUS - 3;
            writeln!(
                circles,
                "<text class=\"place\" x=\"{x}\" y=\"{above}\">{place}</text>"
            )
            .expect(fine);
        }
        let class = if rank == tree.root() {
            " class=\"root\""
        } else {
            ""
        };
        let (bytes, time) = (tree.size(rank), model.show(ready[rank]));
        let text = cy + 4;
        writeln!(
            circles,
            "<g{class}><title>rank {rank}: {bytes} bytes at {time}</title>\
             <circle cx=\"{cx}\" cy=\"{cy}\" r=\"{RADIUS}\"/><text x=\"{cx}\" y=\"{text}\">{rank}</text></g>"
        )
        .expect(fine);
    }
    let levels = level.into_iter().max().unwrap_or(0);
    let time = model.show(tree.completion(&model.cost));
    let caption = escape(&format!("{title}: completion {time}"));
    // Room for the caption, at about 7 pixels for each character.
    let width = (x(tree.p() - 1) + MARGIN).max(MARGIN * 2 + 7 * caption.len());
    let height = y(levels) + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<style>\n\
         text {{ font: 11px sans-serif; text-anchor: middle }}\n\
         .caption {{ font-size: 13px; text-anchor: start }}\n\
         .place {{ font-size: 9px; fill: #666; stroke: white; stroke-width: 3px; paint-order: stroke }}\n\
         line {{ stroke: #888 }}\n\
         circle {{ fill: #e8f0fe; stroke: #345 }}\n\
         .root circle {{ fill: #345 }}\n.root text {{ fill: white }}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text class=\"caption\" x=\"{MARGIN}\" y=\"{MARGIN}\">{caption}</text>\n\
         {body}{circles}</svg>\n"
    )
}

/// Text in which nothing is markup.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
