import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { NEVER_AT, PHASES, SCHEMA } from '../../src/schedules/sql/schema.ts'
import * as sql from '../../src/schedules/sql/statements.ts'
import type { DecisionRow, RunRow, ScheduleQuery, ScheduleRow } from '../../src/schedules/store.ts'

const database = new DatabaseSync(':memory:')
for (const statement of SCHEMA) database.exec(statement)
afterAll(() => database.close())

/** The steps of the plan, one a line. */
function planOf({ sql: text, bindings }: sql.Statement): string {
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...bindings)
  return steps.map(({ detail }) => detail).join('\n')
}

/** It reads a table or an index from one end to the other. Constants and lists that are bound are no tables. */
const SCANS = /SCAN (s|t|durable_\w+)/
const SORTS = /TEMP B-TREE/

const DUE = 'SEARCH s USING INDEX durable_schedules_due_idx'
const AT = 1_767_225_600_000

const SCHEDULE: ScheduleRow = {
  id: 'one',
  namespace: 'default',
  workflow: 'brief',
  definition: {
    input: null,
    cron: null,
    everyMs: 60_000,
    every: 60_000,
    timezone: null,
    jitterMs: 0,
    jitter: null,
    overlap: 'allow',
    catchup: 'latest',
    tags: ['a'],
    searchAttributes: null,
    priority: 0,
    concurrency: null,
    startAt: null,
    endAt: null,
    maxRuns: null,
    pauseAfterFailures: null,
  },
  note: null,
  paused: false,
  finished: false,
  nextWindow: AT,
  nextFireAt: AT,
  firstAttemptAt: null,
  attempts: 0,
  lastFireAt: null,
  lastRunId: null,
  fires: 0,
  lastError: null,
  failures: 0,
  createdAt: AT,
  updatedAt: AT,
  revision: 1,
  writes: 1,
}

const RUN: RunRow = {
  id: `sched:one:${AT}`,
  workflow: 'brief',
  kind: 'handler',
  input: null,
  namespace: 'default',
  tags: [],
  searchAttributes: null,
  priority: 0,
  scheduleId: 'one',
  scheduledTime: AT,
  manual: false,
  revision: 1,
  concurrencyKey: 'key',
  status: 'running',
  counted: false,
  createdAt: AT,
  startedAt: AT,
  finishedAt: null,
  error: null,
  expiresAt: null,
}

const DECISION: DecisionRow = {
  scheduleId: 'one',
  decision: 'paused',
  scheduledTime: null,
  from: null,
  to: null,
  decidedAt: AT,
  reason: null,
}

const EXPECTED = { nextFireAt: AT, writes: 1 }
const AFTER = { paused: false, nextFireAt: AT, id: 'one' }
const AFTER_RUN = { createdAt: AT, id: RUN.id }

describe('the due query', () => {
  test.each<{ what: string; query: ScheduleQuery }>([
    { what: 'of an operator', query: { dueBy: AT, limit: 100 } },
    { what: 'of a namespace', query: { dueBy: AT, namespace: 'mine', limit: 100 } },
    { what: 'of the next batch', query: { dueBy: AT, after: AFTER, limit: 100 } },
    { what: 'for all that is live', query: { dueBy: NEVER_AT, limit: 100 } },
  ])('$what uses durable_schedules_due_idx up to the time and sorts nothing', ({ query }) => {
    const plan = planOf(sql.listSchedules(query))
    expect(plan).toContain(DUE)
    expect(plan).toMatch(/paused=\? AND .*next_fire_at[^)]*</)
    expect(plan.split('\n')).toHaveLength(1)
  })

  test('its next batch begins where the last one ended', () => {
    expect(planOf(sql.listSchedules({ dueBy: AT, after: AFTER, limit: 100 }))).toMatch(/\(next_fire_at,id\)>/)
  })

  test('when the soonest is due is the first entry of the same index', () => {
    expect(planOf(sql.nextDueAt(undefined))).toMatch(
      /^SEARCH durable_schedules USING COVERING INDEX durable_schedules_due_idx \(paused=\?\)$/,
    )
    expect(planOf(sql.nextDueAt('mine'))).toMatch(
      /^SEARCH durable_schedules USING INDEX durable_schedules_due_idx \(paused=\?\)$/,
    )
  })
})

