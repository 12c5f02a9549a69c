import { type Mutant, mutantsOf } from '../mutant.ts'

const NAMED = ['test/workerd/named-alarms.workerd.test.ts']

const PERMITS = ['test/simulation/regressions/named-alarms.test.ts']

export const ALARMS: readonly Mutant[] = [
  ...mutantsOf('alarms/alarms.ts', NAMED, [
    [
      'The attempt of a named alarm is not counted before its call',
      'transaction(() => change(pending, { attempt, nextAttemptAt: clock.now() + delayMs }))',
      'transaction(() => change(pending, { nextAttemptAt: clock.now() + delayMs }))',
    ],
    [
      'The handler of a named alarm is called before its attempt is durable',
      'await context.storage.sync()',
      'await undefined',
    ],
    [
      'A handler that has finished removes the occurrence that replaced its own',
      'update(context, TABLE, { name, occurrence }, columns)',
      'update(context, TABLE, { name }, columns)',
    ],
    [
      'A named alarm takes no permit',
      'const release = await port.acquirePermit()',
      'const release = () => {}',
    ],
    [
      'An attempt that cannot be recorded keeps its permit',
      `} finally {
      release()
      running.delete(name)
    }`,
      `      release()
    } finally {
      running.delete(name)
    }`,
      PERMITS,
    ],
    [
      'An attempt that cannot be recorded keeps its name busy',
      `} finally {
      release()
      running.delete(name)
    }`,
      `      running.delete(name)
    } finally {
      release()
    }`,
      PERMITS,
    ],
    [
      'A pass that joins starts the attempts in flight anew',
      'select<PendingAlarm>(context, TABLE).filter(({ name }) => !running.has(name))',
      'select<PendingAlarm>(context, TABLE)',
    ],
    [
      'A named alarm that was set for later while it waited for a permit runs at once',
      'if (pending && pending.nextAttemptAt <= clock.now()) await attemptOnce(pending)',
      'if (pending) await attemptOnce(pending)',
      PERMITS,
    ],
    [
      'A named alarm whose handler was removed is dropped',
      'transaction(() => change(pending, { nextAttemptAt }))',
      'transaction(() => change(pending))',
    ],
    [
      'A named alarm whose handler was removed is looked for every second',
      'clock.now() + exponential(missed)',
      'clock.now() + exponential(1)',
    ],
    [
      'A named alarm that is set anew has the key of the one before',
      `\`\${context.id}:\${name}:\${occurrence}\``,
      `\`\${context.id}:\${name}:\${scheduledTime}\``,
    ],
    [
      'A named alarm has another key at each attempt',
      `\`\${context.id}:\${name}:\${occurrence}\``,
      `\`\${context.id}:\${name}:\${occurrence}:\${attempt}\``,
    ],
    [
      'A named alarm is called once more after its last attempt',
      'pending.attempt < retries.maxAttempts',
      'pending.attempt <= retries.maxAttempts',
    ],
    [
      'A named alarm that was cancelled while it failed is reported as given up',
      `if (await persist(port, () => change(pending, isLast ? undefined : { nextAttemptAt })))
      emit(`,
      `await persist(port, () => change(pending, isLast ? undefined : { nextAttemptAt }))
    emit(`,
    ],
    [
      'The back-off of a named alarm is counted from before its attempt',
      `const nextAttemptAt = clock.now() + delayMs
    const isLast`,
      `const nextAttemptAt = pending.nextAttemptAt + delayMs
    const isLast`,
      PERMITS,
    ],
    [
      'A named alarm that is set does not put right the alarm of the object',
      `port.clearFailure()
      await port.reconcile()`,
      'port.clearFailure()',
    ],
    [
      'A cancel of a named alarm does not put right the alarm of the object',
      `if (pending) transaction(() => change(pending))
      await port.reconcile()`,
      'if (pending) transaction(() => change(pending))',
      PERMITS,
    ],
    [
      'A named alarm is written after the first await of set',
      `checkKnown(name)
      check('at', at,`,
      `await undefined
      checkKnown(name)
      check('at', at,`,
    ],
    [
      'An acknowledged attempt that cannot be removed is run again',
      'await persist(port, () => change(pending))',
      'change(pending)',
      PERMITS,
    ],
  ]),
  ...mutantsOf(
    'alarms/options.ts',
    ['src/alarms/options.test.ts'],
    [
      [
        'The settings of one name replace the shared ones as a whole',
        `{ ...own, ...optionsOf(method, methodRules(own), \`methods.\${name}\`) }`,
        `{
      ...own,
      ...optionsOf(
        method,
        methodRules({
          retries: { maxAttempts: 5, delay: defaultDelay },
          attemptTimeoutMs: ALARM_WALL_LIMIT_MS,
        }),
        \`methods.\${name}\`,
      ),
    }`,
      ],
    ],
  ),
]
