import { DurableObject } from 'cloudflare:workers'
import { DurabilityScheduler } from 'durability'
import { InvalidCronError, nextCronTime, parseCron } from 'durability/cron'
import { DurabilitySchedule, type StoredSchedule } from 'durability/experimental'

export interface Env {
  readonly REPORTS: DurableObjectNamespace<DailyReport>
}

/** When a report is due: a time of day on the clocks of a zone. */
export interface ReportTime {
  readonly hour: number
  readonly minute: number
  /** An IANA name such as Europe/Berlin. */
  readonly timezone: string
}

type Report = { scheduledTime: number; localTime: string }

/** Writes one report a day, at the same time of day all year round. */
export class DailyReport extends DurableObject<Env> {
  readonly #scheduler = new DurabilityScheduler({ context: this.ctx })
  readonly #schedule = new DurabilitySchedule({
    scheduler: this.#scheduler,
    nextOccurrence: (expression, after) => {
      const time = decode(expression)
      return nextCronTime(cronOf(time), after, { timezone: time.timezone })
    },
    run: ({ scheduledTime }) => this.#write(scheduledTime),
    // The next tick is a day away: a run that a crash cuts off would not be reported before it.
    interruptedWithinMs: 60_000,
  })

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    ctx.storage.sql.exec(
      'CREATE TABLE IF NOT EXISTS reports (scheduledTime INTEGER PRIMARY KEY, localTime TEXT NOT NULL)',
    )
  }

  /** Resolves to whether the version was new. */
  configure(time: ReportTime, version: number): Promise<boolean> {
    return this.#schedule.set({ expression: encode(time), version })
  }

  remove(version: number): Promise<boolean> {
    return this.#schedule.cancel(version)
  }

  read(): StoredSchedule | undefined {
    return this.#schedule.get()
  }

  reports(): Report[] {
    return this.ctx.storage.sql.exec<Report>('SELECT * FROM reports ORDER BY scheduledTime').toArray()
  }

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }

  #write(scheduledTime: number): void {
    const stored = this.#schedule.get()
    const timeZone = stored === undefined ? 'UTC' : decode(stored.expression).timezone
    const localTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long', timeZone })
    this.ctx.storage.sql.exec(
      'INSERT INTO reports (scheduledTime, localTime) VALUES (?, ?) ON CONFLICT DO NOTHING',
      scheduledTime,
      localTime.format(scheduledTime),
    )
  }
}

/** The library stores the expression without reading it: whatever `nextOccurrence` needs can travel in it. */
function encode(time: ReportTime): string {
  return JSON.stringify(time)
}

function decode(expression: string): ReportTime {
  return JSON.parse(expression) as ReportTime
}

/** A fixed time of day, with no `*` in hour or minute: that is what keeps it at one run a day over a clock change. */
function cronOf({ hour, minute }: ReportTime): string {
  return `${minute} ${hour} * * *`
}

export default {
  /** `POST /?hour=&minute=&timezone=&version=` sets the time; anything else shows the schedule and the reports. */
  async fetch(request, env): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const report = env.REPORTS.getByName('demo')
    if (request.method === 'POST') {
      const number = (name: string) => Number(searchParams.get(name) ?? Number.NaN)
      const time = {
        hour: number('hour'),
        minute: number('minute'),
        timezone: searchParams.get('timezone') ?? 'UTC',
      }
      if (!Number.isSafeInteger(number('version')) || number('version') < 0)
        return refuse('version: an integer from 0')
      try {
        parseCron(cronOf(time), { timezone: time.timezone })
      } catch (error) {
        if (error instanceof InvalidCronError) return refuse(`${error.field}: ${error.message}`)
        throw error
      }
      await report.configure(time, number('version'))
    }
    return Response.json({ schedule: (await report.read()) ?? null, reports: await report.reports() })
  },
} satisfies ExportedHandler<Env>

function refuse(message: string): Response {
  return new Response(message, { status: 400 })
}
