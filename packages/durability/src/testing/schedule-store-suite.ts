import { describeDecisions } from './schedule-store/decisions.ts'
import { describeFires } from './schedule-store/fires.ts'
import type { MakeStore, TestFramework } from './schedule-store/framework.ts'
import { describeLists } from './schedule-store/lists.ts'
import { describeRuns } from './schedule-store/runs.ts'
import { describeSchedules } from './schedule-store/schedules.ts'

/** What every store of `durability/schedules` has to do; run it on your own. */
export function describeScheduleStore(
  name: string,
  makeStore: MakeStore,
  { describe, test, expect }: TestFramework,
): void {
  const it = (fact: string, check: Parameters<MakeStore>[0]) => test(fact, () => makeStore(check))
  const parts = {
    schedules: describeSchedules,
    lists: describeLists,
    runs: describeRuns,
    decisions: describeDecisions,
    'a fire': describeFires,
  }
  describe(`${name} as a schedule store`, () => {
    for (const [part, define] of Object.entries(parts)) describe(part, () => define({ it, expect }))
  })
}
