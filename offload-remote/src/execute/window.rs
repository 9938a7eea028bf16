//! How many commands the workers have room for: more while they start at once, fewer where they wait.

use std::sync::{Mutex, MutexGuard, PoisonError};

use offload_format::remote::Room;

use super::times::Times;

/// What all commands so far have shown. A build script sees a few of them, and what it has learnt ends with it.
#[derive(Debug)]
pub(super) struct Window {
    room: Mutex<Room>,
    most: u64,
}

/// So many commands are tried at first. They become twice as many in the time that one takes, where workers are free.
const FIRST: u64 = 2;
/// Whoever waits for a worker longer than this share of the work has met busy ones.
const PATIENCE: u64 = 4;

impl Window {
    /// For up to `most` commands at once.
    pub(super) fn new(most: usize) -> Window {
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        Window { room: Mutex::new(Room { commands: FIRST.min(most), was_full: false }), most }
    }

    pub(super) fn room(&self) -> Room {
        *self.lock()
    }

    /// A command has ended, and took that long. A server that does not tell gets as many as it may.
    pub(super) fn learn(&self, times: Times) {
        let mut room = self.lock();
        if times.waited > times.worked / PATIENCE {
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

    const QUICK: Times = Times { waited: 10, worked: 100 };
    const LATE: Times = Times { waited: 300, worked: 100 };

    #[test]
    fn free_workers_get_twice_as_many_each_time_up_to_the_limit() {
        let window = Window::new(20);
        let mut given = Vec::new();
        for _ in 0..5 {
            let Room { commands, was_full } = window.room();
            assert!(!was_full);
            given.push(commands);
            (0..commands).for_each(|_| window.learn(QUICK));
        }
        assert_eq!(given, [2, 4, 8, 16, 20]);
        window.learn(Times::default());
        assert_eq!(window.room().commands, 20);
    }

    #[test]
    fn busy_workers_get_fewer_but_never_none() {
        let window = Window::new(20);
        window.learn(QUICK);
        window.learn(LATE);
        assert_eq!(window.room(), Room { commands: 2, was_full: true });
        (0..5).for_each(|_| window.learn(LATE));
        assert_eq!(window.room(), Room { commands: 1, was_full: true });
    }
}
