import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Model } from './model.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

type Crash = { readonly seam: number } | { readonly write: number; readonly when: 'before' | 'after' }

type Timing = Pick<ConstructorParameters<typeof Model>[0] & object, 'ties' | 'alarmCalls'>

let histories = 0
let elapsedMs = 0

beforeAll(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
})

afterAll(() => {
  vi.restoreAllMocks()
  console.log(`${histories} histories, ${Math.round((histories / elapsedMs) * 1_000)} per second`)
})

/** Plays the scenario with these crashes; answers how many writes and seams it came to. */
async function play(
  scenario: Scenario,
  timing: Timing,
  crashes: readonly Crash[],
): Promise<{ readonly writes: number; readonly seams: number }> {
  const startedAt = performance.now()
  const model = new Model({ ...scenario.options, ...timing })
  for (const crash of crashes) {
    if ('seam' in crash) model.object.crashAtAwait(crash.seam)
    else model.object.crashAt(crash)
  }
  const about = `${scenario.name} ${JSON.stringify({ ...timing, crashes })}`
  try {
    await scenario.script(model)
    await model.end()
  } catch (error) {
    model.outside.violate(String(error))
  }
  const progress = model.object.progress
  model.close()
  histories += 1
  elapsedMs += performance.now() - startedAt
  model.verify(about)
  return progress
}

/** Every place to crash at after the one that was crashed at already. */
function crashesIn({ writes, seams }: { writes: number; seams: number }, after?: Crash): Crash[] {
  const crashes: Crash[] = []
  if (after === undefined || 'write' in after) {
    for (let write = after === undefined ? 1 : after.write + 1; write <= writes; write += 1) {
      crashes.push({ write, when: 'before' }, { write, when: 'after' })
    }
  }
  if (after === undefined || 'seam' in after) {
    for (let seam = after === undefined ? 1 : after.seam + 1; seam <= seams; seam += 1) crashes.push({ seam })
  }
  return crashes
}

async function crashEverywhere(scenario: Scenario, timing: Timing, twice: boolean): Promise<number> {
  const failures: string[] = []
  const attempt = async (crashes: readonly Crash[]) => {
    try {
      return await play(scenario, timing, crashes)
    } catch (error) {
      failures.push(String(error))
      return { writes: 0, seams: 0 }
    }
  }
  const dry = await attempt([])
  for (const first of crashesIn(dry)) {
    const progress = await attempt([first])
    if (!twice) continue
    for (const second of crashesIn(progress, first)) await attempt([first, second])
  }
  expect(failures.length, failures.toSorted((a, b) => a.length - b.length)[0]).toBe(0)
  return failures.length
}

describe('a crash at any write or await breaks no promise', () => {
  test.each(SCENARIOS)('$name', async (scenario) => {
    await crashEverywhere(scenario, {}, false)
    await crashEverywhere(scenario, { ties: 'alarms first', alarmCalls: 'later turn' }, false)
  })
})

describe('nor do two', () => {
  test.each(SCENARIOS.filter(({ twice }) => twice))('$name', async (scenario) => {
    await crashEverywhere(scenario, {}, true)
  })
})
