import { afterAll, beforeAll, expect, vi } from 'vitest'
import type { ObjectState } from '../../src/core/state.ts'
import { Model, type ModelOptions } from './model.ts'
import type { Scenario } from './scenarios.ts'

/** Something that goes wrong at one point of a history. */
export type Trouble =
  | { readonly crashAtSeam: number }
  | { readonly crashAtWrite: number; readonly when: 'before' | 'after' }
  /** Storage is full, for a time, from the n-th write on. */
  | { readonly failAtExec: number; readonly times: number }
  /** The platform refuses the n-th alarm, and as many after it. */
  | { readonly refuseAlarm: number; readonly times: number; readonly how: 'throws' | 'rejects' }

export type Timing = Pick<ModelOptions, 'ties' | 'alarmCalls'>

/** How far a history came: the numbers that the next trouble can be planned by. */
export interface Reach {
  readonly writes: number
  readonly seams: number
}

let histories = 0
let elapsedMs = 0

/** Silences what the package reports, and tells at the end how fast histories were. */
export function watchHistories(): void {
  beforeAll(() => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  })
  afterAll(() => {
    vi.restoreAllMocks()
    if (histories === 0) return
    const perSecond = Math.round((histories / elapsedMs) * 1_000)
    console.log(`${histories} histories, ${perSecond} per second`)
  })
}

/** Plays the scenario with these troubles; throws what was violated, with the history that led there. */
export async function play(scenario: Scenario, timing: Timing, troubles: readonly Trouble[]): Promise<Reach> {
  const startedAt = performance.now()
  const alarms = new AlarmRefusals()
  const hasFaults = troubles.some((trouble) => 'failAtExec' in trouble || 'refuseAlarm' in trouble)
  const model = new Model({
    ...scenario.options,
    ...timing,
    hasFaults: hasFaults || scenario.options?.hasFaults === true,
    context: (state) => alarms.watch(state),
  })
  for (const trouble of troubles) plan(model, alarms, trouble)
  try {
    await scenario.script(model)
    await model.end()
    if (troubles.length === 0) model.invariants.checkAllInvoked()
  } catch (error) {
    model.outside.violate(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  const { progress } = model.object
  model.close()
  histories += 1
  elapsedMs += performance.now() - startedAt
  model.verify(`${scenario.name} ${JSON.stringify({ ...timing, troubles })}`)
  return progress
}

/** Collects failures, to show the simplest. */
export class Attempts {
  readonly #failures: string[] = []
  readonly #scenario: Scenario
  readonly #timing: Timing

  constructor(scenario: Scenario, timing: Timing = {}) {
    this.#scenario = scenario
    this.#timing = timing
  }

  async play(...troubles: Trouble[]): Promise<Reach> {
    try {
      return await play(this.#scenario, this.#timing, troubles)
    } catch (error) {
      this.#failures.push(String(error))
      return { writes: 0, seams: 0 }
    }
  }

  verify(): void {
    const simplest = this.#failures.toSorted((one, other) => one.length - other.length)[0]
    expect(this.#failures.length, simplest).toBe(0)
  }
}

function plan(model: Model, alarms: AlarmRefusals, trouble: Trouble): void {
  const { object } = model
  if ('crashAtSeam' in trouble) object.crashAtAwait(trouble.crashAtSeam)
  else if ('crashAtWrite' in trouble) object.crashAt({ write: trouble.crashAtWrite, when: trouble.when })
  else if ('failAtExec' in trouble) {
    object.faults.failExec(/^\s*(INSERT|REPLACE|UPDATE|DELETE)/, {
      skip: trouble.failAtExec - 1,
      times: trouble.times,
    })
  } else if (trouble.how === 'rejects') {
    object.faults.failSetAlarm({ skip: trouble.refuseAlarm - 1, times: trouble.times })
  } else alarms.refuse(trouble.refuseAlarm, trouble.times)
}

/** Makes `setAlarm` throw, where the simulation can only reject. */
class AlarmRefusals {
  #calls = 0
  #from = Number.POSITIVE_INFINITY
  #times = 0

  refuse(from: number, times: number): void {
    this.#from = from
    this.#times = times
  }

  watch(state: ObjectState): ObjectState {
    const { storage } = state
    return {
      id: state.id,
      storage: {
        sql: storage.sql,
        transactionSync: (write) => storage.transactionSync(write),
        getAlarm: () => storage.getAlarm(),
        setAlarm: (at) => {
          this.#calls += 1
          if (this.#calls >= this.#from && this.#calls < this.#from + this.#times) {
            throw new Error('setAlarm() throws')
          }
          return storage.setAlarm(at)
        },
        deleteAlarm: () => storage.deleteAlarm(),
        sync: () => storage.sync(),
      },
    }
  }
}
