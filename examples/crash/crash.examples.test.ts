import { abortAllDurableObjects } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { fireAlarm, moveTo } from '../support/time.ts'
import type { Env } from './worker.ts'

// The bindings of `[env.examples]` hold those of this example. A stub from before a crash is broken.
const { IMPORTS, LEDGER } = env as unknown as Env
const importer = () => IMPORTS.getByName('test')
const whatHappened = async () => (await LEDGER.getByName('ledger').entries()).map(({ what }) => what)

afterEach(() => {
  vi.useRealTimers()
})

test('a run that a crash cuts off is reported as interrupted, and the next one runs as ever', async () => {
  moveTo('2031-01-01T00:30:00Z')
  await importer().start('0 * * * *')
  moveTo('2031-01-01T01:00:00Z')
  const cutOff = fireAlarm(importer()).catch(() => 'cut off')
  await expect.poll(whatHappened).toEqual(['started'])
  await abortAllDurableObjects()
  expect(await cutOff).toBe('cut off')

  moveTo('2031-01-01T01:00:05Z')
  await fireAlarm(importer())
  expect(await whatHappened()).toEqual(['started', 'errored: ScheduledRunInterruptedError'])

  moveTo('2031-01-01T02:00:00Z')
  await fireAlarm(importer())
  expect((await whatHappened()).slice(2)).toEqual(['started', 'finished', 'complete'])
})
