import type { ScheduleStatus, StoredSchedule } from '../../src/experimental/status.ts'
import { RUNNING, type Stored, type StoredDefinition, WAITING } from './stored.ts'

/** What an object may say of itself: what is stored. `stuck` are its handlers that go on after their run's outcome. */
export function statusViolations(
  status: ScheduleStatus,
  told: StoredSchedule | undefined,
  { definition, runs }: Stored,
  stuck: number,
): string[] {
  const right: ScheduleStatus = {
    version: definition?.version ?? undefined,
    state: stateOf(definition),
    running: runs.filter(({ state }) => state === RUNNING).length,
    waiting: runs.filter(({ state }) => state === WAITING).length,
    undelivered: runs.filter(({ state }) => state > RUNNING).length,
    stuck,
  }
  return [...differences('status()', status, right), ...differences('get()', told, toldOf(definition))]
}

function stateOf(definition: StoredDefinition | undefined): ScheduleStatus['state'] {
  if (definition === undefined) return 'none'
  if (definition.nextTime !== null) return 'live'
  return definition.expression === null ? 'cancelled' : 'ended'
}

function toldOf(definition: StoredDefinition | undefined): StoredSchedule | undefined {
  if (definition === undefined || definition.expression === null || definition.version === null)
    return undefined
  const { expression, version, jitterMs, nextTime } = definition
  return { expression, version, jitterMs, nextAt: nextTime ?? undefined }
}

function differences(what: string, told: object | undefined, right: object | undefined): string[] {
  const [one, other] = [JSON.stringify(told), JSON.stringify(right)]
  return one === other ? [] : [`${what} answers ${one}, right is ${other}`]
}
