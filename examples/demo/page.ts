import { CONSOLE_TOKEN } from './console-token.ts'

/** What `/` answers, and what `npm start` prints. */
export function page(origin: string): string {
  const schedules = `${origin}/schedules`
  const users = `${origin}/user-schedules`
  return `Recurring schedules on Durable Objects.

  All schedules      curl ${schedules}
  Read one           curl ${schedules}/heartbeat
  Follow it live     curl -N ${schedules}/heartbeat/events
  Set or resend one  curl -X PUT ${schedules}/mine -d '{"expression":"*/5 * * * * *","timezone":"Europe/Berlin","version":1,"jitterMs":250}'
  Cancel it          curl -X DELETE '${schedules}/mine?version=1'

  expression  cron, 5 fields or 6 with leading seconds, or @hourly, @daily, ... (required)
  timezone    an IANA zone; UTC if left out
  version     an integer from 0 (required): only a higher one than the stored takes effect, the same one repairs
  jitterMs    delay of every tick: an integer, or {"maxMs": 30000} to draw it once; 0 if left out

Schedules that users create, in one object and its database, with handlers:

  Look at them       ${origin}/console in a browser; the token is ${CONSOLE_TOKEN}
  Soonest first      curl ${users}
  Make or change     curl -X PUT ${users}/mine -d '{"workflow":"ping","cron":"0 9 * * 1-5","timezone":"Europe/Berlin"}'
  Next ten times     curl ${users}/nightly/preview
  Runs and reasons   curl ${users}/overlapping/history
  Pause and resume   curl -X POST '${users}/healthy/pause?note=Holidays'; curl -X POST ${users}/healthy/resume
  Once, now          curl -X POST ${users}/nightly/trigger
  Delete             curl -X DELETE ${users}/mine

  workflow    ping, fail (throws), or slow (takes 6 s); then cron and timezone, or every, and any other field of a definition

  Bad input is answered with 400 and {"error":{"field","message"}}.
  The target service refuses every fifth call, so that there is a failure to see.
`
}
