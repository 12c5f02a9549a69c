import { bearerToken, createConsole } from 'durability/console'
import { remoteSchedules } from 'durability/schedules'
import { CONSOLE_TOKEN } from './console-token.ts'
import type { DemoObjects } from './objects.ts'

/** The page and the API over the schedules that users made. */
export function answerConsole(request: Request, objects: DemoObjects): Promise<Response> {
  const fetchConsole = createConsole({
    engine: remoteSchedules(objects.DemoSchedules.getByName('demo')),
    authorize: bearerToken(CONSOLE_TOKEN),
    basePath: '/console',
  })
  return fetchConsole(request)
}
