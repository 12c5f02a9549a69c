import { type Mutant, mutantsOf } from '../mutant.ts'

const FILE = 'experimental/live-schedule.ts'
const VERSIONS = ['test/workerd/versions.workerd.test.ts']
const TIME = ['test/workerd/time.workerd.test.ts']
const CRASH = ['test/workerd/crash.workerd.test.ts']
const OUTCOMES = ['test/workerd/outcomes.workerd.test.ts']
const CONCURRENCY = ['test/workerd/concurrency.workerd.test.ts']
const LIFECYCLE = ['test/workerd/lifecycle.workerd.test.ts']
const REENTRANCY = ['test/workerd/reentrancy.workerd.test.ts']
const ALARM = ['test/workerd/physical-alarm.workerd.test.ts']
const COST = ['test/workerd/cost.workerd.test.ts']
const DEFINITIONS = ['test/simulation/regressions/definitions.test.ts']
const SLOTS = ['test/simulation/regressions/slots.test.ts']
const DELIVERED = ['test/simulation/regressions/outcomes.test.ts']
const HISTORY = ['test/simulation/history.test.ts']
const FAULTS = ['test/simulation/faults.test.ts']
const EXHAUSTIVE = ['test/simulation/exhaustive.test.ts']

const versions = mutantsOf(FILE, VERSIONS, [
  [
    'The old expression is evaluated when a due tick is recorded by set',
    'if (!isStill(row)) return this.set(definition)',
    `if (dueTime !== null && row.expression !== null) settings.nextOccurrence(row.expression, dueTime)
        if (!isStill(row)) return this.set(definition)`,
    TIME,
  ],
  [
    'The last nominal time is lost on cancel',
    'const cancelled = { version: version ?? null, expression: null, nextTime: null }',
    'const cancelled = { version: version ?? null, expression: null, nextTime: null, lastTime: null }',
    TIME,
  ],
  [
    'A new version searches from the wall clock, whatever was recorded last',
    'const after = Math.max(now, dueTime ?? row.lastTime ?? 0)',
    'const after = now',
    TIME,
  ],
  [
    'A tick that is due is dropped by set',
    'store(row, { ...changed, nextTime }, dueTime)',
    'store(row, { ...changed, nextTime }, null)',
    TIME,
  ],
  [
    'A tick that is due is dropped by cancel',
    'store(row, cancelled, dueTimeOf(row))',
    'store(row, cancelled, null)',
  ],
  [
    'A nominal time in its jitter delay is dropped by a new version of the same expression',
    'let kept = row.expression === expression ? row.nextTime : null',
    'let kept = row.expression === null ? row.nextTime : null',
    TIME,
  ],
  [
    'A nominal time in its jitter delay is kept by a new expression',
    'let kept = row.expression === expression ? row.nextTime : null',
    'let kept = row.nextTime',
    TIME,
  ],
  [
    'A set that records a due tick drops the next one, which is in its jitter delay',
    'kept = occurrenceDueAfter(occurrenceAfter, kept, row.jitterMs, now) ?? null',
    'kept = null',
    DEFINITIONS,
  ],
  [
    'A version that was set is set again',
    'const isNewer = version > (row.version ?? -1)',
    'const isNewer = version >= (row.version ?? -1)',
  ],
  [
    'A version that is sent again does not put right a lost alarm',
    `await port.reconcile()
      return isNewer`,
    `if (isNewer) await port.reconcile()
      return isNewer`,
    ALARM,
  ],
  [
    'A cancel of a lower version takes effect',
    `(version ?? -1) > (row.version ?? -1) ||
        (row.expression !== null && (version ?? row.version) === row.version)`,
    '(version ?? -1) > (row.version ?? -1) || row.expression !== null',
  ],
  [
    'A cancel leaves no tombstone',
    '{ version: version ?? null, expression: null',
    '{ version: null, expression: null',
  ],
  [
    'A cancel without a version leaves the stored one as a tombstone',
    '{ version: version ?? null, expression: null',
    '{ version: version ?? row.version, expression: null',
  ],
  [
    'A cancel of an ended schedule says that one was live',
    'return applies && row.nextTime !== null',
    'return applies',
  ],
  [
    'A set is written after its first await',
    `const changed = definitionOf(definition)
      const { expression, version, jitterMs } = changed`,
    `const changed = definitionOf(definition)
      await undefined
      const { expression, version, jitterMs } = changed`,
  ],
  [
    'A due tick that a set records has the new version',
    'version: row.version ?? 0,',
    'version: change.version ?? row.version ?? 0,',
    TIME,
  ],
  [
    'A set whose nextOccurrence set another version overwrites it',
    'if (!isStill(row)) return this.set(definition)',
    '',
    REENTRANCY,
  ],
  [
    'A new version waits for the back-off of the one that failed',
    `forget()
        port.clearFailure()
      } else if`,
    `forget()
      } else if`,
    ['test/workerd/failing-passes.workerd.test.ts'],
  ],
  [
    'A set believes its row until the turn ends, though its caller may roll it back',
    `// The caller's own transaction may yet undo what was written.
        forget()`,
    '',
    DEFINITIONS,
  ],
  [
    'A version that is sent again with another definition is not warned of',
    'row.jitter !== changed.jitter',
    'row.version === null',
  ],
])

