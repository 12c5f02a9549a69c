import { auditAlarms } from './audit-alarms.ts'
import { auditDeliveries } from './audit-deliveries.ts'
import { auditLife } from './audit-life.ts'
import { auditOutcomes } from './audit-outcomes.ts'
import { auditRuns } from './audit-runs.ts'
import { auditTicks } from './audit-ticks.ts'
import { type History, historyOf } from './history.ts'
import type { Entry } from './log.ts'
import type { Violation } from './violation.ts'

const AUDITS: readonly ((history: History) => Generator<Violation>)[] = [
  auditRuns,
  auditOutcomes,
  auditDeliveries,
  auditTicks,
  auditAlarms,
  auditLife,
]

/** What was promised and did not hold, from the log alone. */
export function audit(entries: readonly Entry[]): Violation[] {
  const history = historyOf(entries)
  return AUDITS.flatMap((check) => [...check(history)])
}
