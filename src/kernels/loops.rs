//! The loops of kernels. The compiler makes vector instructions of them: on x86-64 once for all processors, and once
//! for those with AVX2.

use super::{Number, Operator};

/// inout = left op inout, for vectors of the same length.
pub type Loop = fn(left: &[u8], inout: &mut [u8]);

/// An operator on elements of `N` bytes.
trait Join<const N: usize> {
    fn join(left: [u8; N], right: [u8; N]) -> [u8; N];
}

/// The loop, for whatever instructions the function has that it becomes a part of.
#[inline(always)]
fn plain<J: Join<N>, const N: usize>(left: &[u8], inout: &mut [u8]) {
    let (left, inout) = (left.as_chunks().0, inout.as_chunks_mut().0);
    for (inout, &left) in inout.iter_mut().zip(left) {
        *inout = J::join(left, *inout);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide<J: Join<N>, const N: usize>(left: &[u8], inout: &mut [u8]) {
    plain::<J, N>(left, inout);
}

/// The loop for this processor, which is asked once.
fn best<J: Join<N>, const N: usize>(left: &[u8], inout: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, and the function needs nothing else.
        return unsafe { wide::<J, N>(left, inout) };
    }
    plain::<J, N>(left, inout);
}

/// The loop of an expression in two values of a type.
macro_rules! of {
    ($type:ty, $left:ident, $right:ident, $value:expr) => {{
        const N: usize = size_of::<$type>();
        struct This;
        impl Join<N> for This {
            #[inline(always)]
            fn join(left: [u8; N], right: [u8; N]) -> [u8; N] {
                let ($left, $right) = (<$type>::from_ne_bytes(left), <$type>::from_ne_bytes(right));
                let value: $type = $value;
                value.to_ne_bytes()
            }
        }
        Some(best::<This, N>)
    }};
}

/// That of an operator on integers of a size. Only for two operators it makes a difference whether they have a sign.
macro_rules! integer {
    ($operator:expr, $number:expr, $signed:ty, $unsigned:ty) => {
        match ($operator, $number) {
            (Operator::Maximum, Number::Unsigned) => of!($unsigned, a, b, a.max(b)),
            (Operator::Minimum, Number::Unsigned) => of!($unsigned, a, b, a.min(b)),
            (Operator::Maximum, _) => of!($signed, a, b, a.max(b)),
            (Operator::Minimum, _) => of!($signed, a, b, a.min(b)),
            (Operator::Sum, _) => of!($signed, a, b, a.wrapping_add(b)),
            (Operator::Product, _) => of!($signed, a, b, a.wrapping_mul(b)),
            (Operator::BitAnd, _) => of!($signed, a, b, a & b),
            (Operator::BitOr, _) => of!($signed, a, b, a | b),
            (Operator::BitXor, _) => of!($signed, a, b, a ^ b),
            (Operator::And, _) => of!($signed, a, b, ((a != 0) & (b != 0)).into()),
            (Operator::Or, _) => of!($signed, a, b, ((a != 0) | (b != 0)).into()),
            (Operator::Xor, _) => of!($signed, a, b, ((a != 0) ^ (b != 0)).into()),
        }
    };
}

/// That of an operator on floating-point numbers.
macro_rules! float {
    ($operator:expr, $type:ty) => {
        match $operator {
            Operator::Sum => of!($type, a, b, a + b),
            Operator::Product => of!($type, a, b, a * b),
            Operator::Maximum => of!($type, a, b, if a > b { a } else { b }),
            Operator::Minimum => of!($type, a, b, if a < b { a } else { b }),
            Operator::BitAnd | Operator::BitOr | Operator::BitXor => None,
            Operator::And | Operator::Or | Operator::Xor => None,
        }
    };
}

/// The loop for an operator and elements of this kind, `size` bytes each.
pub fn find(operator: Operator, number: Number, size: u64) -> Option<Loop> {
    match (number, size) {
        (Number::Signed | Number::Unsigned, 1) => integer!(operator, number, i8, u8),
        (Number::Signed | Number::Unsigned, 2) => integer!(operator, number, i16, u16),
        (Number::Signed | Number::Unsigned, 4) => integer!(operator, number, i32, u32),
        (Number::Signed | Number::Unsigned, 8) => integer!(operator, number, i64, u64),
        (Number::Float, 4) => float!(operator, f32),
        (Number::Float, 8) => float!(operator, f64),
        _ => None,
    }
}