const ticks = mutantsOf(FILE, TIME, [
  [
    'Missed ticks collapse to the latest',
    'if (isStill(row)) store(row, { nextTime: next ?? null }, nextTime,',
    `let latest = nextTime
    for (let step = 0, at = occurrenceAfter(latest); step < 1_000; step += 1, at = occurrenceAfter(latest))
      if (at !== undefined && at + jitterMs <= now) latest = at
    if (isStill(row)) store(row, { nextTime: next ?? null }, latest,`,
  ],
  [
    'The cursor moves on from the wall clock',
    'const next = occurrenceDueAfter(occurrenceAfter, nextTime, jitterMs, now)',
    'const next = occurrenceAfter(now)',
  ],
  [
    'A tick overwrites what its nextOccurrence set',
    'if (isStill(row)) store(row, { nextTime: next ?? null }, nextTime,',
    'store(row, { nextTime: next ?? null }, nextTime,',
    REENTRANCY,
  ],
  [
    'A run is written a turn after the cursor has moved',
    `replace(context, RUNS, run)
      if (queued)`,
    `void context.storage.sync().then(() => replace(context, RUNS, run))
      if (queued)`,
    EXHAUSTIVE,
  ],
  ['The due time of a run leaves its jitter out', 'dueAt: dueTime + row.jitterMs', 'dueAt: dueTime'],
  [
    'A tick takes the free slot before the runs that wait',
    [
      [
        `startWaiting()
      tick(now)`,
        `tick(now)
      startWaiting()`,
      ],
      ['waiting() > 0 || freeSlots() <= 0)', 'freeSlots() <= 0)'],
    ],
    DEFINITIONS,
  ],
  [
    'A run that waits is not looked for by a new instance',
    'if (waiting() > 0 && freeSlots() > 0) return now',
    '',
    CRASH,
  ],
  [
    'The alarm is not armed for a far retry of a delivery',
    'Math.min(dueAtOf(row), earliest(left()))',
    'dueAtOf(row)',
    OUTCOMES,
  ],
  ['What was read of the row is kept for ever', 'Promise.resolve().then(forget)', '', VERSIONS],
  [
    'A question is answered from what was read before',
    `const readAnew = () => {
    forget()`,
    'const readAnew = () => {',
    DEFINITIONS,
  ],
])

