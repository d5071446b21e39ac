//! Kernels against plain loops over single elements.

use rondo::kernels::{Kernel, Number, Operator};
use std::fmt::Debug;

const OPERATORS: [Operator; 10] = [
    Operator::Sum,
    Operator::Product,
    Operator::Maximum,
    Operator::Minimum,
    Operator::BitAnd,
    Operator::BitOr,
    Operator::BitXor,
    Operator::And,
    Operator::Or,
    Operator::Xor,
];

/// A type of elements.
trait Element: Copy + Debug + 'static {
    const NUMBER: Number;
    const SIZE: usize = size_of::<Self>();
    /// Values at the ends of the range, where something may go wrong.
    const ENDS: &'static [Self];
    fn of(bytes: &[u8]) -> Self;
    fn bytes(self) -> Vec<u8>;
    /// `None` if there is no kernel for it.
    fn join(operator: Operator, left: Self, right: Self) -> Option<Self>;
}

macro_rules! integers {
    ($($type:ty: $number:ident, $wide:ty;)*) => {$(
        impl Element for $type {
            const NUMBER: Number = Number::$number;
            const ENDS: &'static [$type] =
                &[0, 1, 2, <$type>::MAX, <$type>::MAX - 1, <$type>::MIN, <$type>::MIN + 1, !0, !0 - 1];
            fn of(bytes: &[u8]) -> $type {
                <$type>::from_ne_bytes(bytes.try_into().unwrap())
            }
            fn bytes(self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }
            // The low bits of results in a wider type.
            fn join(operator: Operator, left: $type, right: $type) -> Option<$type> {
                let (a, b) = (left as $wide, right as $wide);
                Some(match operator {
                    Operator::Sum => (a + b) as $type,
                    Operator::Product => a.wrapping_mul(b) as $type,
                    Operator::Maximum => if a > b { left } else { right },
                    Operator::Minimum => if a < b { left } else { right },
                    Operator::BitAnd => left & right,
                    Operator::BitOr => left | right,
                    Operator::BitXor => left ^ right,
                    Operator::And => <$type>::from(left != 0 && right != 0),
                    Operator::Or => <$type>::from(left != 0 || right != 0),
                    Operator::Xor => <$type>::from((left != 0) != (right != 0)),
                })
            }
        }
    )*};
}

integers! {
    i8: Signed, i128;
    i16: Signed, i128;
    i32: Signed, i128;
    i64: Signed, i128;
    u8: Unsigned, u128;
    u16: Unsigned, u128;
    u32: Unsigned, u128;
    u64: Unsigned, u128;
}

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl Element for $type {
            const NUMBER: Number = Number::Float;
            const ENDS: &'static [$type] = &[
                0.0, -0.0, 1.0, -1.0, <$type>::MAX, <$type>::MIN, <$type>::MIN_POSITIVE, <$type>::INFINITY,
                <$type>::NEG_INFINITY, <$type>::NAN, -<$type>::NAN, <$type>::EPSILON, 1e-45 as $type,
            ];
            fn of(bytes: &[u8]) -> $type {
                <$type>::from_ne_bytes(bytes.try_into().unwrap())
            }
            fn bytes(self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }
            fn join(operator: Operator, left: $type, right: $type) -> Option<$type> {
                // Kept apart, so that no vector instructions are made of this loop.
                let (left, right) = (std::hint::black_box(left), std::hint::black_box(right));
                match operator {
                    Operator::Sum => Some(left + right),
                    Operator::Product => Some(left * right),
                    Operator::Maximum => Some(if left > right { left } else { right }),
                    Operator::Minimum => Some(if left < right { left } else { right }),
                    Operator::BitAnd
                    | Operator::BitOr
                    | Operator::BitXor
                    | Operator::And
                    | Operator::Or
                    | Operator::Xor => None,
                }
            }
        }
    )*};
}

floats! { f32 f64 }

/// Vectors of values at the ends, of few bits, and of any bits.
fn vector<T: Element>(random: &mut fastrand::Rng, elements: usize) -> Vec<u8> {
    let element = |_| match random.u8(..4) {
        0 | 1 => T::ENDS[random.usize(..T::ENDS.len())].bytes(),
        2 => {
            let mut bytes = vec![0; T::SIZE];
            bytes[random.usize(..T::SIZE)] = random.u8(..4);
            bytes
        }
        _ => (0..T::SIZE).map(|_| random.u8(..)).collect(),
    };
    (0..elements).flat_map(element).collect()
}

