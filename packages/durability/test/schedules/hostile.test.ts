import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DurabilityEngine, dispatch, type ScheduleDefinition } from '../../src/schedules/index.node.ts'
import { HOUR_MS, START_AT, silenceReports } from './support/setup.ts'
import { type OpenStore, STORES } from './support/stores.ts'

const opened: OpenStore[] = []
beforeEach(() => void silenceReports())
afterEach(() => {
  for (const { close } of opened.splice(0)) close()
  vi.restoreAllMocks()
})

/** An engine over a store, at a time that the test moves. */
function engineOver(open: () => OpenStore) {
  const opening = open()
  opened.push(opening)
  const sent: string[] = []
  let now = START_AT
  const send = dispatch(({ runId }) => void sent.push(runId))
  const engine = new DurabilityEngine({ store: opening.store, workflows: { send }, clock: () => now })
  return { ...opening, engine, schedules: engine.schedules, sent, moveTo: (at: number) => (now = at) }
}

const HOURLY = { workflow: 'send', every: '1h' }
const hour = (n: number) => START_AT + n * HOUR_MS

const IDS: readonly string[] = [
  'a/b:c%',
  '__proto__',
  'constructor',
  'toString',
  '👩‍👩‍👧',
  `it's "quoted"`,
  `'; DROP TABLE durable_schedules; --`,
  `x') OR 1=1 --`,
  '%_*?[a]',
  '\u202eevil\u202c\u200f',
  'e\u0301 and é',
  ' leading and trailing ',
  'line\nbreak\ttab',
  '%2F..%2f',
  '../../etc',
  'x?y=1#z',
  '<script>alert(1)</script>',
  ':manual:5',
  'manual',
  'sched:a:5',
  'a:1767229200000',
  'null',
  '0',
  'x'.repeat(200),
  '𝕏'.repeat(100),
]

describe.each(STORES)('over $name', ({ open }) => {
  test.each(IDS)('the id %j survives every verb, beside others like it', async (id) => {
    const { schedules, engine, sent, moveTo } = engineOver(open)
    const others = [`${id.slice(0, 190)}~`, 'plain', id.normalize('NFD') === id ? 'É' : id.normalize('NFD')]
    for (const other of others) await schedules.create({ ...HOURLY, id: other })
    const tag = `t:${id}`
    const definition = { ...HOURLY, id, tags: [tag], input: { [id]: id }, note: id, namespace: id }

    expect(await schedules.create(definition)).toMatchObject({ id, namespace: id, note: id, tags: [tag] })
    await expect(schedules.create(definition)).rejects.toMatchObject({ code: 'schedule_already_exists' })
    expect(await schedules.upsert({ ...definition, priority: 1 })).toMatchObject({ id, revision: 2 })
    expect((await schedules.list({ tag })).map((row) => row.id)).toEqual([id])
    expect((await schedules.list({ namespace: id })).map((row) => row.id)).toEqual([id])
    expect(await schedules.count()).toBe(4)
    expect(await schedules.preview(id, { count: 1 })).toEqual([{ scheduledTime: hour(1), dueAt: hour(1) }])

    moveTo(hour(1))
    expect(await schedules.tick()).toContain(`sched:${id}:${hour(1)}`)
    const manual = await schedules.trigger(id)
    expect(manual.id).toBe(`sched:${id}:manual:${hour(1)}`)
    expect(sent.filter((runId) => runId.startsWith(`sched:${id}:`)).sort()).toEqual(
      [`sched:${id}:${hour(1)}`, manual.id].sort(),
    )
    const run = await engine.getRun(`sched:${id}:${hour(1)}`)
    expect(run).toMatchObject({ scheduleId: id, scheduledTime: hour(1), tags: [tag, `schedule:${id}`] })
    expect(JSON.stringify(run?.input)).toBe(JSON.stringify({ [id]: id }))
    expect(await engine.listRuns({ scheduleId: id })).toHaveLength(2)
    expect(await engine.listRuns({ tag: `schedule:${id}` })).toHaveLength(2)

    expect(await schedules.pause(id)).toMatchObject({ id, paused: true, note: id })
    expect(await schedules.resume(id)).toMatchObject({ id, paused: false, fires: 1 })
    expect((await schedules.history(id)).map(({ decision }) => decision).sort()).toEqual(
      ['fired', 'paused', 'resumed'].sort(),
    )
    expect(await schedules.delete(id)).toBe(true)
    expect(await schedules.get(id)).toBe(null)
    expect((await schedules.list()).map((row) => row.id).sort()).toEqual([...others].sort())
    expect(await engine.listRuns({ scheduleId: id })).toHaveLength(2)
  })

  test.each([`x') OR 1=1 --`, 'default', '%', '_', `a'b`, '"', '👋', '*', 'é'])(
    'the tag %j finds what has exactly this tag',
    async (tag) => {
      const { schedules } = engineOver(open)
      await schedules.create({ ...HOURLY, id: 'with', tags: [tag] })
      await schedules.create({ ...HOURLY, id: 'without', tags: ['x', `${tag}${tag}`, 'a_b', '%%'] })
      await schedules.create({ ...HOURLY, id: 'none' })
      expect((await schedules.list({ tag })).map(({ id }) => id)).toEqual(['with'])
      expect(await schedules.count({ tag })).toBe(1)
    },
  )

  test('a NUL in a filter is refused by its name', async () => {
    const { schedules } = engineOver(open)
    for (const name of ['tag', 'namespace', 'workflow'] as const)
      await expect(schedules.list({ [name]: 'a\0b' })).rejects.toMatchObject({ field: name })
  })
})

