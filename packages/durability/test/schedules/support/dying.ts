import type { ScheduleStore } from '../../../src/schedules/index.node.ts'

/** At which call of its store an engine dies, and whether the call still takes effect. */
export interface Death {
  readonly call: number
  readonly when: 'before' | 'after'
}

/** What one engine sees of a store, until it dies: from then on nothing is answered, and nothing takes effect. */
export interface DyingStore {
  readonly store: ScheduleStore
  /** Calls so far, and of what is outside. */
  readonly calls: number
  readonly dead: boolean
  /** Resolves at its death. */
  readonly died: Promise<void>
  /** A call of something outside, at which it can die too. */
  outside<T>(call: () => T): Promise<T>
}

export function dyingStore(store: ScheduleStore, deaths: readonly Death[] = []): DyingStore {
  const { promise: died, resolve } = Promise.withResolvers<void>()
  let calls = 0
  let dead = false

  const through = async <T>(call: () => T | Promise<T>): Promise<T> => {
    await later()
    if (dead) return never()
    calls += 1
    const death = deaths.find((one) => one.call === calls)
    if (death?.when === 'before') return die()
    const answer = await call()
    if (death?.when === 'after') return die()
    await later()
    return dead ? never() : answer
  }

  const die = (): Promise<never> => {
    dead = true
    resolve()
    return never()
  }

  const members = Object.entries(store).map(([name, member]) => {
    if (typeof member !== 'function') return [name, name === 'boundTo' ? undefined : member]
    return [name, (...args: never[]) => through(() => (member as (...given: never[]) => unknown)(...args))]
  })
  return {
    // The same methods, each with the same arguments and answer, late.
    store: Object.fromEntries(members) as ScheduleStore,
    get calls() {
      return calls
    },
    get dead() {
      return dead
    },
    died,
    outside: (call) => through(call),
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}

async function later(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await Promise.resolve()
}
