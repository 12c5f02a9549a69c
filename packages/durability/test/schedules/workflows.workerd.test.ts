import { introspectWorkflow } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import {
  DurabilityEngine,
  d1Store,
  durableObjectStore,
  type ScheduleStore,
  type WorkflowBinding,
  workflow,
} from '../../src/schedules/index.ts'
import { instanceIdOf } from '../../src/schedules/instance-id.ts'
import { setup as objectSetup } from '../workerd/support/setup.ts'
import { MINUTE_MS, START_AT, silenceReports } from './support/setup.ts'
import { dropTables } from './support/tables.ts'
import { end, instanceOf, over, runOf, WAITS, workflowSetup } from './support/workflows.ts'

beforeEach(() => dropTables(env.SCHEDULES_DB))

describe('a due schedule', () => {
  test('starts one instance, with its input as params', async () => {
    await using created = await introspectWorkflow(env.WORKFLOW)
    const { schedules, every, tickIn, engineWith } = workflowSetup()
    await every('one', { input: { waits: false, for: 'Ada' } })
    const other = engineWith()
    const [mine, others] = await Promise.all([tickIn(MINUTE_MS), other.schedules.tick()])
    expect([...mine, ...others]).toEqual([runOf('one')])
    expect(await tickIn(1)).toEqual([])
    await over(runOf('one'), 'complete')
    expect(await instanceOf(runOf('one'))).toMatchObject({ output: { waits: false, for: 'Ada' } })
    const ids = new Set((await created.get()).map((instance) => Reflect.get(instance, 'instanceId')))
    expect([...ids]).toEqual([await instanceIdOf(runOf('one'))])
    expect(await schedules.get('one')).toMatchObject({ fires: 1, lastRunId: runOf('one') })
  })

  test('gives the instance what params makes of the run', async () => {
    const { every, tickIn } = workflowSetup({
      workflow: {
        params: ({ input, runId, scheduleId, scheduledTime, namespace, tags, revision }) => ({
          ...{ input, runId, scheduleId, scheduledTime, namespace, tags, revision },
        }),
      },
    })
    await every('made', { tags: ['a tag'] })
    await tickIn(MINUTE_MS)
    await over(runOf('made'), 'complete')
    expect((await instanceOf(runOf('made'))).output).toEqual({
      input: WAITS,
      runId: runOf('made'),
      scheduleId: 'made',
      scheduledTime: START_AT + MINUTE_MS,
      namespace: 'default',
      tags: ['a tag', 'schedule:made'],
      revision: 1,
    })
  })

  test('of an object starts its instance by the alarm', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: START_AT })
    const object = objectSetup()
    await object.inside(async ({ ctx, scheduler }) => {
      const engine = new DurabilityEngine({
        store: durableObjectStore(ctx.storage),
        scheduler,
        persistedSchedules: true,
        workflows: { brief: workflow(env.WORKFLOW) },
      })
      await engine.schedules.create({ id: 'alarmed', workflow: 'brief', every: '1m', input: {} })
      vi.setSystemTime(START_AT + MINUTE_MS)
      await scheduler.alarm()
      expect(await engine.schedules.get('alarmed')).toMatchObject({ fires: 1 })
    })
    await over(runOf('alarmed'), 'complete')
  })
})

describe('an instance that exists already', () => {
  test('counts as started, where the platform says nothing', async () => {
    const { schedules, engine, every, tickIn } = workflowSetup()
    await every('there')
    await env.WORKFLOW.create({ id: await instanceIdOf(runOf('there')), params: { first: true } })
    expect(await tickIn(MINUTE_MS)).toEqual([runOf('there')])
    await over(runOf('there'), 'complete')
    expect((await instanceOf(runOf('there'))).output).toEqual({ first: true })
    expect(await schedules.get('there')).toMatchObject({ fires: 1, lastError: null })
    expect(await engine.getRun(runOf('there'))).toMatchObject({ status: 'complete' })
  })

  test('counts as started, where the platform says so', async () => {
    const { schedules, every, tickIn } = workflowSetup({ binding: refusingDuplicates() })
    await every('said')
    await env.WORKFLOW.create({ id: await instanceIdOf(runOf('said')), params: WAITS })
    expect(await tickIn(MINUTE_MS)).toEqual([runOf('said')])
    expect(await schedules.get('said')).toMatchObject({ fires: 1, lastError: null })
  })

  test('is not started again when the engine died before it moved the schedule on', async () => {
    silenceReports()
    const store = d1Store(env.SCHEDULES_DB)
    let crashes = 1
    const dying: ScheduleStore = {
      ...store,
      fire(unit) {
        crashes -= 1
        if (crashes === 0) throw new Error('It died')
        return store.fire?.(unit) ?? 'lost'
      },
    }
    const { schedules, every, tickIn } = workflowSetup({ store: dying, binding: refusingDuplicates() })
    await every('died')
    expect(await tickIn(MINUTE_MS)).toEqual([])
    expect(await schedules.get('died')).toMatchObject({ fires: 0, lastRunId: null })
    expect(await tickIn(1_000)).toEqual([runOf('died')])
    expect(await schedules.get('died')).toMatchObject({ fires: 1, lastError: null })
  })

  test('that was started by hand under a run id is what start answers', async () => {
    const { engine } = workflowSetup({ binding: refusingDuplicates() })
    const first = await engine.start('brief', WAITS, 'by hand: 1')
    expect(first).toMatchObject({ id: 'by hand: 1', status: 'running' })
    expect(await engine.start('brief', { other: true }, 'by hand: 1')).toEqual(first)
    await engine.cancelRun('by hand: 1')
  })
})

