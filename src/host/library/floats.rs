//! The program's floating-point environment: which exceptions it traps, how it rounds, and which flags are set.
//!
//! Rondo's own arithmetic must not be seen by the program, which may end at an exception or print the flags, and must
//! not depend on it: ranks that round in different ways have to decide alike.

/// The control and status register of SSE: flags, and above them what is trapped, and how numbers are rounded.
#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::asm;

    /// The value that a process starts with, and that Rust's arithmetic expects.
    const START: u32 = 0x1f80;
    /// The flags.
    const FLAGS: u32 = 0x3f;

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct Environment(u32);

    impl Environment {
        #[inline]
        pub fn get() -> Environment {
            let mut value = 0u32;
            // SAFETY: the instruction writes four bytes to a place of four bytes, and every x86-64 processor has it.
            unsafe {
                asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack, preserves_flags));
            }
            Environment(value)
        }

        /// May arithmetic trap, or round in another way than at the start?
        #[inline]
        pub fn is_plain(self) -> bool {
            self.0 & !FLAGS == START
        }

        pub fn plain() -> Environment {
            Environment(START)
        }

        pub fn set(self) {
            // SAFETY: the value is one that the register had, or that of the start; every x86-64 processor has the
            // instruction. What is set is what Rust expects, or what the program had before it called.
            unsafe {
                asm!("ldmxcsr [{}]", in(reg) &self.0, options(nostack, preserves_flags, readonly));
            }
        }
    }
}

/// The registers for control and status of floating-point numbers.
#[cfg(target_arch = "aarch64")]
mod register {
    use std::arch::asm;

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct Environment {
        control: u64,
        status: u64,
    }

    impl Environment {
        #[inline]
        pub fn get() -> Environment {
            let (control, status): (u64, u64);
            // SAFETY: every program may read these registers.
            unsafe {
                asm!("mrs {}, fpcr", "mrs {}, fpsr", out(reg) control, out(reg) status,
                    options(nomem, nostack, preserves_flags));
            }
            Environment { control, status }
        }

        /// May arithmetic trap, or round in another way than at the start?
        #[inline]
        pub fn is_plain(self) -> bool {
            self.control == 0
        }

        pub fn plain() -> Environment {
            Environment {
                control: 0,
                status: 0,
            }
        }

        pub fn set(self) {
            // SAFETY: the values are ones that the registers had, or those of the start. What is set is what Rust
            // expects, or what the program had before it called.
            unsafe {
                asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) self.control, in(reg) self.status,
                    options(nostack, preserves_flags));
            }
        }
    }
}

/// Of other processors nothing is known here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct Environment;

    impl Environment {
        pub fn get() -> Environment {
            Environment
        }

        pub fn is_plain(self) -> bool {
            true
        }

        pub fn plain() -> Environment {
            Environment
        }

        pub fn set(self) {}
    }
}

use register::Environment;

/// Sets the environment of the program again, also when an exception of the program's passes by.
struct Restore(Environment);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        if Environment::get() != self.0 {
            self.0.set();
        }
    }
}

/// Runs `work` without traps and rounding to nearest, and leaves no flags behind.
#[inline]
pub fn with_plain_floats<R>(work: impl FnOnce() -> R) -> R {
    let program = Environment::get();
    let _restore = Restore(program);
    if !program.is_plain() {
        Environment::plain().set();
    }
    apart(work)
}

/// A call of its own, so that no arithmetic is moved out of it.
#[inline(never)]
fn apart<R>(work: impl FnOnce() -> R) -> R {
    work()
}
