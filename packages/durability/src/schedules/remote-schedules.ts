import { check } from '../core/checks.ts'
import { answered, type PortablePage, RUN_VERBS, SCHEDULE_VERBS, type ScheduleObjectStub } from './remote.ts'
import { pageOf, type Runs } from './runs.ts'
import type { Schedules } from './verbs.ts'

/** `engine.schedules` and the engine's runs, from outside the object. */
export interface RemoteSchedules {
  readonly schedules: Schedules<string>
  start(workflow: string, ...rest: Rest<Parameters<Runs['start']>>): ReturnType<Runs['start']>
  getRun: Runs['getRun']
  listRuns: Runs['listRuns']
  cancelRun: Runs['cancelRun']
}

type Rest<Args extends readonly unknown[]> = Args extends [unknown, ...infer Others] ? Others : never

/**
 * The calls of one `DurabilityScheduleObject`, such as that of a tenant, by its stub. Errors are instances of their
 * classes, as in the object itself; what the object cannot be asked for rejects with what the stub rejected with.
 *
 * @throws TypeError for what is no stub of such an object.
 */
export function remoteSchedules(object: ScheduleObjectStub): RemoteSchedules {
  check('object.call', object?.call, 'function')
  const calls = (verbs: typeof SCHEDULE_VERBS | typeof RUN_VERBS) =>
    Object.fromEntries(
      verbs.map((verb) => [
        verb,
        async (...args: unknown[]) => {
          const value = answered(await object.call(verb, args))
          return verb === 'list' || verb === 'listRuns' ? pageAgain(value as PortablePage) : value
        },
      ]),
    )
  // The same names, each with the arguments and the answer of the engine's own.
  return { schedules: calls(SCHEDULE_VERBS), ...calls(RUN_VERBS) } as unknown as RemoteSchedules
}

function pageAgain({ page, cursor }: PortablePage) {
  return pageOf(page, cursor)
}
