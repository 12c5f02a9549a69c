import {
  InvalidScheduleError,
  type RemoteSchedules,
  remoteSchedules,
  type ScheduleDefinition,
  ScheduleNotFoundError,
} from 'durability/schedules'
import { badInput, HttpError } from './http-error.ts'
import { isRecord, readJson } from './input.ts'
import type { DemoObjects } from './objects.ts'
import { WORKFLOWS } from './user-schedules.ts'

type Call = (engine: RemoteSchedules, request: Request) => Promise<unknown>
type Calls = Readonly<Record<string, Call>>

/** What there is below `/user-schedules`, by method; `undefined` for nothing. Ids come URL-encoded. */
export function userScheduleCalls(segments: readonly string[]): Calls | undefined {
  const [segment, action, ...rest] = segments
  if (rest.length > 0) return undefined
  if (segment === undefined) return { GET: list }
  const id = decoded(segment)
  if (action === undefined) {
    return {
      GET: ({ schedules }) => found(id, schedules.get(id)),
      PUT: async ({ schedules }, request) => schedules.upsert(definitionOf(id, await readJson(request))),
      DELETE: async ({ schedules }) => ({ deleted: await schedules.delete(id) }),
    }
  }
  return Object.hasOwn(ACTIONS, action) ? ACTIONS[action]?.(id) : undefined
}

const ACTIONS: Readonly<Record<string, (id: string) => Calls>> = {
  pause: (id) => ({
    POST: ({ schedules }, request) => schedules.pause(id, queryOf(request).get('note') ?? undefined),
  }),
  resume: (id) => ({ POST: ({ schedules }) => schedules.resume(id) }),
  trigger: (id) => ({ POST: ({ schedules }) => schedules.trigger(id) }),
  preview: (id) => ({ GET: ({ schedules }) => schedules.preview(id, { count: 10 }) }),
  history: (id) => ({
    GET: async ({ schedules, listRuns }) => ({
      decisions: await schedules.history(id),
      runs: await listRuns({ scheduleId: id }),
    }),
  }),
}

/** Answers with what the call resolves to; the errors of the library become statuses. */
export async function answerUserSchedules(
  call: Call,
  request: Request,
  objects: DemoObjects,
): Promise<Response> {
  try {
    return Response.json(await call(remoteSchedules(objects.DemoSchedules.getByName('demo')), request))
  } catch (error) {
    if (error instanceof InvalidScheduleError) throw badInput(error.field, error.message)
    if (error instanceof ScheduleNotFoundError) throw new HttpError(404, 'id', error.message)
    throw error
  }
}

async function list({ schedules }: RemoteSchedules, request: Request) {
  const cursor = queryOf(request).get('cursor')
  const page = await schedules.list(cursor === null ? {} : { cursor })
  return { schedules: page, cursor: page.cursor }
}

async function found<T>(id: string, answer: Promise<T | null>): Promise<T> {
  return (await answer) ?? Promise.reject(new ScheduleNotFoundError(id))
}

/** The engine checks everything but the workflow, which it looks up when the schedule fires. */
function definitionOf(id: string, body: unknown): ScheduleDefinition<string> {
  if (!isRecord(body)) throw badInput('body', 'The body is a JSON object')
  const { workflow } = body
  if (!WORKFLOWS.some((name) => name === workflow)) {
    throw badInput('workflow', `The workflow is one of ${WORKFLOWS.join(', ')}, and required`)
  }
  return { ...body, id } as ScheduleDefinition<string>
}

function queryOf(request: Request): URLSearchParams {
  return new URL(request.url).searchParams
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw badInput('id', 'The id is not URL-encoded UTF-8')
  }
}
