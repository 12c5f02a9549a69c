import type { ParsedSchedule } from './definition.ts'
import type { EngineParts } from './parts.ts'
import type { ScheduleRow } from './store.ts'

export function newRow(engine: EngineParts, parsed: ParsedSchedule, now: number): ScheduleRow {
  return {
    id: parsed.id,
    namespace: parsed.namespace ?? engine.namespace ?? 'default',
    workflow: engine.nameOf(parsed.workflow),
    definition: parsed.definition,
    note: parsed.note ?? null,
    paused: parsed.paused ?? false,
    finished: false,
    nextWindow: null,
    nextFireAt: null,
    firstAttemptAt: null,
    attempts: 0,
    lastFireAt: null,
    lastRunId: null,
    fires: 0,
    lastError: null,
    failures: 0,
    createdAt: now,
    updatedAt: now,
    revision: 1,
    writes: 1,
  }
}
