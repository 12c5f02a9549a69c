import { afterEach, describe, expect, test, vi } from 'vitest'
import { DurabilityEngine, dispatch, memoryStore } from '../../src/schedules/index.node.ts'
import { objectSetup } from './support/object.ts'
import { MINUTE_MS, START_AT, silenceReports } from './support/setup.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** As the runtime answers when the object's own code has all the timers that it allows. */
const refuse = () => {
  throw new Error('You have exceeded the number of active timeouts you may set.')
}

describe('where the runtime refuses more timers', () => {
  test('a tick starts what is due all the same', async () => {
    silenceReports()
    let now = START_AT
    const started: string[] = []
    const send = dispatch(({ runId }) => void started.push(runId))
    const engine = new DurabilityEngine({ store: memoryStore(), workflows: { send }, clock: () => now })
    for (let n = 0; n < 20; n += 1) {
      await engine.schedules.create({ id: `s${n}`, workflow: 'send', every: MINUTE_MS })
    }
    now += MINUTE_MS
    vi.stubGlobal('setTimeout', refuse)
    expect(await engine.schedules.tick()).toHaveLength(20)
    expect(started).toHaveLength(20)
    for (let n = 0; n < 20; n += 1) {
      expect(await engine.schedules.get(`s${n}`)).toMatchObject({ fires: 1, lastError: null })
    }
  })

  test('an object starts what is due by its alarm, handlers and calls of others', async () => {
    silenceReports()
    let isRefused = false
    const started: string[] = []
    const { object, calls, ended, ask } = objectSetup({
      workflows: { send: dispatch(({ runId }) => void started.push(runId)) },
      setTimer: (set) => (isRefused ? refuse() : set()),
    })
    await ask(({ schedules }) => schedules.create({ id: 'a', workflow: 'brief', every: MINUTE_MS }))
    await ask(({ schedules }) => schedules.create({ id: 'b', workflow: 'send', every: MINUTE_MS }))
    isRefused = true
    await object.advance(3 * MINUTE_MS)
    expect(calls.map(({ at }) => at)).toEqual([1, 2, 3].map((n) => START_AT + n * MINUTE_MS))
    expect(ended).toHaveLength(3)
    expect(started).toHaveLength(3)
    for (const id of ['a', 'b']) {
      expect(await ask(({ schedules }) => schedules.get(id))).toMatchObject({ fires: 3, lastError: null })
      const history = await ask(({ schedules }) => schedules.history(id))
      expect(history.map(({ decision }) => decision)).toEqual(['fired', 'fired', 'fired'])
    }
    expect(object.alarmAt).toBe(START_AT + 4 * MINUTE_MS)
  })
})