type Refused = readonly [field: string, changes: Readonly<Record<string, unknown>>]

const CRON = { every: undefined, cron: '0 9 * * *' }

/** Each is one change of a good definition. */
const REFUSED: readonly Refused[] = [
  ['id', { id: '' }],
  ['id', { id: '.' }],
  ['id', { id: '..' }],
  ['id', { id: 'a:manual' }],
  ['id', { id: ':manual' }],
  ['id', { id: 'a\0' }],
  ['id', { id: 'a\ud800' }],
  ['id', { id: '\udc00a' }],
  ['id', { id: 'x'.repeat(201) }],
  ['id', { id: 'x'.repeat(10_000) }],
  ['id', { id: null }],
  ['id', { id: ['a'] }],
  ['workflow', { workflow: '' }],
  ['workflow', { workflow: null }],
  ['workflow', { workflow: 'w\0' }],
  ['workflow', { workflow: 'w\ud800' }],
  ['workflow', { workflow: 'x'.repeat(201) }],
  ['input', { input: 'x'.repeat(128 * 1024 - 1) }],
  ['input', { input: '€'.repeat(44_000) }],
  ['input', { input: { deep: new Map() } }],
  ['input', { input: [Number.POSITIVE_INFINITY] }],
  ['input', { input: { toJSON: () => 1 } }],
  ['input', { input: nested(101) }],
  ['cron', { every: undefined }],
  ['cron', { cron: '* * * * *' }],
  ['cron', { ...CRON, cron: '' }],
  ['cron', { ...CRON, cron: '61 * * * *' }],
  ['cron', { ...CRON, cron: '* * * * * * *' }],
  ['cron', { ...CRON, cron: '0 0 31 4 *' }],
  ['cron', { ...CRON, cron: '0 0 30 2 *' }],
  ['cron', { ...CRON, cron: '0 0 31 2,4,6 *' }],
  ['cron', { ...CRON, cron: '2026-12-01T00:00:00Z' }],
  ['cron', { ...CRON, cron: '0-99999999/1 * * * *' }],
  ['cron', { ...CRON, cron: `${'1,'.repeat(500_000)}1 * * * *` }],
  ['cron', { ...CRON, cron: ' '.repeat(1_000_000) }],
  ['cron', { ...CRON, cron: '0 9 * * *\0' }],
  ['cron', { ...CRON, cron: 5 }],
  ['timezone', { ...CRON, timezone: 'America/New_Yrok' }],
  ['timezone', { ...CRON, timezone: '' }],
  ['timezone', { ...CRON, timezone: 'local' }],
  ['timezone', { ...CRON, timezone: '+02:00' }],
  ['timezone', { ...CRON, timezone: 'PST' }],
  ['timezone', { ...CRON, timezone: 'A/'.repeat(5_000) }],
  ['timezone', { ...CRON, timezone: null }],
  ['timezone', { timezone: 'Europe/Berlin' }],
  ['every', { every: 0 }],
  ['every', { every: -1 }],
  ['every', { every: '-15m' }],
  ['every', { every: '0m' }],
  ['every', { every: 999 }],
  ['every', { every: '1e3' }],
  ['every', { every: 'PT15M' }],
  ['every', { every: Number.POSITIVE_INFINITY }],
  ['every', { every: 2 ** 53 }],
  ['every', { every: '522w' }],
  ['jitter', { jitter: '1h' }],
  ['jitter', { jitter: 3_600_001 }],
  ['jitter', { jitter: -1 }],
  ['jitter', { jitter: 'soon' }],
  ['jitter', { ...CRON, cron: '0,5 9 * * *', jitter: '5m' }],
  ['jitter', { ...CRON, cron: '* * * * * *', jitter: 1_000 }],
  ['overlap', { overlap: 'buffer' }],
  ['overlap', { overlap: null }],
  ['catchup', { catchup: 'all' }],
  ['catchup', { catchup: '__proto__' }],
  ['paused', { paused: 1 }],
  ['paused', { paused: null }],
  ['note', { note: 'é'.repeat(2_049) }],
  ['note', { note: 'n\0' }],
  ['note', { note: '\udfff' }],
  ['namespace', { namespace: '' }],
  ['namespace', { namespace: 'n\0' }],
  ['namespace', { namespace: 'x'.repeat(201) }],
  ['tags', { tags: { 0: 'a' } }],
  ['tags', { tags: Array.from({ length: 65 }, (_, n) => `${n}`) }],
  ['tags[0]', { tags: [''] }],
  ['tags[0]', { tags: [5] }],
  ['tags[1]', { tags: ['a', 'b\0'] }],
  ['tags[0]', { tags: ['x'.repeat(257)] }],
  ['searchAttributes', { searchAttributes: { a: 'x'.repeat(8_192) } }],
  ['searchAttributes', { searchAttributes: 'a' }],
  ['searchAttributes', { searchAttributes: { a: undefined, b: Number.NaN } }],
  ['priority', { priority: 0.5 }],
  ['priority', { priority: '1' }],
  ['priority', { priority: 2 ** 53 }],
  ['concurrency', { concurrency: [] }],
  ['concurrency.key', { concurrency: { limit: 1 } }],
  ['concurrency.key', { concurrency: { key: 'k'.repeat(257), limit: 1 } }],
  ['concurrency.limit', { concurrency: { key: 'k', limit: 0 } }],
  ['concurrency.limit', { concurrency: { key: 'k', limit: 1.5 } }],
  ['startAt', { startAt: -1 }],
  ['startAt', { startAt: '2026-01-01' }],
  ['startAt', { startAt: Number.NaN }],
  ['endAt', { startAt: START_AT + 10, endAt: START_AT + 10 }],
  ['endAt', { startAt: START_AT + 10, endAt: START_AT }],
  ['endAt', { endAt: 8.64e15 }],
  ['maxRuns', { maxRuns: 0 }],
  ['maxRuns', { maxRuns: -1 }],
  ['maxRuns', { maxRuns: 1.5 }],
  ['pauseAfterFailures', { pauseAfterFailures: 0 }],
  ['pauseAfterFailures', { pauseAfterFailures: '3' }],
  ['nextFireAt', { nextFireAt: 5 }],
  ['every ', { 'every ': '5m' }],
  ['__proto__', JSON.parse('{"__proto__":1}')],
]

