import { describe, expect, test } from 'vitest'
import { audit } from './audit.ts'
import { COMPLETE, FINISHED, faults, HandMade, history, INTERRUPTED } from './handmade.ts'

const setAlarm = (at: number) => ({ do: 'setAlarm', name: 'renew', at }) as const

test('a log of everything that kills may lead to has no violation', () => {
  const made = history().ask(setAlarm(1_500), true)
  made.tick(1_000).at(1_500).answer(made.alarm(1_500), 500)
  made.at(1_700).answer(made.alarm(1_500, 2)).alarmEnded(1_500, 'completed', 2)
  made.call({ kind: 'pulse', count: 1 })
  made.tick(2_000).at(3_000).due(3_000).run(3_000)
  made.at(3_100).kill().at(4_000).start().settled(3_000, INTERRUPTED)
  // The first is marked and cut off, the second overtaken by the kill.
  made.deliver(3_000, INTERRUPTED)
  made.begin(4_000).at(4_050).answer(made.deliver(4_000))
  made.kill().at(5_000).start().retry(3_000, 1)
  made.answer(made.deliver(3_000, INTERRUPTED, 2)).gone(3_000, 2)
  made.answer(made.deliver(4_000), 500).retry(4_000, 1)
  made
    .tick(5_000)
    .answer(made.deliver(4_000, COMPLETE, 2))
    .gone(4_000, 2)
  made.begin(6_000)
  for (const attempt of [1, 2, 3])
    made.answer(made.deliver(6_000, COMPLETE, attempt), 500).retry(6_000, attempt)
  made.answer(made.deliver(6_000, COMPLETE, 4), 500).dead(6_000, 4)
  made.call({ kind: 'pulse', count: 3 })
  // It is down from before 7,000 until after 9,000: one run stands for all of them.
  made.at(6_500).kill().at(9_100).start().tick(7_000).tick(10_000).at(10_500).end()
  expect(audit(made.entries)).toEqual([])
})

describe('ticks', () => {
  test('that are left out between two runs are a violation', () => {
    expect(faults(history().tick(1_000).tick(3_000).end())).toEqual([
      'follows on the run 1000 of wide, and 2000 is missing',
    ])
  })

  test('that a kill alone does not excuse are a violation', () => {
    const made = history().tick(1_000).at(1_500).kill().at(1_600).start().tick(3_000)
    expect(faults(made.end())).toEqual(['follows on the run 1000 of wide, and 2000 is missing'])
  })

  test('that are left out at the beginning are a violation', () => {
    expect(faults(history().tick(2_000).end())).toEqual(['is the first of its version, and 1000 is missing'])
  })

  test('that are left out at the end are a violation', () => {
    expect(faults(history().tick(1_000).at(2_500).end())).toEqual([
      'was live until 2500, and 2000 is missing',
    ])
  })

  test('at no time of the expression are a violation', () => {
    expect(faults(history().tick(1_000).tick(1_700).tick(2_000).end())).toContain('is at no time of 1000+0')
  })

  test('with another jitter than that of their version are a violation', () => {
    const made = history('1000+0', 50).tick(1_000)
    made.jitterMs = 60
    expect(faults(made.tick(2_000).end())).toEqual(['has another jitter than its version'])
  })

  test('after a cancel are a violation', () => {
    const made = history().tick(1_000).at(1_500).ask({ do: 'cancel' }, true).tick(2_000)
    expect(faults(made.end())).toEqual(['was recorded after its version had been replaced or cancelled'])
  })

  test('of a version that was refused are a violation', () => {
    const made = history().ask({ do: 'set', expression: '1000+500', version: 0, jitterMs: 0 }, false)
    made.version = 0
    expect(faults(made.tick(500).end())).toEqual(['is of version 0, which was never set'])
  })

  test('from before the set are a violation', () => {
    const made = new HandMade().start().at(1_500)
    made.ask({ do: 'set', expression: '1000+0', version: 1, jitterMs: 0 }, true)
    expect(faults(made.tick(1_000).end())).toEqual(['is from before its version was set'])
  })

  test('that are recorded late while the process is up are a violation', () => {
    const made = history('10000+0').at(15_500).tick(10_000)
    expect(faults(made.end())).toEqual(['was recorded 5500 ms late'])
  })
})

describe('a set whose answer a kill took', () => {
  const set = { do: 'set', expression: '1000+0', version: 1, jitterMs: 0 } as const
  const made = () => new HandMade().start().at(100).ask(set).at(110).kill().at(200).start()

  test('and that is not stored is no violation', () => {
    expect(
      faults(
        made()
          .at(3_000)
          .ask({ ...set, version: 2 }, true)
          .end(),
      ),
    ).toEqual([])
  })

  test('and that is stored and never ticks is a violation', () => {
    const stored = made().ask({ do: 'status' }, { ...FINISHED, state: 'live', version: 1 })
    expect(
      faults(
        stored
          .at(3_000)
          .ask({ ...set, version: 2 }, true)
          .end(),
      ),
    ).toEqual(['was live until 3000, and 1000 is missing'])
  })
})

