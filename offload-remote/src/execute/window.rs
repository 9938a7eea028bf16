//! Concurrency window: additive increase while workers start actions at once, decrease where actions queue.

use std::sync::{Mutex, MutexGuard, PoisonError};

use offload_protocol::remote::Room;

use super::times::ActionTimes;

/// The window over the actions of all build scripts. A single build script sees too few of them.
#[derive(Debug)]
pub(super) struct Window {
    room: Mutex<Room>,
    most: u64,
}

/// The initial window. It doubles in the time of one action while workers are free.
const INITIAL: u64 = 2;
/// Workers are busy if an action queues longer than this fraction of its time on the worker.
const BUSY_FRACTION: u64 = 4;

impl Window {
    /// A window of up to `most` actions.
    pub(super) fn new(most: usize) -> Window {
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        Window { room: Mutex::new(Room { commands: INITIAL.min(most), was_full: false }), most }
    }

    pub(super) fn room(&self) -> Room {
        *self.lock()
    }

    /// Records the times of an action. The window of a server that records none grows to its limit.
    pub(super) fn record(&self, times: ActionTimes) {
        let mut room = self.lock();
        if times.waited > times.worked / BUSY_FRACTION {
            room.was_full = true;
            room.commands = room.commands.saturating_sub(1).max(1);
        } else {
            room.commands = room.commands.saturating_add(1).min(self.most);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: ActionTimes = ActionTimes { waited: 10, worked: 100 };
    const LATE: ActionTimes = ActionTimes { waited: 300, worked: 100 };

    #[test]
    fn free_workers_get_twice_as_many_each_time_up_to_the_limit() {
        let window = Window::new(20);
        let mut given = Vec::new();
        for _ in 0..5 {
            let Room { commands, was_full } = window.room();
            assert!(!was_full);
            given.push(commands);
            (0..commands).for_each(|_| window.record(QUICK));
        }
        assert_eq!(given, [2, 4, 8, 16, 20]);
        window.record(ActionTimes::default());
        assert_eq!(window.room().commands, 20);
    }

    #[test]
    fn busy_workers_get_fewer_but_never_none() {
        let window = Window::new(20);
        window.record(QUICK);
        window.record(LATE);
        assert_eq!(window.room(), Room { commands: 2, was_full: true });
        (0..5).for_each(|_| window.record(LATE));
        assert_eq!(window.room(), Room { commands: 1, was_full: true });
    }
}
