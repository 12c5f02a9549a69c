import { type Mutant, mutantsOf } from '../mutant.ts'

const NO_TIMERS = ['test/workerd/no-timers.workerd.test.ts']
const ALARM = ['test/workerd/physical-alarm.workerd.test.ts']
const FAILING = ['test/workerd/failing-passes.workerd.test.ts']
const HELPERS = ['test/workerd/helpers.workerd.test.ts']
const HISTORY = ['test/simulation/history.test.ts']
const OTHER_CODE = ['test/simulation/other-code.test.ts']
const EXHAUSTIVE = ['test/simulation/exhaustive.test.ts']
const OPTIONS = ['test/workerd/options.workerd.test.ts']
const EARLY = ['test/simulation/regressions/early-passes.test.ts']
const OWN = ['test/simulation/regressions/helpers.test.ts']
const REFUSED = ['test/simulation/regressions/refused-alarms.test.ts']
const REENTRANCY = ['test/workerd/reentrancy.workerd.test.ts']

const rowsAndAlarm = mutantsOf('core/scheduler.ts', FAILING, [
  [
    'Rows and alarm are written without a transaction',
    `return storage.transactionSync(() => {
        const result = write()
        arm()
        return result
      })`,
    `const result = write()
      arm()
      return result`,
  ],
  [
    'The alarm is armed in a later turn than the rows it covers',
    `return storage.transactionSync(() => {
        const result = write()
        arm()
        return result
      })`,
    `const result = storage.transactionSync(write)
      void storage.sync().then(() => orAlarmLost(arm))
      return result`,
    EXHAUSTIVE,
  ],
  [
    'The re-arm is forgotten when rows are written',
    `const result = write()
        arm()
        return result`,
    'return write()',
    EXHAUSTIVE,
  ],
  [
    'The alarm is computed before an await, and written after it',
    'if (target !== physical.at && (target < NEVER || physical.at !== undefined)) physical.write(target)',
    `if (target !== physical.at && (target < NEVER || physical.at !== undefined))
        void storage.sync().then(() => physical.write(target))`,
    EXHAUSTIVE,
  ],
  [
    'What is believed of the alarm outlives the transaction that wrote it and was rolled back',
    `physical.forget()
      throw error`,
    'throw error',
    OTHER_CODE,
  ],
  [
    'A call believes what it last knew of the alarm, which its caller may have rolled back',
    `physical.at = undefined
          await undefined`,
    'await undefined',
    REENTRANCY,
  ],
  [
    'A call does not look at the alarm as it really is',
    `await physical.refresh()
          // During a pass`,
    '// During a pass',
    ALARM,
  ],
  [
    'A call resolves before the platform has taken its alarm',
    `runDue(isOpen())
          await physical.taken`,
    'runDue(isOpen())',
    REFUSED,
  ],
  [
    'A pass returns before the platform has taken its alarm',
    `if (!standsRight || isHeld()) arm()
      await physical.taken`,
    'if (!standsRight || isHeld()) arm()',
    REFUSED,
  ],
])