/// All bits are the same; where both operands are NaN, the result is any NaN.
fn agree<T: Element>(operator: Operator, left: &[u8], right: &[u8], got: &[u8], form: &str) {
    let is_nan = |bytes: &[u8]| match (T::NUMBER, T::SIZE) {
        (Number::Float, 4) => f32::of(bytes).is_nan(),
        (Number::Float, _) => f64::of(bytes).is_nan(),
        _ => false,
    };
    assert_eq!(got.len(), left.len());
    for i in (0..got.len()).step_by(T::SIZE) {
        let [left, right, got] = [left, right, got].map(|vector| &vector[i..i + T::SIZE]);
        let want = T::join(operator, T::of(left), T::of(right)).expect("there is a kernel");
        let both = is_nan(left) && is_nan(right) && is_nan(got);
        let (a, b) = (T::of(left), T::of(right));
        assert!(
            both || got == want.bytes(),
            "{form}: {operator:?} of {a:?} and {b:?}: {:?}, not {want:?}",
            T::of(got)
        );
    }
}

/// Both forms, at addresses that are `shift` bytes beyond an aligned one.
fn check<T: Element>(
    operator: Operator,
    elements: usize,
    shift: usize,
    random: &mut fastrand::Rng,
) {
    let kernel = Kernel::of(operator, T::NUMBER, T::SIZE as u64);
    if T::join(operator, T::ENDS[0], T::ENDS[0]).is_none() {
        return assert!(kernel.is_none());
    }
    let kernel = kernel.unwrap_or_else(|| panic!("{operator:?} on {:?}", T::ENDS));
    let bytes = elements * T::SIZE;
    let (left, right) = (vector::<T>(random, elements), vector::<T>(random, elements));
    // Between margins that must stay.
    let place = |vector: &[u8]| [&vec![0xa5; 64 + shift], vector, &[0xa5; 64]].concat();
    let at = 64 + shift..64 + shift + bytes;
    let stay = |memory: &[u8]| {
        let [before, behind] = [&memory[..at.start], &memory[at.end..]];
        assert!(before.iter().chain(behind).all(|&byte| byte == 0xa5));
    };

    let (from, mut to) = (place(&left), place(&right));
    kernel.join(&from[at.clone()], &mut to[at.clone()]);
    stay(&to);
    agree::<T>(operator, &left, &right, &to[at.clone()], "join");
    let joined = to[at.clone()].to_vec();

    let (mut to, mut from) = (place(&left), place(&right));
    kernel.join_right(&mut to[at.clone()], &mut from[at.clone()]);
    stay(&to);
    assert_eq!(to[at], joined, "join_right: {operator:?}");
}

fn check_type<T: Element>() {
    let mut random = fastrand::Rng::with_seed(T::SIZE as u64);
    for operator in OPERATORS {
        for elements in (0..=70).chain([1000, 8192, 20_001]) {
            for shift in [0, 1, T::SIZE, 15] {
                check::<T>(operator, elements, shift, &mut random);
            }
        }
    }
}

#[test]
fn integers_are_those_of_a_plain_loop() {
    check_type::<i8>();
    check_type::<i16>();
    check_type::<i32>();
    check_type::<i64>();
    check_type::<u8>();
    check_type::<u16>();
    check_type::<u32>();
    check_type::<u64>();
}

#[test]
fn floats_are_those_of_a_plain_loop() {
    check_type::<f32>();
    check_type::<f64>();
}

/// Every pair of bytes, so that no pair of values is left out.
#[test]
fn all_pairs_of_bytes() {
    let left: Vec<u8> = (0..=u16::MAX).map(|pair| (pair >> 8) as u8).collect();
    let right: Vec<u8> = (0..=u16::MAX).map(|pair| pair as u8).collect();
    for operator in OPERATORS {
        let mut signed = right.clone();
        Kernel::of(operator, Number::Signed, 1)
            .unwrap()
            .join(&left, &mut signed);
        agree::<i8>(operator, &left, &right, &signed, "signed");
        let mut unsigned = right.clone();
        Kernel::of(operator, Number::Unsigned, 1)
            .unwrap()
            .join(&left, &mut unsigned);
        agree::<u8>(operator, &left, &right, &unsigned, "unsigned");
    }
}

#[test]
fn other_sizes_have_no_kernel() {
    for operator in OPERATORS {
        for number in [Number::Signed, Number::Unsigned, Number::Float] {
            for size in [0, 3, 5, 10, 12, 16, 32] {
                assert!(Kernel::of(operator, number, size).is_none());
            }
        }
        for size in [1, 2] {
            assert!(Kernel::of(operator, Number::Float, size).is_none());
        }
    }
}