describe('a run', () => {
  test('is terminated by cancelRun', async () => {
    const { every, tickIn, engine } = workflowSetup()
    await every('cancelled')
    await tickIn(MINUTE_MS)
    expect(await engine.cancelRun(runOf('cancelled'))).toBe(true)
    expect(await instanceOf(runOf('cancelled'))).toMatchObject({ status: 'terminated' })
    expect(await engine.getRun(runOf('cancelled'))).toMatchObject({ status: 'cancelled' })
    expect(await engine.cancelRun(runOf('cancelled'))).toBe(false)
  })

  test('whose instance is over is not cancelled any more', async () => {
    const { every, tickIn, engine } = workflowSetup()
    await every('over')
    await tickIn(MINUTE_MS)
    await end(runOf('over'))
    expect(await engine.cancelRun(runOf('over'))).toBe(false)
    expect(await engine.getRun(runOf('over'))).toMatchObject({ status: 'complete' })
  })

  test('whose instance cannot be terminated is not said to be cancelled', async () => {
    let isDown = true
    const { every, tickIn, engine } = workflowSetup({
      binding: {
        async get(id) {
          const instance = await env.WORKFLOW.get(id)
          return {
            status: () => instance.status(),
            terminate: () => (isDown ? Promise.reject(new Error('Out of order')) : instance.terminate()),
          }
        },
      },
    })
    await every('stays')
    await tickIn(MINUTE_MS)
    await expect(engine.cancelRun(runOf('stays'))).rejects.toThrow('Out of order')
    expect(await engine.getRun(runOf('stays'))).toMatchObject({ status: 'running' })
    isDown = false
    expect(await engine.cancelRun(runOf('stays'))).toBe(true)
  })

  test('has the status of its instance, in getRun and listRuns', async () => {
    const { every, tickIn, engine, now } = workflowSetup()
    for (const id of ['runs', 'ends', 'fails']) await every(id)
    await tickIn(MINUTE_MS)
    expect(await engine.getRun(runOf('ends'))).toMatchObject({ status: 'running', finishedAt: null })
    await end(runOf('ends'))
    await end(runOf('fails'), 'Out of ink')
    const running = await engine.listRuns({ status: 'running' })
    expect(running.map(({ id }) => id)).toEqual([runOf('runs')])
    const status = new Map((await engine.listRuns()).map((run) => [run.scheduleId, run]))
    expect(status.get('runs')).toMatchObject({ status: 'running', error: null })
    expect(status.get('ends')).toMatchObject({ status: 'complete', finishedAt: now(), error: null })
    expect(status.get('fails')).toMatchObject({ status: 'errored', error: 'Error: Out of ink' })
    await engine.cancelRun(runOf('runs'))
  })

  test('whose instance is missing is unknown, which is over', async () => {
    const { every, tickIn, engine } = workflowSetup({ binding: { create: async () => undefined } })
    await every('missing')
    await tickIn(MINUTE_MS)
    expect(await engine.listRuns()).toMatchObject([{ id: runOf('missing'), status: 'unknown' }])
    expect(await engine.cancelRun(runOf('missing'))).toBe(false)
  })

  test('exists only once its instance does, and is created until then', async () => {
    silenceReports()
    let fails = 2
    const created: string[] = []
    const { every, tickIn, engine, schedules } = workflowSetup({
      binding: {
        create(given) {
          created.push(given.id)
          fails -= 1
          return fails >= 0 ? Promise.reject(new Error('Out of order')) : env.WORKFLOW.create(given)
        },
      },
    })
    await expect(engine.start('brief', {}, 'late')).rejects.toThrow('Out of order')
    expect(await engine.getRun('late')).toBeNull()
    await every('late', { overlap: 'skip' })
    expect(await tickIn(MINUTE_MS)).toEqual([])
    expect(await schedules.get('late')).toMatchObject({ fires: 0, lastRunId: null, lastFireAt: null })
    expect(await engine.getRun(runOf('late'))).toMatchObject({ status: 'queued', startedAt: null })
    expect(await tickIn(2_000)).toEqual([runOf('late')])
    expect(await schedules.get('late')).toMatchObject({ fires: 1, lastRunId: runOf('late') })
    expect(await engine.start('brief', {}, 'late')).toMatchObject({ status: 'running' })
    const late = await instanceIdOf(runOf('late'))
    expect(created).toEqual(['late', late, late, 'late'])
  })
})

/** As the platform answers a second `create` of an id; the local runtime says nothing. */
function refusingDuplicates(): Partial<WorkflowBinding> {
  return {
    async create(given) {
      const isThere = await env.WORKFLOW.get(given.id).then(
        () => true,
        () => false,
      )
      if (isThere) throw new Error('(instance.already_exists) Provided id already exists')
      return env.WORKFLOW.create(given)
    },
  }
}