const passes = mutantsOf('core/scheduler.ts', ALARM, [
  [
    'A pass that found nothing due does not arm again',
    `if (isAnyDue) earlyPasses = 0
    arm()`,
    `if (isAnyDue) earlyPasses = 0
    if (isAnyDue) arm()`,
  ],
  [
    'Work that a call starts outside a pass is joined by no alarm',
    'if (isAnyDue && !isOpen() && !timedOnly) joinAt = now + ALARM_AHEAD_MS',
    '',
  ],
  [
    'The alarm that joins work outside a pass is armed again by each pass',
    `joinAt = NEVER
      passInfo = info`,
    'passInfo = info',
  ],
  ['An early alarm spins', 'if (earlyPasses > 1) {', 'if (earlyPasses > 1_000_000) {'],
  ['The first early alarm is waited for already', 'if (earlyPasses > 1) {', 'if (earlyPasses > 0) {'],
  [
    'Early alarms are counted over passes that had work',
    `if (isAnyDue) earlyPasses = 0
    arm()`,
    'arm()',
    EARLY,
  ],
  [
    'An early pass waits alarmMinDelayMs, also when its work is due sooner',
    'await wait(clock, Math.min(neededAt - clock.now(), alarmMinDelayMs))',
    'await wait(clock, alarmMinDelayMs)',
    EARLY,
  ],
  [
    'A pass is taken for early by the next due time, not by what it was armed for',
    'believedAt !== undefined && believedAt < NEVER ? believedAt : exactAt',
    'exactAt',
    EARLY,
  ],
  [
    'A hand-off restarts work: a helper whose promise is pending is run again',
    `isOver = true
        pass.resolve()`,
    `isOver = true
        for (const attached of helpers) attached.busy = false
        pass.resolve()`,
    OWN,
  ],
  [
    'A pass does not hold what is in flight',
    [
      ['while (isHeld() && !isOver) await Promise.race([pass.promise, idle.promise])', ''],
      ['!isOver && (isHeld() || (!standsRight && runDue()))', '!isOver && !standsRight && runDue()'],
    ],
    HISTORY,
  ],
  [
    'A pass that is handed over goes on holding',
    'while (isHeld() && !isOver) await Promise.race([pass.promise, idle.promise])',
    'while (isHeld()) await idle.promise',
  ],
  [
    'A pass waits for the end of a hold that another one has replaced',
    'if (!isHeld()) idle = Promise.withResolvers()',
    'idle = Promise.withResolvers()',
    ALARM,
  ],
  [
    'Work that a call starts as a pass ends is left without an alarm',
    'if (!standsRight || isHeld()) arm()',
    'if (!standsRight) arm()',
  ],
  [
    'An alarm that other code moved during a pass is taken for right',
    'isUnmoved && armedExactly',
    'armedExactly',
  ],
  [
    'A pass leaves its fallback alarm for the next tick’s',
    'armedExactly = fallbackAt === NEVER',
    'armedExactly = true',
    ALARM,
  ],
  ['The info of a pass is not passed on', 'passInfo = info', '', FAILING],
  ['A timer in memory outlives the work it was set for', 'if (!isAwake()) setTimer(NEVER)', '', HISTORY],
  [
    'A timer in memory that the runtime refuses stops the pass',
    'timer = timerIfAny(clock, ms, () => orAlarmLost(() => runDue(true)))',
    'timer = clock.setTimer(() => orAlarmLost(() => runDue(true)), ms)',
    NO_TIMERS,
  ],
  [
    'A hand-off for which the runtime refuses the timer stops the pass',
    'const handoff = timerIfAny(clock,',
    'clock.setTimer(() => {}, 1).cancel()\n      const handoff = timerIfAny(clock,',
    NO_TIMERS,
  ],
  [
    'An early pass that cannot wait is not armed again',
    'alarmMinDelayMs)).catch(() => {})',
    'alarmMinDelayMs))',
    NO_TIMERS,
  ],
  [
    'A timer in memory is set where nothing keeps the object alive',
    'const ms = isAwake() ? Math.max(delayMs, 1) : NEVER',
    'const ms = Math.max(delayMs, 1)',
    HISTORY,
  ],
  [
    'A timer that is due is put off by whatever else happens in the same moment',
    'if (ms === timerMs) return',
    '',
    HISTORY,
  ],
  [
    'A timer that has fired is taken for one that is set',
    `timerMs = 0
    const now`,
    'const now',
    HISTORY,
  ],
  [
    'A pass with work that is due believes what was known of the alarm',
    `if (dueAt(clock.now())[0]) physical.forget()
        else await physical.refresh()`,
    'if (!dueAt(clock.now())[0]) await physical.refresh()',
  ],
  [
    'Work of other helpers is started during a hold without liveTimers',
    'settings.liveTimers || helper.timed || !isHeld()',
    'true',
  ],
  ['liveTimers has no effect', 'settings.liveTimers || helper.timed', 'helper.timed'],
  [
    'A helper that says it is timed is not',
    'settings.liveTimers || helper.timed',
    'settings.liveTimers',
    HELPERS,
  ],
  ['A call during a pass runs what has to wait for the end of the hold', 'runDue(isOpen())', 'runDue()', OWN],
])

