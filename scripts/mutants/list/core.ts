import { type Mutant, mutantsOf } from '../mutant.ts'

const ALARM = ['test/workerd/physical-alarm.workerd.test.ts']
const FAILING = ['test/workerd/failing-passes.workerd.test.ts']
const REFUSED = ['test/simulation/regressions/refused-alarms.test.ts']
const OUTCOMES = ['test/workerd/outcomes.workerd.test.ts']
const LIMITS = ['test/workerd/time-limits.workerd.test.ts']
const REG_OUTCOMES = ['test/simulation/regressions/outcomes.test.ts']
const DELAYS = ['test/simulation/regressions/delays.test.ts']
const EXHAUSTIVE = ['test/simulation/exhaustive.test.ts']

const physicalAlarm = mutantsOf('core/physical-alarm.ts', FAILING, [
  [
    'The alarm is computed before an await: it is read once more, then written',
    'at < NEVER ? storage.setAlarm(at) : storage.deleteAlarm()',
    'storage.getAlarm().then(() => (at < NEVER ? storage.setAlarm(at) : storage.deleteAlarm()))',
    EXHAUSTIVE,
  ],
  [
    'An alarm that is written while it is read is believed to be what was read',
    'if (taken !== alarm.taken) return false',
    '',
    EXHAUSTIVE,
  ],
  [
    'An alarm that cannot be read fails the pass',
    "report('alarm_unreadable', error)",
    'throw error',
    ['test/workerd/keep-alive.workerd.test.ts'],
  ],
  [
    'An alarm that was refused is believed to be armed',
    `alarm.forget()
        onRefused(error)`,
    'onRefused(error)',
    REFUSED,
  ],
  [
    'Nobody is told that an alarm was refused',
    `alarm.forget()
        onRefused(error)`,
    'alarm.forget()',
    REFUSED,
  ],
  [
    'A refusal that was rolled back fails later calls',
    `alarm.at = undefined
      alarm.taken = Promise.resolve()`,
    'alarm.at = undefined',
    REFUSED,
  ],
])

const alarmTarget = mutantsOf(
  'core/alarm-target.ts',
  ['src/core/alarm-target.test.ts'],
  [
    [
      'A past alarm is taken for armed',
      'armedAt !== undefined && (armedAt > now || passOpen) ? armedAt : NEVER',
      'armedAt !== undefined ? armedAt : NEVER',
      ALARM,
    ],
    [
      'During a pass an alarm that has passed is taken for lost',
      '(armedAt > now || passOpen)',
      'armedAt > now',
    ],
    [
      'The alarm is armed more than a year ahead',
      'return Math.min(Math.max(exactAt, earliest), horizon)',
      'return Math.max(exactAt, earliest)',
    ],
    [
      'The alarm is armed at the present instant',
      'const earliest = now + ALARM_AHEAD_MS',
      'const earliest = now',
    ],
    [
      'A fallback alarm is written anew though an earlier one stands',
      'return armed <= fallbackAt ? armed : Math.max(fallbackAt, earliest)',
      'return Math.max(fallbackAt, earliest)',
    ],
    [
      'A fallback alarm is armed only when no tick is to come',
      'if (fallbackAt < exactAt) return',
      'if (fallbackAt < exactAt && exactAt === NEVER) return',
    ],
    [
      'Work that is due while a pass is open arms the alarm again',
      'if (exactAt <= now && armed <= now) return armed',
      '',
    ],
    [
      'An alarm at the horizon is written anew by each call',
      'if (exactAt > horizon && armed > now + ALARM_HORIZON_MS / 2 && armed <= horizon) return armed',
      '',
    ],
    [
      'The alarm is moved to an earlier time only',
      'return Math.min(Math.max(exactAt, earliest), horizon)',
      `if (armed > now && armed <= exactAt) return armed
  return Math.min(Math.max(exactAt, earliest), horizon)`,
    ],
  ],
)

const permits = mutantsOf(
  'core/permits.ts',
  ['src/core/permits.test.ts'],
  [
    ['The last to ask gets the next permit', 'waiting.shift()', 'waiting.pop()'],
    ['A permit that is given back twice counts twice', 'if (!held) return', ''],
    [
      'A permit that is passed on is given out a second time',
      `if (next) next()
      else free += 1`,
      `next?.()
      free += 1`,
    ],
  ],
)

const retries = [
  ...mutantsOf(
    'core/retries.ts',
    ['src/core/retries.test.ts'],
    [
      ['The delay function is asked for one attempt too few', 'delay(attempt)\n', 'delay(attempt - 1)\n'],
      [
        'A delay may be longer than 24 hours',
        `Math.round(Math.min(Math.max(given, 0), MAX_RETRY_DELAY_MS)) : given
    checkInteger('delay()', delayMs, 0, MAX_RETRY_DELAY_MS)`,
        `Math.round(Math.max(given, 0)) : given
    checkInteger('delay()', delayMs, 0, Number.MAX_SAFE_INTEGER)`,
      ],
      ['The default delay has no random part', 'randomInteger(Math.ceil(ms / 2), ms)', 'ms', DELAYS],
      ['A delay function that fails means no delay', 'return defaultDelay(attempt)', 'return 0'],
    ],
  ),
  ...mutantsOf(
    'core/retry.ts',
    ['src/utils/utils.test.ts'],
    [
      ['The first delay is twice the base', 'Math.min(attempt - 1, 31)', 'Math.min(attempt, 31)'],
      ['Delays stop doubling too early', 'Math.min(attempt - 1, 31)', 'Math.min(attempt - 1, 10)'],
      ['A random integer is never the largest', '(most - least + 1)', '(most - least)'],
    ],
  ),
]

