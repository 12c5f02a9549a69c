import { CLOCKS } from './scenarios/clocks.ts'
import { DEPLOYS } from './scenarios/deploys.ts'
import { LOST_ALARMS } from './scenarios/lost-alarms.ts'
import { NAMED_ALARMS } from './scenarios/named-alarms.ts'
import { OUTCOMES } from './scenarios/outcomes.ts'
import { REFUSALS } from './scenarios/refusals.ts'
import { RUNS } from './scenarios/runs.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { VERSIONS } from './scenarios/versions.ts'

export type { Scenario } from './scenarios/scenario.ts'

/** Small histories, one for each thing that can happen to a schedule. Together they come to every state. */
export const SCENARIOS: readonly Scenario[] = [
  ...VERSIONS,
  ...RUNS,
  ...OUTCOMES,
  ...NAMED_ALARMS,
  ...CLOCKS,
  ...LOST_ALARMS,
  ...DEPLOYS,
  ...REFUSALS,
]
