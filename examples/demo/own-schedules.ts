/** The user-created schedules that each start of the demo brings back, by the same `PUT` that users send. */
export const OWN_SCHEDULES = {
  healthy: { workflow: 'ping', every: '5s', note: 'Runs every five seconds' },
  failing: {
    workflow: 'fail',
    every: '5s',
    pauseAfterFailures: 3,
    note: 'Its handler throws: after three failures in a row it is paused',
  },
  'on-holiday': {
    workflow: 'ping',
    cron: '0 8 * * 1-5',
    timezone: 'Europe/Berlin',
    paused: true,
    note: 'Back in September',
  },
  overlapping: {
    workflow: 'slow',
    every: '4s',
    overlap: 'skip',
    note: 'Takes six seconds, so every other window is skipped',
  },
  nightly: {
    workflow: 'ping',
    cron: '30 2 * * *',
    timezone: 'Europe/Berlin',
    note: 'A time that does not exist in the night when the clocks go forward, and comes twice when they go back',
  },
} as const