const NO_TIMERS = ['test/workerd/no-timers.workerd.test.ts']

const timers = mutantsOf(
  'core/timers.ts',
  ['src/core/timers.test.ts'],
  [
    [
      'The signal of a handler that is late is not aborted',
      'callHook(() => controller().abort(error), undefined)',
      '',
    ],
    [
      'What an abort listener throws escapes',
      'callHook(() => controller().abort(error), undefined)',
      'controller().abort(error)',
      LIMITS,
    ],
    ['Each look at the signal makes another one', 'made ??= new AbortController()', 'new AbortController()'],
    ['The timer of a handler that has ended is left', '.finally(() => timer?.cancel())', ''],
    [
      'A run is not called when the runtime refuses the timer of its limit',
      'const timer = timerIfAny(clock, ms, () => {',
      'clock.setTimer(() => {}, ms).cancel()\n    const timer = timerIfAny(clock, ms, () => {',
      NO_TIMERS,
    ],
    ['A timer that fires before its time is believed', 'ms > 0 && ms < last', 'ms > 0 && last === NEVER'],
    ['A clock that was set back is waited for', 'ms > 0 && ms < last', 'ms > 0', REG_OUTCOMES],
  ],
)

const rest = [
  ...mutantsOf(
    'core/persist.ts',
    ['test/workerd/outcomes.workerd.test.ts'],
    [
      [
        'A write that records what has happened is given up when it fails',
        "report('write_failed', error)",
        "report('write_failed', error)\n      throw error",
      ],
      [
        'A write that records what has happened is first tried a turn later',
        `for (;;) {
    try {`,
        `await wait(port.clock, 0)
  for (;;) {
    try {`,
      ],
    ],
  ),
  ...mutantsOf(
    'core/report.ts',
    ['src/core/report.test.ts'],
    [
      [
        'A console that throws stops its caller',
        `try {
    console.error(line)
  } catch {}`,
        'console.error(line)',
      ],
      [
        'A hook that rejects is left unhandled',
        ".catch((error: unknown) => report('hook_failed', error))",
        '',
      ],
      [
        'A hook that throws stops its caller',
        ';(async () => hook?.(argument))()',
        ';Promise.resolve(hook?.(argument))',
      ],
      [
        'Without a hook a dead letter is not logged',
        'if (!hook && !isLogged) return',
        'if (!hook) return',
        OUTCOMES,
      ],
      [
        'A dead letter is not logged',
        "isLogged = details.type === 'dead_lettered'",
        "isLogged = details.type === 'never'",
        OUTCOMES,
      ],
    ],
  ),
  ...mutantsOf(
    'core/thrown.ts',
    ['src/core/thrown.test.ts'],
    [
      [
        'The message of an error is stored whole',
        `value.length > maxLength ? \`\${value.slice(0, maxLength - 1)}…\` : value`,
        'value',
      ],
      [
        'A hostile error fails what describes it',
        `} catch {
    return '(unreadable)'
  }`,
        `} catch (error) {
    throw error
  }`,
      ],
    ],
  ),
  ...mutantsOf(
    'core/checks.ts',
    ['src/core/checks.test.ts'],
    [
      [
        'An option has no upper limit',
        '(value as number) >= min && (value as number) <= max',
        '(value as number) >= min',
      ],
      [
        'A text that SQLite would cut is accepted',
        'value.length > max || /[\\0\\p{Cs}]/u.test(value)',
        'value.length > max',
      ],
    ],
  ),
  ...mutantsOf(
    'core/sql.ts',
    ['test/workerd/lifecycle.workerd.test.ts'],
    [
      [
        'A change of a row that is gone counts as made',
        'rowsWritten ?? 0) > 0',
        'rowsWritten ?? 0) >= 0',
        ['test/workerd/versions.workerd.test.ts'],
      ],
      [
        'A table that is not there fails every question',
        'if (/no such table: durability/.test(String(error))) return undefined',
        '',
      ],
      [
        'A statement that fails is taken for one on a missing table',
        'if (/no such table: durability/.test(String(error))) return undefined',
        'return undefined',
        ['test/simulation/faults.test.ts'],
      ],
    ],
  ),
]

export const CORE: readonly Mutant[] = [
  ...physicalAlarm,
  ...alarmTarget,
  ...permits,
  ...retries,
  ...timers,
  ...rest,
]