describe('named alarms', () => {
  const withAlarm = () => history('10000+0').ask(setAlarm(1_000), true).at(1_000)
  const faultsOf = (made: HandMade) => faults(made.at(2_000).end())

  test('that never run are a violation', () => {
    expect(faultsOf(withAlarm())).toEqual(['never ran'])
  })

  test('that run before their time are a violation', () => {
    const made = withAlarm().at(900)
    expect(faultsOf(made.answer(made.alarm(1_000)).alarmEnded(1_000, 'completed'))).toEqual([
      'ran before its time',
    ])
  })

  test('that run again after they returned are a violation', () => {
    const made = withAlarm()
    made.answer(made.alarm(1_000)).at(1_100)
    made.answer(made.alarm(1_000, 2)).alarmEnded(1_000, 'completed', 2)
    expect(faultsOf(made)).toContain('ran again after it had returned')
  })

  test('whose attempts are not counted are a violation', () => {
    const made = withAlarm()
    made.answer(made.alarm(1_000), 500).answer(made.alarm(1_000)).alarmEnded(1_000, 'completed')
    expect(faultsOf(made)).toEqual(['ran as attempt 1 after attempt 1'])
  })

  test('with attempts that nobody saw are a violation', () => {
    const made = withAlarm()
    made.answer(made.alarm(1_000), 500).answer(made.alarm(1_000, 3)).alarmEnded(1_000, 'completed', 3)
    expect(faultsOf(made)).toEqual(['ran as attempt 3 after attempt 1'])
  })

  test('that are given up with attempts left are a violation', () => {
    const made = withAlarm()
    made.answer(made.alarm(1_000), 500)
    expect(faultsOf(made)).toEqual(['was given up with attempts left'])
  })

  test('with another key at each attempt are a violation', () => {
    const made = withAlarm()
    made
      .answer(made.alarm(1_000), 500)
      .answer(made.alarm(1_000, 2, 'other'))
      .alarmEnded(1_000, 'completed', 2)
    expect(faultsOf(made)).toEqual(['has several keys'])
  })

  test('that go on after they were replaced are a violation', () => {
    const made = withAlarm()
    made.answer(made.alarm(1_000), 500).ask(setAlarm(1_500), true).at(1_200)
    for (const attempt of [2, 3]) made.answer(made.alarm(1_000, attempt), 500)
    made.at(1_500).answer(made.alarm(1_500)).alarmEnded(1_500, 'completed')
    expect(faultsOf(made)).toEqual(['goes on after it was replaced'])
  })

  test('that run while the one they replaced is running are a violation', () => {
    const made = withAlarm()
    const running = made.alarm(1_000)
    made.ask(setAlarm(1_100), true).at(1_100).answer(made.alarm(1_100)).alarmEnded(1_100, 'completed')
    expect(faultsOf(made.answer(running).alarmEnded(1_000, 'completed'))).toEqual([
      'ran while the one for 1000 was running',
    ])
  })
})

describe('an object', () => {
  test('that does not come back without a request is a violation', () => {
    const made = history('10000+0').kill().start().at(6_000)
    expect(faults(made.end())).toEqual(['did nothing for 5800 ms'])
  })

  test('that is started anew without a kill is a violation', () => {
    const made = history().tick(1_000)
    made.instance = 'two'
    expect(faults(made.tick(2_000).end())).toEqual(['was started anew'])
  })

  test('whose own helper tells a count twice is a violation', () => {
    const made = history()
    for (const count of [1, 1]) made.call({ kind: 'pulse', count })
    expect(faults(made.end())).toEqual(['went from 1 to 1'])
  })

  test('one of whose helpers fails is a violation', () => {
    const made = history()
    made.call({ kind: 'helperFailed', helper: 'schedule', message: 'No row' })
    expect(faults(made.end())).toEqual(['its helper schedule failed: No row'])
  })

  test('that answers a request wrongly is a violation', () => {
    const made = history().ask({ do: 'set', expression: '1000+0', version: 0, jitterMs: 0 }, true, false)
    expect(faults(made.end())).toContain('was answered true, not false')
  })

  test('that leaves something behind is a violation', () => {
    expect(faults(history().end({ undelivered: 1 }))).toHaveLength(3)
    expect(faults(history().end({ alarmAt: 5 }))).toHaveLength(3)
  })

  test('that prints a fault is a violation', () => {
    expect(faults(history().print('Uncaught Error').end())).toEqual(['printed Uncaught Error'])
  })
})
