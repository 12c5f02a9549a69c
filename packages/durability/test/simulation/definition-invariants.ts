import { nextOccurrence, tickAfter } from './expressions.ts'
import type { StoredDefinition, StoredRun } from './stored.ts'
import { at } from './trace.ts'

/**
 * What may follow a stored definition, one or more turns later at the same instant. `rows` are the runs that are
 * stored. Answers what is wrong.
 */
export function definitionViolations(
  before: StoredDefinition,
  after: StoredDefinition,
  rows: readonly StoredRun[],
  now: number,
): string[] {
  const violations: string[] = []
  const recorded = rows.filter((row) => row.id > before.lastRunId)
  const first = recorded[0]
  if (after.lastRunId > before.lastRunId && first === undefined) {
    violations.push(`run ${after.lastRunId} was recorded and removed in one turn`)
  }
  if (recorded.length > after.lastRunId - before.lastRunId)
    violations.push('a run was recorded without a key')
  if ((after.lastTime ?? 0) < (before.lastTime ?? 0)) violations.push('nominal times went back')
  if (first !== undefined && first.scheduledTime !== before.nextTime) {
    violations.push(`${at(first.scheduledTime)} was recorded, the cursor was ${at(before.nextTime)}`)
  }
  const last = recorded.at(-1)
  if (last !== undefined && last.scheduledTime !== after.lastTime) {
    violations.push(`${at(last.scheduledTime)} was recorded, the last one is ${at(after.lastTime)}`)
  }
  const isSame = after.version === before.version && after.expression === before.expression
  const wasDue = before.nextTime !== null && before.nextTime + before.jitterMs <= now
  const version = isSame || wasDue ? before.version : after.version
  if (first !== undefined && first.version !== version) {
    violations.push(`${at(first.scheduledTime)} has version ${first.version}, right is ${version}`)
  }
  const jitterMs = isSame || wasDue ? before.jitterMs : after.jitterMs
  if (first !== undefined && first.dueAt !== first.scheduledTime + jitterMs) {
    violations.push(`${at(first.scheduledTime)} is due at ${at(first.dueAt)}, its offset is ${jitterMs}`)
  }
  if (isSame && after.jitterMs !== before.jitterMs) violations.push('the offset was drawn again')
  if (!isSame && after.version !== null && before.version !== null && after.version < before.version) {
    violations.push(`the version went back from ${before.version} to ${after.version}`)
  }
  if (isSame) violations.push(...cursorViolations(before, after, now))
  // A tick of the new definition may follow in the same turn: it has moved the cursor then.
  else if (recorded.length === (wasDue ? 1 : 0)) violations.push(...changeViolations(before, after, now))
  else if (recorded.length === 0) violations.push(`the due tick ${at(before.nextTime)} was dropped`)
  return violations
}

/** The same definition: its cursor moves by a tick only. */
function cursorViolations(
  before: StoredDefinition,
  { nextTime, lastTime }: StoredDefinition,
  now: number,
): string[] {
  let expected = before.nextTime ?? undefined
  if (lastTime !== before.lastTime && before.nextTime !== null && before.expression !== null) {
    expected = tickAfter(before.expression, before.nextTime, before.jitterMs, now)
  }
  if ((nextTime ?? undefined) === expected) return []
  return [`the cursor is ${at(nextTime)}, right is ${at(expected)}`]
}

/** Another definition: a due tick of the old one is recorded, one within its jitter is kept or dropped. */
function changeViolations(before: StoredDefinition, after: StoredDefinition, now: number): string[] {
  const { nextTime: passed, jitterMs } = before
  const isDue = passed !== null && passed + jitterMs <= now
  const { expression } = after
  if (expression === null) {
    return after.nextTime === null ? [] : ['a cancelled schedule has a next tick']
  }
  const last = after.lastTime ?? Number.NEGATIVE_INFINITY
  let expected = nextOccurrence(expression, Math.max(now, last))
  if (expression === before.expression && passed !== null && passed <= now) {
    const kept = isDue ? tickAfter(expression, passed, jitterMs, now) : passed
    if (kept === undefined || kept <= now) expected = kept
  }
  if ((after.nextTime ?? undefined) === expected) return []
  return [`the new cursor is ${at(after.nextTime)}, right is ${at(expected)}`]
}
