import { beforeEach, expect, test, vi } from 'vitest'
import { callHook, eventsTo, report } from './report.ts'

const lines: unknown[] = []
const settle = () => new Promise((resolve) => setImmediate(resolve))

beforeEach(() => {
  lines.length = 0
  vi.spyOn(console, 'error').mockImplementation((line: unknown) => void lines.push(line))
  return () => vi.restoreAllMocks()
})

const reported = () => lines.map((line) => JSON.parse(String(line)) as object)

const clock = { now: () => 5, setTimer: () => ({ cancel: () => undefined }) }

test('a report is one line of JSON with its event, the error and the details', () => {
  report('write_failed', new TypeError('full'), { attempt: 2 })
  expect(reported()).toEqual([
    { event: 'durability.write_failed', error: { name: 'TypeError', message: 'full' }, attempt: 2 },
  ])
})

test('a console that throws changes nothing', () => {
  vi.spyOn(console, 'error').mockImplementation(() => {
    throw new Error('console')
  })
  const told: unknown[] = []
  report('write_failed', new Error('full'))
  eventsTo(clock, (event: unknown) => told.push(event), 'run', 'dead_letter')({}, { type: 'dead_lettered' })
  expect(told).toHaveLength(1)
})

test('a hook is called at once, with its argument', () => {
  const calls: number[] = []
  callHook((argument: number) => calls.push(argument), 5)
  expect(calls).toEqual([5])
})

test('without a hook nothing happens', async () => {
  callHook(undefined, 5)
  await settle()
  expect(lines).toEqual([])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('hook')
    },
  ],
  ['rejects', () => Promise.reject(new Error('hook'))],
  [
    'answers with what cannot be waited for',
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: a hostile answer is the point
      get then() {
        throw new Error('hook')
      },
    }),
  ],
])('a hook that %s is reported and changes nothing', async (_how, hook) => {
  callHook(hook, undefined)
  await settle()
  expect(reported()).toEqual([{ event: 'durability.hook_failed', error: { name: 'Error', message: 'hook' } }])
})

test('a hook that hangs holds nobody up', async () => {
  callHook(() => new Promise(() => {}), undefined)
  await settle()
  expect(lines).toEqual([])
})

test('what is given up is logged also where nobody listens, and nothing else is', () => {
  const tell = eventsTo<{ readonly key: string }, { readonly type: string }>(
    clock,
    null,
    'run',
    'dead_letter',
  )
  tell({ key: 'a' }, { type: 'started' })
  tell({ key: 'a' }, { type: 'dead_lettered' })
  expect(reported()).toEqual([
    { event: 'durability.dead_letter', entityKind: 'run', timestamp: 5, key: 'a', type: 'dead_lettered' },
  ])
})

test('a listener is told what is given up as well as it is logged', () => {
  const told: unknown[] = []
  const hook = (event: unknown) => told.push(event)
  const tell = eventsTo<{ readonly key: string }, { readonly type: string }>(
    clock,
    hook,
    'run',
    'dead_letter',
  )
  tell({ key: 'a' }, { type: 'dead_lettered' })
  expect(told).toEqual([{ entityKind: 'run', timestamp: 5, key: 'a', type: 'dead_lettered' }])
  expect(reported()).toHaveLength(1)
})
