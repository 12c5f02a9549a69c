import { describe, expect, test } from 'vitest'
import { COMPLETE, errored, FAILED, faults, HandMade, history, INTERRUPTED, TIMED_OUT } from './handmade.ts'

describe('runs', () => {
  test('one that is called twice is a violation', () => {
    const made = history().tick(1_000)
    made.run(1_000)
    expect(faults(made.end())).toContain('was run 2 times')
  })

  test('one that is called again after a kill is a violation', () => {
    const made = history()
    made.at(1_000).due(1_000).run(1_000)
    made.kill().at(1_500).start().answer(made.run(1_000))
    made.settled(1_000, COMPLETE).answer(made.deliver(1_000)).gone(1_000)
    expect(faults(made.end())).toContain('was run 2 times')
  })

  test('one that is recorded twice is a violation', () => {
    expect(faults(history().tick(1_000).due(1_000).end())).toEqual(['was told to be due more than once'])
  })

  test('one that is called before it is due is a violation', () => {
    const made = history().at(900)
    const early = made.run(1_000)
    made.at(1_000).due(1_000).answer(early).settled(1_000, COMPLETE)
    made.answer(made.deliver(1_000)).gone(1_000)
    expect(faults(made.end())).toEqual(['was run before it was due'])
  })

  test('one with two keys is a violation', () => {
    const made = history().tick(1_000)
    made.jitterMs = 5
    expect(faults(made.event(1_000, { type: 'started' }).end())).toEqual([
      'is told with different times, versions or keys',
    ])
  })

  test('one that starts before an earlier one is a violation', () => {
    const made = history().at(1_000).due(1_000).at(2_000).due(2_000)
    const later = made.run(2_000)
    const earlier = made.at(2_001).run(1_000)
    for (const seq of [later, earlier]) made.answer(seq)
    for (const time of [1_000, 2_000]) made.settled(time, COMPLETE).answer(made.deliver(time)).gone(time)
    expect(faults(made.end())).toEqual(['was started before the run 1000 of wide'])
  })

  test('one that is recorded before an earlier one is a violation', () => {
    const made = history().tick(2_000).at(2_500).tick(1_000)
    expect(faults(made.end())).toContain('was recorded before the run 1000 of wide')
  })

  test('one more than may be in flight is a violation', () => {
    const made = new HandMade().start().at(100)
    made.object = 'narrow'
    made.ask({ do: 'set', expression: '400+0', version: 1, jitterMs: 0 }, true)
    const times = [400, 800, 1_200]
    const runs = times.map((time) => made.at(time).due(time).run(time))
    for (const seq of runs) made.answer(seq)
    for (const time of times) made.settled(time, COMPLETE).answer(made.deliver(time)).gone(time)
    expect(faults(made.end())).toEqual(['was started while 2 others were in flight, of at most 2'])
  })
})

describe('outcomes', () => {
  test('that differ from one delivery to the next are a violation', () => {
    const made = history().begin(1_000)
    made.answer(made.deliver(1_000), 500).retry(1_000, 1)
    made.answer(made.deliver(1_000, FAILED, 2)).gone(1_000, 2)
    expect(faults(made.end())).toEqual(['is told with 2 different outcomes'])
  })

  test('that never come are a violation', () => {
    const made = history().at(1_000).due(1_000)
    made.answer(made.run(1_000))
    expect(faults(made.end())).toContain('was recorded and never reported')
  })

  /** The run of one tick, answered or not, that ends like this. */
  const ending = (outcome: typeof COMPLETE, settledAt: number, status?: number, answeredAt = settledAt) => {
    const made = history('10000+0').at(10_000).due(10_000)
    const run = made.run(10_000)
    if (status !== undefined) made.at(answeredAt).answer(run, status)
    made.at(settledAt).settled(10_000, outcome)
    return made.answer(made.deliver(10_000, outcome)).gone(10_000).end()
  }

  test.each([
    ['complete without a return', COMPLETE, 10_100, undefined, 'is complete without having returned'],
    ['complete though the handler threw', COMPLETE, 10_100, 500, 'is complete without having returned'],
    ['complete long after the timeout', COMPLETE, 13_000, 200, 'is complete long after its time'],
    [
      'errored without a throw',
      FAILED,
      10_100,
      200,
      'failed with what it did not throw: The receiver answered 500',
    ],
    ['timed out too early', TIMED_OUT, 11_000, undefined, 'timed out before its time'],
    ['interrupted without a kill', INTERRUPTED, 10_100, undefined, 'is interrupted before any kill'],
    ['of a kind that nobody knows', errored('TypeError'), 10_100, 500, 'ended with a TypeError: It says why'],
  ])('%s are a violation', (_name, outcome, settledAt, status, what) => {
    expect(faults(ending(outcome, settledAt, status))).toEqual([what])
  })

  test('timed out though the handler returned are a violation', () => {
    expect(faults(ending(TIMED_OUT, 11_800, 200, 10_100))).toEqual(['timed out though it was answered'])
  })

  test('interrupted by the process that ran it are a violation', () => {
    const made = history('10000+0').at(9_900).kill().start().at(10_000).due(10_000)
    made.run(10_000)
    made.settled(10_000, INTERRUPTED).answer(made.deliver(10_000, INTERRUPTED)).gone(10_000)
    expect(faults(made.end())).toEqual(['is interrupted by the process that ran it'])
  })

  /** A run that a kill at 17,000 may have interrupted, and its report. */
  const reported = (made: HandMade) => {
    made.settled(10_000, INTERRUPTED).answer(made.deliver(10_000, INTERRUPTED)).gone(10_000)
    return made
  }

  test('interrupted long after the handler returned are a violation', () => {
    const made = history('10000+0').at(10_000).due(10_000)
    made.answer(made.run(10_000)).at(17_000).kill().at(18_000).start()
    expect(faults(reported(made).end())).toEqual(['is interrupted long after it was answered'])
  })

  test('interrupted long after the timeout are a violation', () => {
    const made = history('10000+0').at(10_000).due(10_000)
    made.run(10_000)
    expect(faults(reported(made.at(17_000).kill().at(18_000).start()).end())).toEqual([
      'is interrupted long after its time',
    ])
  })

  test('interrupted and told only after the next tick are a violation', () => {
    const made = history().at(1_000).due(1_000)
    made.run(1_000)
    made.at(1_100).kill().start().tick(2_000).kill().start().at(2_500).settled(1_000, INTERRUPTED)
    made.answer(made.deliver(1_000, INTERRUPTED)).gone(1_000)
    expect(faults(made.end())).toEqual(['is reported as interrupted later than by the next tick'])
  })
})

