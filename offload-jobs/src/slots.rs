//! Slots for actions on remote workers.

use offload_protocol::remote::Room;

/// The actions of this build script that may run on remote workers at once.
#[derive(Debug)]
pub(super) struct RemoteSlots {
    /// Measured by the client process over the actions of all build scripts.
    room: Room,
    limit: usize,
    in_use: usize,
    /// The threads that wait with an action.
    waiting: usize,
    local_processors: usize,
}

impl RemoteSlots {
    /// Up to `limit` slots; one until a reply says how much room there is.
    pub(super) fn new(limit: usize) -> RemoteSlots {
        let local_processors = std::thread::available_parallelism().map_or(1, usize::from);
        let room = Room { commands: 1, was_full: false };
        RemoteSlots { room, limit, in_use: 0, waiting: 0, local_processors }
    }

    pub(super) fn set_room(&mut self, room: Room) {
        self.room = room;
    }

    pub(super) fn add_waiting(&mut self) {
        self.waiting = self.waiting.saturating_add(1);
    }

    pub(super) fn remove_waiting(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }

    /// Takes a slot, if one is free. Where workers are busy, the last actions are left to local processors, which would
    /// idle while those wait for a worker.
    pub(super) fn try_acquire(&mut self) -> bool {
        let room = usize::try_from(self.room.commands).unwrap_or(usize::MAX);
        let is_left_to_local = self.room.was_full && self.waiting <= self.local_processors;
        if is_left_to_local || self.in_use >= room.min(self.limit) {
            return false;
        }
        self.in_use = self.in_use.saturating_add(1);
        true
    }

    pub(super) fn release(&mut self) {
        self.in_use = self.in_use.saturating_sub(1);
    }

    #[cfg(test)]
    pub(super) fn in_use(&self) -> usize {
        self.in_use
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acquires slots for waiting actions while there are any, and returns their number.
    fn acquire_all(slots: &mut RemoteSlots) -> usize {
        let mut count = 0;
        while slots.waiting > 0 && slots.try_acquire() {
            slots.remove_waiting();
            count += 1;
        }
        count
    }

    fn slots(waiting: usize) -> RemoteSlots {
        let mut slots = RemoteSlots::new(128);
        slots.local_processors = 2;
        slots.waiting = waiting;
        slots
    }

    #[test]
    fn free_workers_get_as_many_actions_as_there_is_room_for() {
        let mut slots = slots(1000);
        assert_eq!(acquire_all(&mut slots), 1);
        slots.set_room(Room { commands: 16, was_full: false });
        assert_eq!(acquire_all(&mut slots), 15);
        slots.set_room(Room { commands: u64::MAX, was_full: false });
        assert_eq!(acquire_all(&mut slots), 112);
        slots.release();
        assert_eq!(acquire_all(&mut slots), 1);
    }

    #[test]
    fn busy_workers_leave_the_last_actions_to_local_processors() {
        let mut slots = slots(60);
        slots.set_room(Room { commands: 1, was_full: true });
        let mut remote = 0;
        while acquire_all(&mut slots) > 0 {
            remote += 1;
            slots.release();
        }
        assert_eq!(remote, 58);
        assert_eq!(slots.waiting(), 2);
    }
}