describe('list', () => {
  const filters: ScheduleQuery[] = [
    { paused: false, limit: 10 },
    { paused: true, limit: 10 },
    { paused: false, namespace: 'mine', workflow: 'brief', limit: 10 },
  ]
  test.each(
    filters.flatMap((query) => [query, { ...query, after: { ...AFTER, paused: query.paused === true } }]),
  )('searches the index and sorts nothing: %j', (query) => {
    const plan = planOf(sql.listSchedules(query))
    expect(plan).toContain(DUE)
    expect(plan).not.toMatch(SORTS)
    if (query.after !== undefined) expect(plan).toMatch(/\(next_fire_at,id\)>/)
  })

  // Read in the order of the index until the page is full.
  test.each<ScheduleQuery>([
    { limit: 10 },
    { namespace: 'mine', limit: 10 },
    { workflow: 'brief', limit: 10 },
    { namespace: 'mine', workflow: 'brief', limit: 10 },
  ])('goes along the index and sorts nothing: %j', (query) => {
    expect(planOf(sql.listSchedules(query))).toBe('SCAN s USING INDEX durable_schedules_due_idx')
    const plan = planOf(sql.listSchedules({ ...query, after: AFTER }))
    expect(plan).toMatch(/^SEARCH s USING INDEX durable_schedules_due_idx \(\(paused,next_fire_at,id\)>/)
  })

  // The one exception: those of a tag are looked up one by one, and sorted.
  test.each<ScheduleQuery>([
    { tag: 'a', limit: 10 },
    { tag: 'a', namespace: 'mine', limit: 10, after: AFTER },
    { tag: 'a', paused: true, workflow: 'brief', limit: 10 },
  ])('finds those of a tag by its table, and sorts them: %j', (query) => {
    const plan = planOf(sql.listSchedules(query))
    expect(plan).toContain('SEARCH t USING PRIMARY KEY (tag=?)')
    expect(plan).toContain('SEARCH s USING PRIMARY KEY (id=?)')
    expect(plan).not.toMatch(SCANS)
    expect(plan).toMatch(SORTS)
  })
})

describe('count', () => {
  test('of a tag reads what has it', () => {
    expect(planOf(sql.countSchedules({ tag: 'a' }))).not.toMatch(SCANS)
  })

  // Documented: it reads every schedule.
  test('without a tag or a pause state goes through one index or table', () => {
    expect(planOf(sql.countSchedules({}))).toMatch(SCANS)
    expect(planOf(sql.countSchedules({ paused: true }))).not.toMatch(SCANS)
  })
})

/** Every other statement: by key or index, without a scan and without a sort. */
const STATEMENTS: Readonly<Record<string, sql.Statement | readonly sql.Statement[]>> = {
  insertSchedule: sql.insertSchedule(SCHEDULE),
  selectSchedule: sql.selectSchedule('one'),
  updateSchedule: sql.updateSchedule({ paused: true }, sql.asExpected('one', EXPECTED, RUN.id)),
  writeTags: sql.writeTags('one', ['a'], sql.whileExpected('one', EXPECTED)),
  'writeTags after an insert': sql.writeTags('one', ['a'], sql.whileWritten(SCHEDULE)),
  deleteSchedule: sql.deleteSchedule('one', EXPECTED, AT),
  countWindow: sql.countWindow('one', RUN.id, AT),
  addFire: sql.addFire('one', EXPECTED, RUN.id),
  insertRun: sql.insertRun(RUN, { limit: 3, schedule: { id: 'one', expected: EXPECTED } }),
  selectRun: sql.selectRun(RUN.id),
  updateRun: sql.updateRun(RUN.id, { status: 'complete' }, ['running', 'queued']),
  countRun: sql.countRun(RUN.id, { status: 'running' }, sql.whileThere('one')),
  deleteRun: sql.deleteRun(RUN.id),
  'listRuns, what waits': sql.listRuns(
    { kind: 'handler', status: ['queued'], order: 'queue', limit: 25 },
    PHASES.here,
  ),
  countRuns: sql.countRuns('one'),
  removeOldestRun: sql.removeOldestRun('one', RUN.id),
  removeExpired: sql.removeExpired(AT, 100),
  lastExpired: sql.lastExpired(AT),
  lastWindow: sql.lastWindow('one'),
  insertDecision: sql.insertDecision(DECISION, sql.whileExpected('one', EXPECTED)),
  listDecisions: sql.listDecisions('one', 50),
  trimDecisions: sql.trimDecisions('one', 50),
  trimRuns: sql.trimRuns('one', 50),
}

describe('no scan and no sort', () => {
  test.each(
    Object.entries(STATEMENTS).map(([name, statements]) => ({ name, statements: [statements].flat() })),
  )('in $name', ({ statements }) => {
    for (const statement of statements) {
      const plan = planOf(statement)
      expect(plan).not.toMatch(SCANS)
      expect(plan).not.toMatch(SORTS)
    }
  })

  test('every statement that there is has been looked at', () => {
    const makesNone = [
      'all',
      'asExpected',
      'whileExpected',
      'whileUncounted',
      'whileThere',
      'whileWritten',
      'phasesOf',
    ]
    const elsewhere = ['listSchedules', 'countSchedules', 'nextDueAt', 'listRuns']
    const known = [...Object.keys(STATEMENTS).map((name) => name.split(/\W/)[0]), ...makesNone, ...elsewhere]
    expect(Object.keys(sql).filter((name) => !known.includes(name))).toEqual([])
  })
})

describe('listRuns', () => {
  test.each([
    { phase: PHASES.outside, after: undefined },
    { phase: PHASES.outside, after: AFTER_RUN },
    { phase: PHASES.over, after: undefined },
    { phase: PHASES.over, after: AFTER_RUN },
  ])(
    'reads runs of phase $phase newest first along the index, and sorts at most those of one moment',
    (query) => {
      const plan = planOf(sql.listRuns({ order: 'newest', limit: 10, after: query.after }, query.phase))
      expect(plan).toContain(
        'SEARCH durable_runs USING INDEX durable_runs_order_idx (phase=? AND order_rank=?',
      )
      expect(plan).not.toContain('USE TEMP B-TREE FOR ORDER BY')
      if (query.after !== undefined) expect(plan).toContain('order_at<?')
    },
  )

  // Few by their nature: what waits or runs in this object, the kept runs of one schedule, the live ones of one key.
  test.each([
    {
      what: 'what waits or runs here',
      query: {},
      phase: PHASES.here,
      by: 'durable_runs_order_idx (phase=?)',
    },
    {
      what: 'the runs of a schedule',
      query: { scheduleId: 'one' },
      phase: undefined,
      by: 'PRIMARY KEY (schedule_id=?)',
    },
    {
      what: 'the live runs of a key',
      query: { concurrencyKey: 'key', status: ['running'] as const },
      phase: undefined,
      by: 'durable_runs_concurrency_idx (concurrency_key=?)',
    },
  ])('sorts $what, and reads no others', ({ query, phase, by }) => {
    expect(planOf(sql.listRuns({ ...query, order: 'newest', limit: 10 }, phase))).toContain(by)
  })
})