const runs = mutantsOf(FILE, CRASH, [
  [
    'The handler is called before its row is durable',
    'await Promise.all([context.storage.sync(), port.alarmTaken()])',
    'await undefined',
  ],
  [
    'The handler is called before its alarm is taken',
    'await Promise.all([context.storage.sync(), port.alarmTaken()])',
    'await context.storage.sync()',
    ['test/workerd/failing-passes.workerd.test.ts'],
  ],
  [
    'A slot is released at the timeout, while the handler goes on',
    'const durationMs = Math.max(clock.now() - startedAt, 0)',
    `const durationMs = Math.max(clock.now() - startedAt, 0)
    handling.delete(run)`,
    CONCURRENCY,
  ],
  [
    'A run that timed out holds the pass until its handler settles',
    `emitSettled(run, outcome, durationMs)
    const tellStuck`,
    `emitSettled(run, outcome, durationMs)
    while (handling.has(run)) await wait(clock, 1_000)
    const tellStuck`,
    CONCURRENCY,
  ],
  [
    'An interrupted run is run again',
    [
      [
        `start([], () => {
        for (const run of interrupted) storeOutcome(run, interruption)
      })`,
        'start(interrupted, () => {})',
      ],
      ['for (const run of interrupted) emitSettled(run, interruption, undefined)', ''],
      [
        'for (const run of due) if (started.has(run)) hold',
        'for (const run of due) if (run.state > RUNNING) hold',
      ],
    ],
  ],
  [
    'A pass that joins takes the runs in flight for those of a dead instance',
    'const left = () => [...started].filter(({ held }) => !held)',
    'const left = () => [...started]',
    ALARM,
  ],
  [
    'A handler that ends leaves the runs that wait to the next tick',
    'if (mayWait) port.hold((async () => startWaiting())())',
    '',
    HISTORY,
  ],
  [
    'A run that waits is not remembered as waiting',
    'if (queued) mayWait = true\n      else',
    'if (!queued)',
    HISTORY,
  ],
  [
    'A tick that is rolled back keeps its slot',
    `handling.delete(run)
        started.delete(run)
      }
      seenRunId`,
    `started.delete(run)
      }
      seenRunId`,
    FAULTS,
  ],
  [
    'A tick that is rolled back leaves its run as a started one',
    `handling.delete(run)
        started.delete(run)
      }
      seenRunId`,
    `handling.delete(run)
      }
      seenRunId`,
    FAULTS,
  ],
  [
    'After a rolled-back tick the rows are not looked at again',
    `seenRunId = undefined
      forget()
      throw error`,
    `forget()
      throw error`,
    FAULTS,
  ],
  [
    'After a rolled-back tick the row is believed as it was written',
    `seenRunId = undefined
      forget()
      throw error`,
    `seenRunId = undefined
      throw error`,
    FAULTS,
  ],
  [
    'A run whose record is lost keeps its slot',
    `handling.delete(run)
      throw error`,
    'throw error',
    FAULTS,
  ],
  [
    'Runs in flight are found a second time after a roll-back',
    'if (!heldRuns.some((other) => other.scheduledTime === scheduledTime)) started.add(run)',
    'started.add(run)',
    FAULTS,
  ],
  [
    'A later outcome overwrites the first',
    'update(context, RUNS, { id, scheduledTime, state }, columns)',
    'update(context, RUNS, { id, scheduledTime }, columns)',
    DELIVERED,
  ],
  [
    'An outcome is stored in the row of another run that has the key by now',
    'update(context, RUNS, { id, scheduledTime, state }, columns)',
    'update(context, RUNS, { id, state }, columns)',
    VERSIONS,
  ],
  [
    'The keys of a schedule that was removed go on after its end',
    `createSchema(context)
        nextToStart = 1`,
    'createSchema(context)',
    VERSIONS,
  ],
  ['interruptedWithinMs has no effect', 'isBusy ? settings.interruptedWithinMs : NEVER', 'NEVER'],
  [
    'Without a next tick nothing finds what a crash leaves',
    'const isCovered = passOpen && !isBlocked && row.nextTime !== null',
    'const isCovered = passOpen && !isBlocked',
  ],
  [
    'Work outside a pass is left to the next tick',
    'const isCovered = passOpen && !isBlocked && row.nextTime !== null',
    'const isCovered = !isBlocked && row.nextTime !== null',
    HISTORY,
  ],
  [
    'Runs that wait behind a kept slot are left to the next tick',
    'const isBlocked = waiting() > 0 && (!isBusy || stuck() > 0)',
    'const isBlocked = false',
    SLOTS,
  ],
  [
    'Runs that wait behind a kept slot beside a busy one are left to the next tick',
    'const isBlocked = waiting() > 0 && (!isBusy || stuck() > 0)',
    'const isBlocked = waiting() > 0 && !isBusy',
    SLOTS,
  ],
  ['A kept slot is not told of', 'port.hold(wait(clock, 0).then(tellStuck))', '', LIFECYCLE],
  [
    'A slot that becomes stuck arms no alarm for the runs behind it',
    'if (mayWait) port.transaction(() => {})',
    '',
    SLOTS,
  ],
  [
    'status counts a running handler as a stuck one',
    'state > RUNNING).length',
    'state >= RUNNING).length',
    SLOTS,
  ],
  ['A run that is gone is still counted as started', 'if (!columns) started.delete(run)', '', OUTCOMES],
])