function nested(depth: number): unknown {
  return depth === 0 ? null : [nested(depth - 1)]
}

/** Without what is left out of it; own members only. */
function changed(changes: object): ScheduleDefinition {
  const members = [...Object.entries({ id: 'a', ...HOURLY }), ...Object.entries(changes)]
  const kept = new Map(members.filter(([name, value]) => value !== undefined || name === 'id'))
  for (const [name, value] of Object.entries(changes)) if (value === undefined) kept.delete(name)
  return Object.fromEntries(kept) as unknown as ScheduleDefinition
}

describe.each(STORES)('what cannot be used is refused with the name of its field, over $name', ({ open }) => {
  test.each(REFUSED)('%s, case %#: nothing is stored', async (field, changes) => {
    const { schedules, dump } = engineOver(open)
    await schedules.create({ ...HOURLY, id: 'a', tags: ['kept'], input: { kept: true } })
    const before = await dump()
    const definition = changed(changes)
    const fresh = 'id' in changes ? definition : { ...definition, id: 'fresh' }
    const refusal = { name: 'InvalidScheduleError', code: 'invalid_schedule', field }
    await expect(schedules.create(fresh)).rejects.toMatchObject(refusal)
    await expect(schedules.upsert(fresh)).rejects.toMatchObject(refusal)
    await expect(schedules.upsert(definition)).rejects.toMatchObject(refusal)
    await expect(schedules.preview(definition)).rejects.toMatchObject(refusal)
    expect(await dump()).toEqual(before)
  })

  test('by arguments of verbs as well', async () => {
    const { schedules, engine, dump } = engineOver(open)
    await schedules.create({ ...HOURLY, id: 'a' })
    const before = await dump()
    const long = 'x'.repeat(201)
    const refused: readonly [string, Promise<unknown>][] = [
      ['id', schedules.get('a:manual')],
      ['id', schedules.pause(long)],
      ['id', schedules.resume('\ud800')],
      ['id', schedules.trigger('')],
      ['id', schedules.delete('a\0')],
      ['id', schedules.history('.')],
      ['note', schedules.pause('a', 'é'.repeat(2_049))],
      ['note', schedules.pause('a', 5 as never)],
      ['count', schedules.preview('a', { count: 0 })],
      ['count', schedules.preview('a', { count: 1_001 })],
      ['limit', schedules.history('a', { limit: 0 })],
      ['limit', schedules.history('a', { limit: 1_001 })],
      ['runId', engine.start('send', null, 'x'.repeat(301))],
      ['runId', engine.getRun('a\0')],
      ['input', engine.start('send', 'x'.repeat(131_072), 'mine')],
      ['priority', engine.start('send', null, 'mine', { priority: 0.5 })],
      ['status', engine.listRuns({ status: '__proto__' as never })],
      ['limit', engine.listRuns({ limit: 1_001 })],
    ]
    for (const [field, call] of refused) await expect(call).rejects.toMatchObject({ field })
    expect(await dump()).toEqual(before)
  })

  test('and bounds that leave no window, by create', async () => {
    const { schedules, dump } = engineOver(open)
    const before = await dump()
    const past = { ...HOURLY, id: 'a', endAt: hour(1) }
    await expect(schedules.create(past)).rejects.toMatchObject({ field: 'endAt' })
    expect(await dump()).toEqual(before)
    expect(await schedules.create({ ...past, endAt: hour(1) + 1 })).toMatchObject({ nextFireAt: hour(1) })
  })

  test('but not what is just within its bounds', async () => {
    const { schedules } = engineOver(open)
    const largest = {
      id: 'x'.repeat(200),
      workflow: 'send',
      every: '520w',
      jitter: '519w',
      input: 'x'.repeat(128 * 1024 - 2),
      note: 'x'.repeat(4_096),
      namespace: 'x'.repeat(200),
      tags: Array.from({ length: 64 }, (_, n) => `${n}`.padEnd(256, 'x')),
      searchAttributes: { a: 'x'.repeat(8_192 - 8) },
      concurrency: { key: 'x'.repeat(256), limit: 1_000_000 },
      priority: -1_000_000,
      maxRuns: 1,
      pauseAfterFailures: 1,
    }
    expect(await schedules.create(largest)).toMatchObject(largest)
    expect(await schedules.get(largest.id)).toMatchObject(largest)
  })
})

test('a text of a megabyte is refused within 50 ms', async () => {
  const { schedules } = engineOver(STORES[0]?.open ?? (() => raise()))
  const huge = 'x'.repeat(1_000_000)
  for (const field of ['id', 'workflow', 'every', 'jitter', 'note', 'namespace', 'cron', 'timezone']) {
    const changes = { ...(field === 'cron' || field === 'timezone' ? CRON : {}), [field]: huge }
    const spent: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const before = process.cpuUsage()
      await expect(schedules.create(changed(changes))).rejects.toMatchObject({ field })
      const { user, system } = process.cpuUsage(before)
      spent.push((user + system) / 1_000)
    }
    expect(Math.min(...spent), field).toBeLessThan(50)
  }
})

function raise(): never {
  throw new Error('no store')
}