describe('deliveries', () => {
  test('after the row was gone are a violation', () => {
    const made = history().tick(1_000).kill().start()
    made.deliver(1_000)
    expect(faults(made.end())).toEqual(['its delivery as attempt 1 comes after its row was gone'])
  })

  test('after the dead letter are a violation', () => {
    const made = history().begin(1_000)
    for (const attempt of [1, 2, 3, 4]) made.answer(made.deliver(1_000, COMPLETE, attempt), 500)
    made.dead(1_000, 4).deliver(1_000, COMPLETE, 4)
    expect(faults(made.end())).toContain('its delivery as attempt 4 comes after it was given up')
  })

  test('again without a failure are a violation', () => {
    const made = history().begin(1_000)
    made.answer(made.deliver(1_000))
    made.answer(made.deliver(1_000, COMPLETE, 2)).gone(1_000, 2)
    expect(faults(made.end())).toEqual([
      'its delivery as attempt 2 follows on attempt 1, which had not failed',
    ])
  })

  test('again after an acknowledgement long before the kill are a violation', () => {
    const made = history('10000+0').begin(10_000)
    made.answer(made.deliver(10_000)).at(16_000).kill().start()
    made.answer(made.deliver(10_000)).gone(10_000)
    expect(faults(made.end())).toEqual([
      'its delivery as attempt 1 follows on attempt 1, which had been acknowledged long before the kill',
    ])
  })

  test('whose failure is not counted are a violation', () => {
    const made = history().begin(1_000)
    made.answer(made.deliver(1_000), 500).answer(made.deliver(1_000)).gone(1_000)
    expect(faults(made.end())).toEqual(['its delivery as attempt 1 should be 2: an attempt was not counted'])
  })

  test('that were marked and cut off and are not counted are a violation', () => {
    const made = history('10000+0').begin(10_000).kill().start()
    made.deliver(10_000)
    made.kill().start().answer(made.deliver(10_000)).gone(10_000)
    expect(faults(made.end())).toEqual(['its delivery as attempt 1 should be 2: an attempt was not counted'])
  })

  test('that a kill cut off in the process of their run and that are counted are a violation', () => {
    const made = history('10000+0').begin(10_000)
    made.deliver(10_000)
    made
      .kill()
      .start()
      .answer(made.deliver(10_000, COMPLETE, 2))
      .gone(10_000, 2)
    expect(faults(made.end())).toEqual([
      'its delivery as attempt 2 should be at most 1: one was counted too many',
    ])
  })

  test('one more at once than allowed is a violation', () => {
    const made = new HandMade().start().at(100)
    made.object = 'narrow'
    made.ask({ do: 'set', expression: '400+0', version: 1, jitterMs: 0 }, true)
    const open = [400, 800].map((time) => made.begin(time).deliver(time))
    for (const [index, seq] of open.entries()) made.answer(seq).gone([400, 800][index] ?? 0)
    expect(faults(made.end())).toEqual(['was delivered while 1 others were, of at most 1'])
  })

  test('that end without an acknowledgement are a violation', () => {
    const made = history().begin(1_000)
    made.answer(made.deliver(1_000), 500)
    expect(faults(made.end())).toEqual(['ends unacknowledged with attempt 1 of 4'])
  })

  test('that never begin are a violation', () => {
    expect(faults(history().begin(1_000).end())).toEqual(['its outcome is never delivered'])
  })

  test('given up with attempts left are a violation', () => {
    const made = history().begin(1_000)
    for (const attempt of [1, 2]) made.answer(made.deliver(1_000, COMPLETE, attempt), 500)
    expect(faults(made.dead(1_000, 2).end())).toContain('is given up after 2 of 4 attempts')
  })

  test('given up after attempts that nobody saw are a violation', () => {
    const made = history().begin(1_000)
    for (const attempt of [1, 2]) made.answer(made.deliver(1_000, COMPLETE, attempt), 500)
    expect(faults(made.dead(1_000, 4).end())).toEqual([
      'its end as a dead letter should be at most 3: one was counted too many',
    ])
  })
})