const outcomes = mutantsOf(FILE, OUTCOMES, [
  [
    'An outcome whose row is gone is delivered all the same',
    `if (onOutcome && isStored) await deliver(run)
    else if (onOutcome) lost(run)`,
    'if (onOutcome) await deliver(run)',
    VERSIONS,
  ],
  [
    'Without onOutcome the rows of finished runs stay',
    'change(run, onOutcome ? settled : undefined)',
    'change(run, settled)',
  ],
  [
    'An outcome is delivered before its next attempt is due',
    'left().filter(({ nextAttemptAt }) => nextAttemptAt <= now)',
    'left()',
  ],
  [
    'A run that throws is complete',
    'state: outcome.error ? ERRORED : COMPLETE, outcome: JSON.stringify(outcome)',
    'state: COMPLETE, outcome: JSON.stringify(complete())',
  ],
  ['Runs that deleteAll() removed are not told of', 'left().forEach(lost)', '', VERSIONS],
  [
    'Runs of tables whose removal was rolled back are not found again',
    `// Should the removal of the tables be rolled back, those runs are found again.
      seenRunId = undefined`,
    '',
    DELIVERED,
  ],
])

const deliveries = mutantsOf('experimental/deliveries.ts', OUTCOMES, [
  [
    'A delivery is acknowledged before it is made',
    'await within(clock, outcomeTimeoutMs, call, late, {})',
    `await persist(port, () => change(run))
        await within(clock, outcomeTimeoutMs, call, late, {})`,
  ],
  [
    'The attempt count of a delivery is lost',
    'change(run, { attempts: attempt, nextAttemptAt, delivering: 0 })',
    'change(run, { nextAttemptAt, delivering: 0 })',
  ],
  [
    'A retry is counted for undelivered rows of a dead instance',
    "if (run.delivering) throw deliveryError('The object died during the attempt')",
    "if (run.inherited) throw deliveryError('The object died during the attempt')",
  ],
  [
    'A delivery that crashes the object is never counted',
    'if (run.inherited) await persist(port, () => change(run, { delivering: 1 }))',
    '',
    CRASH,
  ],
  [
    'The mark of a delivery outlives its failure',
    'change(run, { attempts: attempt, nextAttemptAt, delivering: 0 })',
    'change(run, { attempts: attempt, nextAttemptAt })',
  ],
  [
    'Every delivery is marked, also of what this instance ran',
    'if (run.inherited) await persist',
    'await persist',
    COST,
  ],
  [
    'Outcomes of a dead instance are delivered side by side',
    'const acquireAlone = permits(1)',
    'const acquireAlone = permits(settings.maxConcurrentDeliveries)',
    DELIVERED,
  ],
  ['An outcome of a dead instance is marked again at each retry', 'run.inherited = false', '', DELIVERED],
  ['An outcome is delivered before it is durable', 'await context.storage.sync()', '', EXHAUSTIVE],
  [
    'After the last delivery there is one more wait',
    'attempt < maxAttempts ? delayAfter(outcomeRetries, attempt) : NEVER',
    'attempt <= maxAttempts ? delayAfter(outcomeRetries, attempt) : NEVER',
  ],
  ['A far retry holds the pass', 'run.held = delayMs <= port.alarmMinDelayMs', 'run.held = true'],
  [
    'A retry whose record failed is taken up a second time',
    `run.held = true
          throw error`,
    'throw error',
    DELIVERED,
  ],
  [
    'The row of a dead letter stays',
    `await persist(port, () => change(run))
    emit(run, deadLetter`,
    'emit(run, deadLetter',
  ],
  ['A near retry is not waited for', 'await waitUntil(clock, run.nextAttemptAt)', '', DELIVERED],
  [
    'Deliveries have no limit',
    'const acquireSlot = permits(settings.maxConcurrentDeliveries)',
    'const acquireSlot = permits(1_000_000)',
    CONCURRENCY,
  ],
  [
    'A delivery keeps its slot while it waits for its retry',
    `const isNear = await deliverOnce(run).finally(() => {
        release()
        goOn?.()
      })
      if (!isNear) return
      await waitUntil(clock, run.nextAttemptAt)`,
    `const isNear = await deliverOnce(run)
      if (isNear) await waitUntil(clock, run.nextAttemptAt)
      release()
      goOn?.()
      if (!isNear) return`,
    DELIVERED,
  ],
  [
    'A delivery that rejects keeps its slot',
    `deliverOnce(run).finally(() => {
        release()
        goOn?.()
      })`,
    `deliverOnce(run)
      release()
      goOn?.()`,
    ['test/workerd/no-timers.workerd.test.ts'],
  ],
  [
    'An acknowledgement that cannot be stored is a failed delivery',
    `await persist(port, () => change(run))
        return false`,
    `change(run)
        return false`,
  ],
])

