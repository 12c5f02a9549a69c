import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { Schema } from 'hono/types'
import { check } from '../core/checks.ts'
import { report } from '../core/report.ts'
import { type Authorize, type ConsoleAction, READ_ACTIONS } from './actions.ts'
import { errorAnswer, RequestError } from './answers.ts'
import { bodyOf } from './body.ts'
import type { ConsoleEngine } from './console-engine.ts'
import { ForbiddenError } from './errors.ts'
import { servePage } from './page.ts'
import { queryOf } from './query.ts'
import { ROUTES } from './routes.ts'
import { refuseOtherSites } from './same-site.ts'

export interface ConsoleOptions<Actor = unknown> {
  /** A `DurabilityEngine`, or what `shardedSchedules` answers. */
  readonly engine: ConsoleEngine
  /** Required: says who asks, or throws. It is asked for every request of the API by the name of its action. */
  readonly authorize: Authorize<Actor>
  /** Where the console is mounted, such as `/console`; the page is at `<basePath>/`. Default: at the root. */
  readonly basePath?: string
  /** Told of each change that was made, for an audit log, before it is answered. What it throws changes nothing. */
  readonly onChange?: (change: ConsoleChange<Actor>) => unknown
}

export interface ConsoleChange<Actor = unknown> {
  readonly actor: Actor
  readonly action: ConsoleAction
  readonly scheduleId: string
}

/**
 * Makes the console: `fetch(request)` answers the API over `engine.schedules`, and the page over that. The page and its
 * assets are public and hold no data; every request of the API is authorised by itself.
 *
 * @throws TypeError naming the option.
 */
export function createConsole<Actor>(
  options: ConsoleOptions<Actor>,
): (request: Request) => Promise<Response> {
  const app = consoleApp(options)
  return async (request) => app.fetch(request)
}

interface Env {
  Variables: { actor: unknown }
}

export type ConsoleApp = Hono<Env, Schema, string>

/** @internal The router, for the test that asks it for its routes. */
export function consoleApp<Actor>(options: ConsoleOptions<Actor>): ConsoleApp {
  check('options', options, 'object')
  const { engine, authorize, basePath = '', onChange } = options
  check('options.engine', engine, 'object')
  check('options.engine.schedules', engine.schedules, 'object')
  check('options.authorize', authorize, 'function')
  if (onChange !== undefined) check('options.onChange', onChange, 'function')
  check('options.basePath', basePath, 'string', 0, 200)
  if (!/^(\/(?!\.{1,2}(\/|$))[\w.~-]+)*$/.test(basePath)) {
    throw new TypeError(`options.basePath must look like "/console", got ${JSON.stringify(basePath)}`)
  }

  const root = new Hono<Env>({ getPath: (request) => new URL(request.url).pathname })
  // Of the root: what is not below basePath is answered too.
  root.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
      xFrameOptions: 'DENY',
      referrerPolicy: 'no-referrer',
      strictTransportSecurity: false,
    }),
  )
  // The router hands its handler of errors nothing but instances of Error; a store of the user's may throw anything.
  root.use(async (context, next) => {
    try {
      await next()
    } catch (thrown) {
      context.res = failed(thrown)
    }
  })
  const app = root.basePath(basePath)
  app.onError(failed)
  app.notFound(() => failed(new RequestError('not_found', 'There is nothing here')))
  servePage(app, basePath)

  for (const { method, path, action, query: names = [], answer } of ROUTES) {
    app.on(
      method,
      path,
      async (context, next) => {
        refuseOtherSites(context.req.raw)
        context.set('actor', await actorOf(authorize, context.req.raw, action))
        await next()
      },
      async (context) => {
        const request = context.req.raw
        const id = idOf(request.url, context.req.param('id'))
        const isNew = request.headers.get('if-none-match') === '*'
        const query = queryOf(request.url, names)
        const body = method === 'GET' ? {} : await bodyOf(request)
        const answered = await answer({ engine, id, query, body, isNew })
        // Set above, by what this `authorize` answered.
        const actor = context.get('actor') as Actor
        if (!READ_ACTIONS.includes(action)) await told(onChange, { actor, action, scheduleId: id })
        if (answered === undefined) return new Response(null, { status: 204, headers: NOT_STORED })
        return Response.json(answered, { headers: NOT_STORED })
      },
    )
  }
  return app
}

const NOT_STORED = { 'cache-control': 'no-store' }

function failed(thrown: unknown): Response {
  const { status, body } = errorAnswer(thrown)
  return Response.json(body, { status, headers: NOT_STORED })
}

/** Waits for the hook: what a Worker still does when its answer is sent may never end. What it throws is reported. */
async function told<Actor>(
  onChange: ConsoleOptions<Actor>['onChange'],
  change: ConsoleChange<Actor>,
): Promise<void> {
  try {
    await onChange?.(change)
  } catch (error) {
    report('hook_failed', error)
  }
}

/** Whoever cannot be told is refused, also when `authorize` itself fails. */
async function actorOf<Actor>(
  authorize: Authorize<Actor>,
  request: Request,
  action: ConsoleAction,
): Promise<Actor> {
  let actor: Actor
  try {
    actor = await authorize(request, action)
  } catch (error) {
    const { code } = (error ?? {}) as { readonly code?: unknown }
    if (code === 'unauthenticated' || code === 'forbidden') throw error
    report('console.authorize_failed', error, { action })
    throw new ForbiddenError()
  }
  // A Response is how others say no: taken for an actor, it would let in whom it was to keep out.
  if (actor === null || actor === undefined || actor === false || actor instanceof Response) {
    throw new ForbiddenError()
  }
  return actor
}

/** The id of the path, which the router has decoded; it leaves alone what it cannot. */
function idOf(url: string, id = ''): string {
  try {
    decodeURIComponent(new URL(url).pathname)
    return id
  } catch {
    throw new RequestError('bad_request', 'The id is not well encoded', 'id')
  }
}
