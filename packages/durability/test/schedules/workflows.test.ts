import { describe, expect, test } from 'vitest'
import { workflow } from '../../src/schedules/index.node.ts'
import { HOUR_MS, settled, setup } from './support/setup.ts'

/** A binding of which each `create` waits until the test answers it; an instance is there from then on. */
class Held {
  readonly creates: PromiseWithResolvers<void>[] = []
  /** Statuses by instance id. */
  readonly instances = new Map<string, string>()

  async create({ id }: { readonly id: string }): Promise<void> {
    const answer = Promise.withResolvers<void>()
    this.creates.push(answer)
    await answer.promise
    this.instances.set(id, 'running')
  }

  async get(id: string) {
    const status = this.instances.get(id)
    if (status === undefined) throw new Error('instance.not_found')
    return {
      status: async () => ({ status }),
      terminate: async () => void this.instances.set(id, 'terminated'),
    }
  }
}

async function twoStarts() {
  const held = new Held()
  const { engine } = setup({ workflows: { brief: workflow(held) } })
  const start = () => engine.start('brief', null, 'run').catch((error: Error) => error.message)
  const starts = [start(), start()] as const
  await settled()
  const [first, second] = held.creates
  if (first === undefined || second === undefined) throw new Error('Both starts create until one succeeded')
  return { held, engine, starts, first, second }
}

describe('of two starts of one id that overlap', () => {
  test('the one that fails leaves the run of the other', async () => {
    const { engine, starts, first, second } = await twoStarts()
    first.resolve()
    expect(await starts[0]).toMatchObject({ id: 'run', status: 'running' })
    second.reject(new Error('Out of order'))
    expect(await starts[1]).toBe('Out of order')
    expect(await engine.getRun('run')).toMatchObject({ status: 'running' })
  })

  test('the one that succeeds has a run, though the other failed before', async () => {
    const { engine, starts, first, second } = await twoStarts()
    first.reject(new Error('Out of order'))
    expect(await starts[0]).toBe('Out of order')
    expect(await engine.getRun('run')).toBeNull()
    second.resolve()
    expect(await starts[1]).toMatchObject({ id: 'run', status: 'running' })
    expect(await engine.getRun('run')).toMatchObject({ status: 'running' })
  })

  test('both answer the one run when both succeed', async () => {
    const { engine, starts, first, second } = await twoStarts()
    second.resolve()
    first.resolve()
    expect(await starts[0]).toEqual(await starts[1])
    expect(await engine.listRuns()).toHaveLength(1)
  })
})

test('a run that was cancelled while its instance was being created is terminated', async () => {
  const held = new Held()
  const { engine } = setup({ workflows: { brief: workflow(held) } })
  const started = engine.start('brief', null, 'run')
  await settled()
  expect(await engine.cancelRun('run')).toBe(true)
  held.creates[0]?.resolve()
  expect(await started).toMatchObject({ status: 'cancelled' })
  expect(held.instances).toEqual(new Map([['run', 'terminated']]))
})

test('a run that ends while it is being cancelled is not said to be cancelled', async () => {
  const held = new Held()
  const ending = {
    create: (given: { readonly id: string }) => held.create(given),
    async get(id: string) {
      const instance = await held.get(id)
      const terminate = async () => {
        held.instances.set(id, 'complete')
        throw new Error('(instance.cannot_terminate) It is over')
      }
      return { ...instance, terminate }
    },
  }
  const { engine } = setup({ workflows: { brief: workflow(ending) } })
  const started = engine.start('brief', null, 'run')
  await settled()
  held.creates[0]?.resolve()
  await started
  expect(await engine.cancelRun('run')).toBe(false)
  expect(await engine.getRun('run')).toMatchObject({ status: 'complete' })
})

test('an engine that knows the Workflow no more cannot cancel its run, and does not say so', async () => {
  const held = new Held()
  const { engine, engineWith } = setup({ workflows: { brief: workflow(held) } })
  const started = engine.start('brief', null, 'run')
  await settled()
  held.creates[0]?.resolve()
  await started
  const other = engineWith({ workflows: {} })
  await expect(other.cancelRun('run')).rejects.toMatchObject({ code: 'workflow_not_registered' })
  expect(await engine.getRun('run')).toMatchObject({ status: 'running' })
})

test('what is no binding is refused at once', () => {
  expect(() => workflow(undefined as never)).toThrow(/^binding must be a object, got undefined$/)
})

test('params makes what the Workflow of the binding takes', () => {
  const typed = {} as Workflow<{ readonly user: string }>
  expect(workflow(typed, { params: ({ scheduleId }) => ({ user: scheduleId ?? '' }) })).toMatchObject({
    kind: 'workflow',
  })
  // @ts-expect-error: a number is no user
  workflow(typed, { params: () => ({ user: 1 }) })
})

test.each(['terminated', 'unknown'])(
  'a run that is %s neither counts as a failure nor ends a row of them',
  async (ended) => {
    const instances = new Map<string, string>()
    const binding = {
      create: async ({ id }: { readonly id: string }) => void instances.set(id, 'running'),
      get: async (id: string) => ({
        status: async () => ({ status: instances.get(id) ?? 'unknown' }),
        terminate: async () => undefined,
      }),
    }
    const { schedules, tickIn } = setup({ workflows: { brief: workflow(binding) } })
    await schedules.create({ id: 'a', workflow: 'brief', every: '1h', pauseAfterFailures: 2 })
    const outcomes = ['errored', ended, 'complete', 'errored', ended, 'errored']
    for (const outcome of outcomes) {
      expect(await tickIn(HOUR_MS)).toHaveLength(1)
      for (const [id, status] of instances) if (status === 'running') instances.set(id, outcome)
    }
    expect(await tickIn(HOUR_MS)).toEqual([])
    expect(await schedules.get('a')).toMatchObject({
      paused: true,
      fires: outcomes.length,
      lastError: 'Paused after 2 failed runs in a row',
    })
  },
)