const rest = [
  ...mutantsOf(
    'experimental/occurrences.ts',
    ['src/experimental/occurrences.test.ts'],
    [
      ['Ticks in their jitter delay are taken for missed', 'next + jitterMs > now', 'next > now'],
      [
        'The jump over missed ticks leaves the jitter out',
        'Math.max(at, now - jitterMs)',
        'Math.max(at, now)',
        TIME,
      ],
      ['Missed ticks are walked without end', 'step < MAX_COLLAPSE_STEPS', 'step < 100_000'],
      ['An occurrence that is not later is accepted', 'at, after + 1, MAX_DUE_AT', 'at, 0, MAX_DUE_AT'],
      ['A due time that no alarm holds is accepted', 'MAX_DUE_AT - jitterMs)', 'MAX_DUE_AT)'],
    ],
  ),
  ...mutantsOf(
    'experimental/definition.ts',
    ['src/experimental/definition.test.ts'],
    [
      ['A jitter range is stored as its maximum', 'const least = isFixed ? most : 0', 'const least = most'],
      ['A tick is due at its nominal time', 'nextTime + jitterMs', 'nextTime + 0 * jitterMs', TIME],
      [
        'A range of jitter and its maximum are one definition',
        "isFixed ? '' : '0-'",
        "isFixed ? '' : ''",
        VERSIONS,
      ],
      ['Version negative zero is stored as such', 'version: version + 0', 'version', VERSIONS],
    ],
  ),
  ...mutantsOf('experimental/run.ts', TIME, [
    ['The key of a run is its due time', `\`\${id}:\${scheduledTime}\``, `\`\${id}:\${dueAt}\``, DELIVERED],
    [
      'The key of a run holds its version',
      `\`\${id}:\${scheduledTime}\``,
      `\`\${id}:\${version}:\${scheduledTime}\``,
    ],
  ]),
  ...mutantsOf('experimental/schema.ts', LIFECYCLE, [
    [
      'A secondary index makes each run write more rows',
      'nextAttemptAt, delivering)`',
      `nextAttemptAt, delivering);
\${create.replace('TABLE', 'INDEX')} durability_by_attempt ON \${RUNS} (nextAttemptAt)\``,
      COST,
    ],
    [
      'A newer schema that is only additive is refused',
      "reader: 'oldestReader' | 'schemaVersion' = 'oldestReader'",
      "reader: 'oldestReader' | 'schemaVersion' = 'schemaVersion'",
      VERSIONS,
    ],
    [
      'A schema that needs newer code is read',
      'if (row[reader] > SCHEMA_VERSION)',
      'if (row[reader] > 1_000)',
      VERSIONS,
    ],
    [
      'A migration to null leaves the runs',
      `DROP TABLE IF EXISTS \${RUNS}; DROP TABLE IF EXISTS \${SCHEDULE}`,
      `DROP TABLE IF EXISTS \${SCHEDULE}`,
      VERSIONS,
    ],
  ]),
  ...mutantsOf('experimental/outcome.ts', OUTCOMES, [
    [
      'An error is stored without its name',
      'error: describeThrown(thrown) }',
      "error: { ...describeThrown(thrown), name: 'Error' } }",
    ],
  ]),
  ...mutantsOf(
    'experimental/options.ts',
    ['src/experimental/options.test.ts'],
    [
      [
        'A limit of runs may be 0',
        "maxConcurrentRuns: ['number', 10]",
        "maxConcurrentRuns: ['number', 10, 0]",
      ],
    ],
  ),
]

export const SCHEDULE: readonly Mutant[] = [
  ...versions,
  ...ticks,
  ...runs,
  ...outcomes,
  ...deliveries,
  ...rest,
]
