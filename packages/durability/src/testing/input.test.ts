import { expect, test } from 'vitest'
import { SimulatedClock, SimulatedWorld, simulateObject } from './index.ts'

const object = () => simulateObject(() => ({ alarm: () => undefined }))
const withOptions = (options: object) => simulateObject(() => ({ alarm: () => undefined }), options)

// The types refuse some of these; a test written in JavaScript has only the check.
test.each<[string, () => unknown, string]>([
  ['a factory', () => simulateObject('x' as never), 'factory must be a function, got "x"'],
  ['an id', () => withOptions({ id: 5 }), 'options.id must be a string, got 5'],
  ['a limit', () => withOptions({ alarmLimit: '1 moon' }), 'options.alarmLimit must be milliseconds from 0'],
  [
    'a timing',
    () => withOptions({ alarmCalls: 'never' }),
    'options.alarmCalls must be "same turn" or "later turn", got "never"',
  ],
  ['a listener', () => withOptions({ onSeam: 1 }), 'options.onSeam must be a function, got 1'],
  ['a start', () => new SimulatedWorld({ startAt: Number.NaN }), 'options.startAt must be epoch ms, got NaN'],
  [
    'ties',
    () => new SimulatedWorld({ ties: 'none' as never }),
    'options.ties must be "timers first" or "alarms first"',
  ],
  ['steps', () => new SimulatedWorld({ maxSteps: 0 }), 'options.maxSteps must be an integer from 1'],
  ['a jump', () => new SimulatedClock().jump(Number.NaN), 'byMs must be a finite number of ms, got NaN'],
  [
    'a tick',
    () => new SimulatedClock().tick(-1),
    'must be milliseconds from 0, or a text like "90 s" or "3 days", got -1',
  ],
  [
    'a write',
    () => object().crashAt({ write: 0, when: 'before' }),
    'write must be an integer above 0, the number of writes so far, got 0',
  ],
  [
    'a side',
    () => object().crashAt({ write: 1, when: 'during' as never }),
    'when must be "before" or "after", got "during"',
  ],
  [
    'a seam',
    () => object().crashAtAwait(Number.NaN),
    'seam must be an integer above 0, the number of seams so far, got NaN',
  ],
  ['a delay of alarms', () => object().holdAlarms('soon' as never), 'got "soon"'],
  ['an alarm', () => object().overwriteAlarm(Number.NaN), 'at must be epoch ms, got NaN'],
  [
    'a query',
    () => object().faults.failExec('INSERT' as never),
    'matching must be a regular expression, got "INSERT"',
  ],
  [
    'how many to skip',
    () => object().faults.failExec(/x/, { skip: -1 }),
    'skip must be an integer from 0, or Infinity, got -1',
  ],
  [
    'how many to fail',
    () => object().faults.failSetAlarm({ times: 0.5 }),
    'times must be an integer from 0, or Infinity, got 0.5',
  ],
])('%s that makes no sense is refused by name, at once', (_what, call, message) => {
  expect(call).toThrow(message)
})

test.each(['advance', 'holdAlarms'] as const)('%s names a duration that it does not know', async (method) => {
  await expect(async () => object()[method]('3 dayz' as never)).rejects.toThrow(
    'must be milliseconds from 0, or a text like "90 s" or "3 days", got "3 dayz"',
  )
})
