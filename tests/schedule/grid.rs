//! Grids: the dimensions have the ranks that there are, and a way and its way back end where they began.

use rondo::schedule::Grid;

fn sizes(grid: &Grid) -> Vec<u32> {
    grid.dimensions().map(|dimension| dimension.size).collect()
}

fn product(grid: &Grid) -> u64 {
    sizes(grid).iter().map(|&size| u64::from(size)).product()
}

#[test]
fn dimensions_are_those_that_are_known() {
    assert_eq!(sizes(&Grid::hypercube(64)), [2; 6]);
    assert_eq!(sizes(&Grid::hypercube(60)), [2, 2, 3, 5]);
    assert_eq!(sizes(&Grid::hypercube(67)), [67]);
    assert_eq!(sizes(&Grid::mesh(36)), [6, 6]);
    assert_eq!(sizes(&Grid::mesh(12)), [4, 3]);
    assert_eq!(sizes(&Grid::mesh(13)), [13]);
    assert_eq!(sizes(&Grid::mesh_around(13)), [5, 3]);
    assert_eq!(sizes(&Grid::hypercube_around(13)), [2; 4]);
    let p = i32::MAX as u32;
    assert_eq!(sizes(&Grid::hypercube(p)), [p]);
    assert_eq!(sizes(&Grid::mesh(1 << 20)), [1 << 10; 2]);
}

#[test]
fn a_grid_has_the_ranks_that_there_are_and_a_distance_for_any_two() {
    for p in (1..=64).chain([65, 67, 81, 129, 161]) {
        for grid in [Grid::mesh_around(p), Grid::hypercube_around(p)] {
            assert!(product(&grid) >= p.into(), "p = {p}");
        }
        for grid in [Grid::mesh(p), Grid::hypercube(p)] {
            assert_eq!(product(&grid), u64::from(p));
            for rank in 0..p {
                let mut after: Vec<u32> = (0..p).map(|far| grid.after(rank, far)).collect();
                for (far, &other) in (0..).zip(&after) {
                    assert_eq!(grid.before(other, far), rank, "p = {p}");
                }
                after.sort_unstable();
                assert!(after.into_iter().eq(0..p), "p = {p}");
            }
        }
    }
}
