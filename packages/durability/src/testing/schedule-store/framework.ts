import type { ScheduleStore } from '../../schedules/store.ts'

/** The part of a test framework that the suite uses; vitest, Jest and `node:test` with an `expect` have it. */
export interface TestFramework {
  describe(name: string, define: () => void): void
  test(name: string, run: () => Promise<void>): void
  expect(value: unknown): ReturnType<typeof JSON.parse>
}

/** Hands a fresh, empty store to `use`: what an object must not be left for can be done inside. */
export type MakeStore = (use: (store: ScheduleStore) => Promise<void>) => Promise<void>

/** Declares one fact about a fresh store. */
export type It = (fact: string, check: (store: ScheduleStore) => Promise<void>) => void

/** One part of the suite. */
export interface Part {
  readonly it: It
  readonly expect: TestFramework['expect']
}
