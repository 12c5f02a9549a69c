import { beforeEach, expect, test, vi } from 'vitest'
import { callHook, report } from './report.ts'

const lines: unknown[] = []
const settle = () => new Promise((resolve) => setImmediate(resolve))

beforeEach(() => {
  lines.length = 0
  vi.spyOn(console, 'error').mockImplementation((line: unknown) => void lines.push(line))
  return () => vi.restoreAllMocks()
})

const reported = () => lines.map((line) => JSON.parse(String(line)) as object)

test('a report is one line of JSON with its event, the error and the details', () => {
  report('write_failed', new TypeError('full'), { attempt: 2 })
  expect(reported()).toEqual([
    { event: 'durability.write_failed', error: { name: 'TypeError', message: 'full' }, attempt: 2 },
  ])
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
