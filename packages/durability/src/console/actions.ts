/** What `authorize` is asked about: one name for each thing that the API does. */
export const CONSOLE_ACTIONS = [
  'schedules.list',
  'schedules.get',
  'schedules.preview',
  'schedules.history',
  'schedules.pause',
  'schedules.resume',
  'schedules.trigger',
  'schedules.upsert',
  'schedules.delete',
  'runs.list',
] as const

export type ConsoleAction = (typeof CONSOLE_ACTIONS)[number]

/** The actions that change nothing. */
export const READ_ACTIONS: readonly ConsoleAction[] = [
  'schedules.list',
  'schedules.get',
  'schedules.preview',
  'schedules.history',
  'runs.list',
]

/**
 * Says who asks, or throws `UnauthenticatedError` (401) or `ForbiddenError` (403). Whatever else it throws, and an answer
 * of `null`, `undefined`, `false` or a `Response`, is a 403: closed is the default. It is asked before the body is read,
 * which it must leave alone.
 */
export type Authorize<Actor = unknown> = (request: Request, action: ConsoleAction) => Actor | Promise<Actor>
