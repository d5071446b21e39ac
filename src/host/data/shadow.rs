//! The result of a reduction in memory that the processor cannot touch. Operands are joined where the result is, and
//! the ranks of a node put it there; so they have memory of Rondo's in its place, and it is copied in the end.

use super::operands::{Area, Buffers, Operands, Room, Vectors, no_room};
use crate::host::library::gpu::may_be_foreign;
use crate::host::object::code::Code;
use crate::host::object::failure::Failure;

/// Memory of Rondo's that stands for a result.
pub struct Shadow {
    area: Area,
    elements: u64,
    buffers: Buffers,
    _room: Room,
}

impl Operands<'_> {
    /// Memory in place of the result of so many elements, unless the processor may touch that.
    pub fn shadow(&self, buffers: &Buffers, elements: u64) -> Result<Option<Shadow>, Code> {
        if elements == 0 || !may_be_foreign() {
            return Ok(None);
        }
        let vectors = Vectors {
            first: elements,
            other: 0,
        };
        let mut room = Room::default();
        room.reserve(self.room(vectors, elements))
            .map_err(no_room)?;
        let area = self.area_in(room.address(), vectors);
        let buffers = Buffers {
            result: self.place(area, 0),
            ..*buffers
        };
        Ok(Some(Shadow {
            area,
            elements,
            buffers,
            _room: room,
        }))
    }
}

impl Shadow {
    /// The buffers of the call, with this memory in place of the result.
    pub fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    /// Copies the result to where it belongs in the buffers of the call.
    pub fn hand_out(&self, operands: &Operands, buffers: &Buffers) -> Result<(), Failure> {
        operands.hand_out(buffers, self.area, &(0..self.elements), 0)
    }
}
