import { describe, expect, test } from 'vitest'
import { HOUR_MS, START_AT, settled, setup } from './support/setup.ts'

const WINDOW = START_AT + HOUR_MS

/** Two engines of one store, each with its own namespace. */
function tenants() {
  const made = setup()
  return {
    ...made,
    one: made.engineWith({ namespace: 'one' }),
    other: made.engineWith({ namespace: 'other' }),
  }
}

const REFUSED = { name: 'InvalidScheduleError', field: 'runId' }

describe('start of an engine with a namespace', () => {
  test('refuses the id of a run of another namespace, and shows nothing of it', async () => {
    const { one, other, engine, handler } = tenants()
    await one.start('brief', 'secret', 'welcome')
    await expect(other.start('brief', null, 'welcome')).rejects.toMatchObject(REFUSED)
    await settled()
    expect(handler.runs).toHaveLength(1)
    expect(await engine.start('brief', null, 'welcome')).toMatchObject({ input: 'secret', namespace: 'one' })
  })

  test('cannot take a window from a schedule of another namespace, nor from one that is not there yet', async () => {
    const { one, other, handler, moveTo } = tenants()
    const taken = () => other.start('brief', 'taken', `sched:a:${WINDOW}`)
    await expect(taken()).rejects.toMatchObject(REFUSED)
    await one.schedules.create({ id: 'a', workflow: 'brief', every: '1h', input: 'mine' })
    await expect(taken()).rejects.toMatchObject(REFUSED)
    moveTo(WINDOW)
    await one.schedules.tick()
    await settled()
    expect(handler.runs.map(({ input }) => input)).toEqual(['mine'])
  })

  test('takes the id of a window of its own', async () => {
    const { one, handler, moveTo } = tenants()
    await one.schedules.create({ id: 'a', workflow: 'brief', every: '1h' })
    await one.start('brief', 'early', `sched:a:${WINDOW}`)
    moveTo(WINDOW)
    expect(await one.schedules.tick()).toEqual([`sched:a:${WINDOW}`])
    await settled()
    expect(handler.runs.map(({ input }) => input)).toEqual(['early'])
  })
})
