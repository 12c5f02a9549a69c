import v8 from 'node:v8'
import vm from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidCronError, nextCronTime, parseCron, previousCronTime } from '../../src/cron/index.ts'
import { anyText } from './random-cron.ts'

/** ms of CPU and bytes of heap that no input may pass, whoever typed it. */
const MAX_CPU_MS = 50
const MAX_HEAP_BYTES = 5_000_000

const { CRON_SEED = '20260615', CRON_TEXTS = '20000' } = process.env

const NOW = Date.UTC(2026, 5, 15, 10, 20, 30)

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Antarctica/Troll',
  'Pacific/Apia',
  'America/Nuuk',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Africa/Cairo',
]

const everyW = Array.from({ length: 31 }, (_, index) => `${index + 1}W`).join(',')
const everyFifth = [0, 1, 2, 3, 4, 5, 6].map((day) => `${day}#5`).join(',')

/** Each would keep croner, or a plain search over it, busy for long: by what it has, or by never matching. */
const NAMED: Readonly<Record<string, string>> = {
  'seconds that only match in the gap': '* * 2 * 3 0L',
  'seconds that only match in a gap of two hours': '* * 1,2 * 3 0L',
  'minutes that only match in the gap': '* 2 * 3 0L',
  'minutes of an American gap': '* 2 8-14 3 +0',
  'a gap that ends on the next day': '* * 23 * 3 6L',
  'a gap at midnight': '* * 0 * 4 5L',
  'every second of an hour, as a fixed time': '0-59 0-59 1 * * *',
  'every second of the day, as a fixed time': '0-59 0-59 0-23 * * *',
  'a day that does not exist': '0 0 31 2 *',
  'a day that five months do not have': '0 0 31 2,4,6,9,11 *',
  'a first that is a fifth weekday': `0 0 1 * +${everyFifth}`,
  'weekdays that are Sundays': `0 0 ${everyW} * +0`,
  'weekdays that are last, first and fifth Sundays': `0 0 ${everyW} * +0L,0#1,0#5,6#5,6L`,
  'a last day that is a fourth Monday, at a missing hour': `* * 2 L,${everyW.slice(0, 60)} * +1#4`,
  'a leap day on a fifth Monday': '0 0 29 2 +1#5',
  'every second': '* * * * * *',
  'a range far past the field': '0-99999999/1 * * * *',
  'a step far past the field': '*/99999999 * * * *',
  'a list of 1 MB': `${'1,'.repeat(500_000)}1 * * * *`,
  'blanks of 1 MB': ' '.repeat(1_000_000),
  'stars of 1 MB': '*'.repeat(1_000_000),
  'fields of 1 MB': '* '.repeat(500_000),
  'the longest list': `${'0-59,'.repeat(48)}1 * * * *`,
}

type Call = (expression: string, timezone: string) => unknown

const CALLS: Readonly<Record<string, Call>> = {
  nextCronTime: (expression, timezone) => nextCronTime(expression, NOW, { timezone }),
  previousCronTime: (expression, timezone) => previousCronTime(expression, NOW, { timezone }),
  parseCron: (expression, timezone) => parseCron(expression, { timezone }),
}

describe('any input is answered within 50 ms of CPU and 5 MB', () => {
  for (const [title, expression] of Object.entries(NAMED)) {
    it(title, () => {
      for (const timezone of ZONES) {
        for (const [name, call] of Object.entries(CALLS)) {
          expect(
            leastCpuMs(() => call(expression, timezone)),
            `${name} in ${timezone}`,
          ).toBeLessThan(MAX_CPU_MS)
        }
      }
    })
  }

  it('the named ones, first called and then kept in the caches', () => {
    const collect = garbageCollector()
    collect()
    const before = process.memoryUsage().heapUsed
    for (const [title, expression] of Object.entries(NAMED)) {
      const start = process.memoryUsage().heapUsed
      for (const timezone of ZONES) attempt(() => nextCronTime(expression, NOW, { timezone }))
      expect(process.memoryUsage().heapUsed - start, title).toBeLessThan(MAX_HEAP_BYTES)
    }
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(MAX_HEAP_BYTES)
  })

  it(`${CRON_TEXTS} random texts (seed ${CRON_SEED})`, { timeout: 300_000 }, () => {
    const collect = garbageCollector()
    const texts = fc.sample(anyText, { seed: Number(CRON_SEED), numRuns: Number(CRON_TEXTS) })
    collect()
    const before = process.memoryUsage().heapUsed
    const calls = Object.values(CALLS)
    const slow = texts.filter((text, index) => {
      const call = calls[index % calls.length]
      const timezone = ZONES[index % ZONES.length] ?? 'UTC'
      return leastCpuMs(() => call?.(text, timezone)) >= MAX_CPU_MS
    })
    expect(slow).toEqual([])
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(MAX_HEAP_BYTES)
  })
})

/** Of at most three runs; one below the bound is enough, so that another process on the machine is not blamed on us. */
function leastCpuMs(call: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 3 && least >= MAX_CPU_MS; run++) {
    const start = process.cpuUsage()
    attempt(call)
    const { user, system } = process.cpuUsage(start)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}

/** Runs it; it may only answer or refuse. */
function attempt(call: () => unknown): void {
  try {
    call()
  } catch (error) {
    if (!(error instanceof InvalidCronError) || error.message.length > 200) throw error
  }
}

function garbageCollector(): () => void {
  v8.setFlagsFromString('--expose-gc')
  const collect: unknown = vm.runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('This runtime has no garbage collector to call')
  return () => collect()
}
