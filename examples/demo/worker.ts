import { answerConsole } from './console.ts'
import { badInput, HttpError } from './http-error.ts'
import { parseCancelQuery, parseName, readScheduleInput } from './input.ts'
import { type DemoObjects, objectsOf } from './objects.ts'
import { page } from './page.ts'
import { answerUserSchedules, userScheduleCalls } from './user-schedules-http.ts'

export { Directory } from './directory.ts'
export { DemoSchedule } from './schedule.ts'
export { Target } from './target.ts'
export { DemoSchedules } from './user-schedules.ts'

type Handler = (request: Request, objects: DemoObjects) => Promise<Response>
type Methods = Readonly<Record<string, Handler>>

export default {
  async fetch(request, _env, ctx): Promise<Response> {
    try {
      return await answer(request, objectsOf(ctx))
    } catch (error) {
      if (error instanceof HttpError) return error.toResponse()
      console.error(error)
      return new HttpError(500, undefined, 'The demo failed; its terminal says why').toResponse()
    }
  },
} satisfies ExportedHandler

async function answer(request: Request, objects: DemoObjects): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (/^\/console(\/|$)/.test(pathname)) return answerConsole(request, objects)
  const methods = methodsOf(pathname)
  if (methods === undefined)
    throw new HttpError(404, undefined, 'There is nothing here; / says what there is')
  const handler = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined
  if (handler !== undefined) return handler(request, objects)
  const allow = Object.keys(methods).join(', ')
  throw new HttpError(405, undefined, `Only ${allow} works here`, { allow })
}

function methodsOf(path: string): Methods | undefined {
  if (path === '/') return { GET: showPage }
  const [, schedules, segment, part, ...rest] = path.split('/')
  if (schedules === 'user-schedules') return userSchedules(path.split('/').slice(2))
  if (schedules !== 'schedules' || rest.length > 0) return undefined
  if (segment === undefined) return { GET: listSchedules }
  if (part === undefined) {
    return {
      GET: (_request, objects) => readSchedule(parseName(segment), objects),
      PUT: (request, objects) => putSchedule(parseName(segment), request, objects),
      DELETE: (request, objects) => deleteSchedule(parseName(segment), request, objects),
    }
  }
  return part === 'events'
    ? { GET: (request, objects) => followSchedule(parseName(segment), request, objects) }
    : undefined
}

function userSchedules(segments: readonly string[]): Methods | undefined {
  const calls = userScheduleCalls(segments)
  if (calls === undefined) return undefined
  const handlers = Object.entries(calls).map(([method, call]): [string, Handler] => [
    method,
    (request, objects) => answerUserSchedules(call, request, objects),
  ])
  return Object.fromEntries(handlers)
}

async function showPage(request: Request): Promise<Response> {
  return new Response(page(new URL(request.url).origin))
}

async function listSchedules(_request: Request, objects: DemoObjects): Promise<Response> {
  return Response.json({ schedules: await directory(objects).list() })
}

async function readSchedule(name: string, objects: DemoObjects): Promise<Response> {
  await checkKnown(name, objects)
  return Response.json(await objects.DemoSchedule.getByName(name).read())
}

async function putSchedule(name: string, request: Request, objects: DemoObjects): Promise<Response> {
  const input = await readScheduleInput(request)
  // Listed first: a schedule that ticks is never missing from the list.
  if (!(await directory(objects).add(name)))
    throw badInput('name', 'The demo has as many schedules as it takes')
  const schedule = objects.DemoSchedule.getByName(name)
  const applied = await schedule.configure(input)
  return Response.json({ applied, ...(await schedule.read()) })
}

async function deleteSchedule(name: string, request: Request, objects: DemoObjects): Promise<Response> {
  const version = parseCancelQuery(new URL(request.url).searchParams)
  await checkKnown(name, objects)
  const schedule = objects.DemoSchedule.getByName(name)
  const cancelled = await schedule.remove(version)
  return Response.json({ cancelled, ...(await schedule.read()) })
}

async function followSchedule(name: string, request: Request, objects: DemoObjects): Promise<Response> {
  await checkKnown(name, objects)
  const response = await objects.DemoSchedule.getByName(name).fetch(request)
  if (response.status === 503) throw new HttpError(503, undefined, 'Too many follow this schedule already')
  return response
}

async function checkKnown(name: string, objects: DemoObjects): Promise<void> {
  if (!(await directory(objects).has(name)))
    throw new HttpError(404, 'name', 'No schedule was ever set under this name')
}

function directory(objects: DemoObjects) {
  return objects.Directory.getByName('directory')
}
