//! Operations that end in any order, and leave in the order in which they began.

use proptest::prelude::*;
use rondo::engine::Window;

/// What leaves at the end of operation `number`.
fn end(window: &mut Window<char>, number: u32) -> String {
    let mut left = String::new();
    window.end(number, |what| left.push(what));
    left
}

#[test]
fn it_begins_anew_with_room() {
    let mut window = Window::default();
    window.begin('a');
    window.clear(10);
    assert_eq!((window.gone(), window.held()), (0, 0));
    let bytes = window.bytes();
    assert!(bytes >= 10 * size_of::<(char, bool)>());
    ('a'..='j').for_each(|what| window.begin(what));
    assert_eq!(window.bytes(), bytes);
    assert_eq!(end(&mut window, 0), "a");
}

proptest! {
    #[test]
    fn all_leave_in_their_order(choices in prop::collection::vec(any::<prop::sample::Index>(), 0..60)) {
        let (mut window, mut under_way, mut left) = (Window::default(), vec![], vec![]);
        let mut begun = 0;
        for choice in choices {
            // One of those under way ends, or another one begins.
            let i = choice.index(under_way.len() + 1);
            if i == under_way.len() {
                window.begin(begun);
                under_way.push(begun);
                begun += 1;
            } else {
                let number = under_way.remove(i);
                window.end(number, |what| left.push(what));
            }
            let oldest = under_way.first().copied().unwrap_or(begun);
            prop_assert!(left.iter().copied().eq(0..oldest));
            prop_assert_eq!((window.gone(), window.held()), (oldest, begun - oldest));
            prop_assert!(window.under_way().eq(&under_way));
        }
    }
}
