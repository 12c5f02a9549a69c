/** What `/` answers, and what `npm start` prints. */
export function page(origin: string): string {
  const schedules = `${origin}/schedules`
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

  Bad input is answered with 400 and {"error":{"field","message"}}.
  The target service refuses every fifth call, so that there is a failure to see.
`
}
