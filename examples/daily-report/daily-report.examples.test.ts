import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { fireAlarm, moveTo } from '../support/time.ts'
import worker, { type Env } from './worker.ts'

// The bindings of `[env.examples]` hold those of this example.
const bindings = env as unknown as Env

afterEach(() => {
  vi.useRealTimers()
})

/** The reports of that many days, each written when it is due. */
async function reportsOf(name: string, from: string, days: number) {
  moveTo(from)
  const report = bindings.REPORTS.getByName(name)
  await report.configure({ hour: 2, minute: 30, timezone: 'Europe/Berlin' }, 1)
  for (let day = 0; day < days; day += 1) {
    const stored = await report.read()
    moveTo(stored?.nextAt ?? Number.NaN)
    await fireAlarm(report)
  }
  const reports = await report.reports()
  return reports.map(({ scheduledTime, localTime }) => [new Date(scheduledTime).toISOString(), localTime])
}

test('when the clocks go forward, the missing time of day is reported once, as soon as the gap is over', async () => {
  expect(await reportsOf('spring', '2031-03-29T00:00:00Z', 3)).toEqual([
    ['2031-03-29T01:30:00.000Z', '29 Mar 2031, 02:30:00 CET'],
    ['2031-03-30T01:00:00.000Z', '30 Mar 2031, 03:00:00 CEST'],
    ['2031-03-31T00:30:00.000Z', '31 Mar 2031, 02:30:00 CEST'],
  ])
})

test('when the clocks go back, the time of day that comes twice is reported once, the first time', async () => {
  expect(await reportsOf('autumn', '2031-10-25T00:00:00Z', 3)).toEqual([
    ['2031-10-25T00:30:00.000Z', '25 Oct 2031, 02:30:00 CEST'],
    ['2031-10-26T00:30:00.000Z', '26 Oct 2031, 02:30:00 CEST'],
    ['2031-10-27T01:30:00.000Z', '27 Oct 2031, 02:30:00 CET'],
  ])
})

test('a higher version moves the report to another zone', async () => {
  moveTo('2031-06-01T00:00:00Z')
  const report = bindings.REPORTS.getByName('moved')
  await report.configure({ hour: 9, minute: 0, timezone: 'Europe/Berlin' }, 1)
  expect(await report.read()).toMatchObject({ nextAt: Date.parse('2031-06-01T07:00:00Z') })
  await report.configure({ hour: 9, minute: 0, timezone: 'America/New_York' }, 2)
  expect(await report.read()).toMatchObject({ nextAt: Date.parse('2031-06-01T13:00:00Z') })
})

test.each([
  ['hour=24&minute=0&version=1', 'hour'],
  ['hour=9&minute=0&version=1&timezone=CEST', 'timezone'],
  ['hour=9&minute=0', 'version'],
])('POST /?%s is refused because of its %s', async (query, field) => {
  const response = await worker.fetch(
    new Request(`https://example.com/?${query}`, { method: 'POST' }),
    bindings,
  )
  expect([response.status, await response.text()]).toEqual([400, expect.stringMatching(`^${field}: `)])
})