const failures = mutantsOf('core/scheduler.ts', FAILING, [
  [
    'A failing helper is run again before its retryAt',
    'return Math.max(at ?? NEVER, leftOutUntil)',
    'return at ?? NEVER',
  ],
  [
    'A clock that went back leaves a failed helper out for as long as the step',
    'now < attached.retryAt - alarmMinDelayMs ? 0 : attached.retryAt',
    'attached.retryAt',
    OWN,
  ],
  [
    'Failures are counted on over a success',
    'attached.failures = attached.retryAt = 0',
    'attached.retryAt = 0',
  ],
  ['A helper that failed at nextAt is never asked again', 'return attached.retryAt', 'return NEVER', OWN],
  [
    'An answer of nextAt that is no number is no failure',
    `if (!Number.isFinite(at ?? 0)) throw new RangeError(\`nextAt() returned \${at}\`)`,
    '',
    OTHER_CODE,
  ],
  [
    'Work that is still due after it ran is run again at once',
    "if (needAt(attached, now) <= now) failed(attached, new Error('run() left work that is due'))",
    '',
    OWN,
  ],
  [
    'A helper that fails keeps the others from running',
    `      failed(attached, error)
    }
  }

  const dueAt`,
    `      failed(attached, error)
      throw error
    }
  }

  const dueAt`,
  ],
  [
    'An alarm that cannot be armed does not fail the pass',
    'if (armError !== undefined) throw armError',
    '',
    REFUSED,
  ],
  [
    'An alarm that cannot be armed counts as the failure of a helper',
    'if (armError !== undefined && error === armError) return',
    '',
  ],
  [
    'An alarm that is refused later does not fail the pass',
    'for (const pass of passes) pass.reject(error)',
    '',
    REFUSED,
  ],
  [
    'Work that is held when the alarm is lost is not timed by memory',
    `if (!isOpen()) report('alarm_lost', error)
    armLater()`,
    "if (!isOpen()) report('alarm_lost', error)",
    REFUSED,
  ],
  [
    'A pass that fails leaves what is in flight without an alarm',
    'if (isHeld()) orAlarmLost(arm)',
    '',
    REFUSED,
  ],
  [
    'Two helpers of one name are attached',
    'helpers.some((attached) => attached.helper.name === name)',
    'false',
    OPTIONS,
  ],
  [
    'A fallback that is no number undoes what another helper needs',
    'if (foundAt < fallbackAt) fallbackAt = foundAt',
    'fallbackAt = Math.min(fallbackAt, foundAt)',
    HELPERS,
  ],
  [
    'What a helper has in flight has no fallback alarm',
    'attached.inFlight ? alarmMinDelayMs : NEVER',
    'NEVER',
    HELPERS,
  ],
  [
    'A helper whose turn has not come is asked when it needs the alarm',
    'for (const attached of due) attached.busy = true',
    '',
    OWN,
  ],
  [
    'Work that ends outside a pass leaves its fallback alarm',
    'if (attached.failures || !attached.helper.fallbackWithinMs || !isAwake()) orAlarmLost(arm)',
    '',
    HISTORY,
  ],
  [
    'Held work that failed is retried at the next tick',
    'if (attached.failures || !attached.helper.fallbackWithinMs || !isAwake()) orAlarmLost(arm)',
    'if (!attached.helper.fallbackWithinMs || !isAwake()) orAlarmLost(arm)',
    HISTORY,
  ],
  [
    'A rejection of held work is no failure',
    '.catch((error: unknown) => failed(attached, error))',
    '.catch(() => undefined)',
    HELPERS,
  ],
])

export const SCHEDULER: readonly Mutant[] = [...rowsAndAlarm, ...passes, ...failures]
