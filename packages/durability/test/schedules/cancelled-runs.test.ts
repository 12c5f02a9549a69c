import { describe, expect, test } from 'vitest'
import { objectSetup } from './support/object.ts'
import { HOUR_MS, MINUTE_MS, START_AT, settled, setup } from './support/setup.ts'

const ONE = { concurrency: { key: 'tenant', limit: 1 } }

describe('a handler that goes on after its run was cancelled', () => {
  test('counts for its concurrency limit until it settles', async () => {
    const { engine, engineWith, handler } = setup()
    handler.instant = false
    await engine.start('brief', null, 'first', ONE)
    await settled()
    // At once, and in another engine of the object too.
    const cancelled = engine.cancelRun('first')
    const other = engineWith()
    await expect(other.start('brief', null, 'second', ONE)).rejects.toThrow('concurrency limit')
    expect(await cancelled).toBe(true)
    await expect(engine.start('brief', null, 'second', ONE)).rejects.toThrow('concurrency limit')
    expect(await engine.start('brief', null, 'third')).toMatchObject({ status: 'running' })
    handler.end('first')
    await settled()
    expect(await engine.start('brief', null, 'second', ONE)).toMatchObject({ status: 'running' })
  })

  test('counts for a window that is due as well', async () => {
    const { engine, schedules, handler, tickIn, decisions } = setup()
    handler.instant = false
    await schedules.create({ id: 'a', workflow: 'brief', every: '1h', ...ONE })
    const [runId = ''] = await tickIn(HOUR_MS)
    await engine.cancelRun(runId)
    expect(await tickIn(HOUR_MS)).toEqual([])
    expect((await decisions('a'))[0]).toEqual(['start_failed', START_AT + 2 * HOUR_MS])
    handler.end(runId)
    await settled()
    expect(await tickIn(HOUR_MS)).toHaveLength(1)
  })

  test('is waited for by drain', async () => {
    const { engine, handler } = setup()
    handler.instant = false
    await engine.start('brief', null, 'first')
    await settled()
    await engine.cancelRun('first')
    let isDrained = false
    const drained = engine.drain().then(() => {
      isDrained = true
    })
    await settled()
    expect(isDrained).toBe(false)
    handler.end('first')
    await drained
    expect(await engine.getRun('first')).toMatchObject({ status: 'cancelled' })
  })

  test('and never settles counts until it times out', async () => {
    const { object, ask } = objectSetup({
      runTimeoutMs: 2 * MINUTE_MS,
      behaviour: () => ({ takesMs: HOUR_MS, ignoresAbort: true }),
    })
    await ask((engine) => engine.start('brief', null, 'first', ONE))
    await object.advance('1 minute')
    await ask((engine) => engine.cancelRun('first'))
    await expect(ask((engine) => engine.start('brief', null, 'second', ONE))).rejects.toThrow(
      'concurrency limit',
    )
    await object.advance('2 minutes')
    expect(await ask((engine) => engine.start('brief', null, 'second', ONE))).toMatchObject({
      status: 'running',
    })
  })
})
