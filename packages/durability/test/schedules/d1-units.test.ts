import { afterEach, expect, test } from 'vitest'
import { type D1Like, d1Store, dispatch } from '../../src/schedules/index.node.ts'
import { fakeD1 } from './support/d1.ts'
import { HOUR_MS, START_AT, setup, silenceReports } from './support/setup.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** An engine over D1 of which a batch fails once the database said that the schedule was moved. */
function setupFailingAfterMove() {
  const database = fakeD1()
  closing.push(() => database.close())
  let isMoved = false
  let isArmed = false
  const failing: D1Like = {
    prepare: (query) => database.prepare(query),
    async batch(statements) {
      if (isArmed && isMoved) throw new Error('D1 is gone')
      const results = await database.batch(statements)
      // Inserting a run is a batch of one: the move has more.
      if (statements.length > 1) isMoved = true
      return results
    },
  }
  const made = setup({ store: d1Store(failing), workflows: { brief: dispatch(() => undefined) } })
  return {
    ...made,
    arm() {
      isMoved = false
      isArmed = true
    },
  }
}

test('a fire over D1 is one batch: nothing that comes after it can make it seem to have failed', async () => {
  silenceReports()
  const { schedules, tickIn, arm } = setupFailingAfterMove()
  await schedules.create({ id: 'a', workflow: 'brief', every: '1h' })
  arm()
  expect(await tickIn(HOUR_MS)).toEqual([`sched:a:${START_AT + HOUR_MS}`])
})

test('and so is a pause', async () => {
  const { schedules, arm } = setupFailingAfterMove()
  await schedules.create({ id: 'a', workflow: 'brief', every: '1h' })
  arm()
  expect(await schedules.pause('a')).toMatchObject({ paused: true })
})
