import { describeThrown } from '../core/thrown.ts'
import type { RunFilter, ScheduleDefinition, ScheduleFilter } from '../schedules/index.node.ts'
import type { ConsoleAction } from './actions.ts'
import { isOfEngine, RequestError } from './answers.ts'
import type { ConsoleEngine } from './console-engine.ts'

/** One request, checked for form: who asks is known, and may. */
export interface Call {
  readonly engine: ConsoleEngine
  /** Of the path, decoded; '' where the path has none. */
  readonly id: string
  readonly query: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
  /** Whether the schedule must not be there yet: `If-None-Match: *`. */
  readonly isNew: boolean
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly action: ConsoleAction
  /** The parameters that the address may have. */
  readonly query?: readonly string[]
  /** Answers what is sent as JSON; `undefined`: nothing is. */
  answer(call: Call): Promise<unknown>
}

/** The API. What changes something is never a GET. */
export const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/schedules',
    action: 'schedules.list',
    query: ['namespace', 'workflow', 'tag', 'paused', 'limit', 'offset', 'cursor'],
    async answer({ engine, query }) {
      const page = await engine.schedules.list(partial<ScheduleFilter>(engine, query))
      return { schedules: page, cursor: page.cursor, ...failedOf(page) }
    },
  },
  {
    method: 'GET',
    path: '/schedules/:id',
    action: 'schedules.get',
    async answer({ engine, id }) {
      const schedule = await engine.schedules.get(id)
      if (schedule === null) throw unknown(id)
      return schedule
    },
  },
  {
    method: 'GET',
    path: '/schedules/:id/preview',
    action: 'schedules.preview',
    query: ['count'],
    async answer({ engine, id, query }) {
      return { windows: await engine.schedules.preview(id, query) }
    },
  },
  {
    method: 'GET',
    path: '/schedules/:id/history',
    action: 'schedules.history',
    query: ['limit'],
    async answer({ engine, id, query }) {
      return { decisions: await engine.schedules.history(id, query) }
    },
  },
  {
    method: 'POST',
    path: '/schedules/:id/pause',
    action: 'schedules.pause',
    async answer({ engine, id, body }) {
      const { note, ...rest } = body
      refuseFields(rest)
      // The engine says what is wrong with a note.
      return engine.schedules.pause(id, note as string | undefined)
    },
  },
  {
    method: 'POST',
    path: '/schedules/:id/resume',
    action: 'schedules.resume',
    async answer({ engine, id, body }) {
      refuseFields(body)
      return engine.schedules.resume(id)
    },
  },
  {
    method: 'POST',
    path: '/schedules/:id/trigger',
    action: 'schedules.trigger',
    async answer({ engine, id, body }) {
      refuseFields(body)
      try {
        return await engine.schedules.trigger(id)
      } catch (error) {
        if (isOfEngine(error)) throw error
        // What is started said no, in its own words: whoever may start it may read them.
        throw new RequestError('start_failed', describeThrown(error).message)
      }
    },
  },
  {
    method: 'PUT',
    path: '/schedules/:id',
    action: 'schedules.upsert',
    async answer({ engine, id, body, isNew }) {
      const { id: given = id } = body
      if (given !== id) {
        throw new RequestError('bad_request', 'id is another one than that of the address', 'id')
      }
      // The engine checks every field of it.
      const definition = { ...body, id } as unknown as ScheduleDefinition
      return isNew ? engine.schedules.create(definition) : engine.schedules.upsert(definition)
    },
  },
  {
    method: 'DELETE',
    path: '/schedules/:id',
    action: 'schedules.delete',
    async answer({ engine, id, body }) {
      refuseFields(body)
      if (!(await engine.schedules.delete(id))) throw unknown(id)
    },
  },
  {
    method: 'GET',
    path: '/runs',
    action: 'runs.list',
    query: ['scheduleId', 'workflow', 'tag', 'namespace', 'status', 'limit', 'cursor'],
    async answer({ engine, query }) {
      const page = await engine.listRuns(partial<RunFilter>(engine, query))
      return { runs: page, cursor: page.cursor, ...failedOf(page) }
    },
  },
  {
    method: 'POST',
    path: '/preview',
    action: 'schedules.preview',
    query: ['count'],
    async answer({ engine, body, query }) {
      // The engine checks every field of it.
      const definition = body as unknown as ScheduleDefinition
      return { windows: await engine.schedules.preview(definition, query) }
    },
  },
]

function unknown(id: string): RequestError {
  return new RequestError('not_found', `There is no schedule ${JSON.stringify(id)}`)
}

function refuseFields(body: Readonly<Record<string, unknown>>): void {
  const [name] = Object.keys(body)
  if (name !== undefined)
    throw new RequestError('bad_request', `There is no field "${name.slice(0, 80)}"`, name)
}

function partial<Filter>(engine: ConsoleEngine, query: Readonly<Record<string, unknown>>): Filter {
  // The engine checks every value of it.
  return { ...query, ...(engine.shards !== undefined && { partial: true }) } as Filter
}

function failedOf(page: object): { readonly failed?: readonly string[] } {
  const failed = (page as { readonly failed?: readonly Error[] }).failed ?? []
  return failed.length === 0 ? {} : { failed: failed.map(({ message }) => message) }
}
