import { DurableObject } from 'cloudflare:workers'
import { DurabilityAlarms, DurabilityScheduler, type NamedAlarm, type NamedAlarmInfo } from 'durability'
import { nextCronTime } from 'durability/cron'
import { DurabilitySchedule } from 'durability/experimental'

export interface Env {
  readonly SUBSCRIPTIONS: DurableObjectNamespace<Subscription>
}

const DAY_MS = 24 * 60 * 60_000
const PERIOD_MS = 30 * DAY_MS

type Entry = { what: string; at: number }

/** A subscription that meters usage every hour, reminds its owner a day before it is due, and renews itself. */
export class Subscription extends DurableObject<Env> {
  // Both helpers share the object's one alarm. With `liveTimers` neither waits for a long run of the other.
  readonly #scheduler = new DurabilityScheduler({ context: this.ctx, liveTimers: true })

  readonly #metering = new DurabilitySchedule({
    scheduler: this.#scheduler,
    nextOccurrence: (expression, after) => nextCronTime(expression, after),
    run: ({ scheduledTime, idempotencyKey }) => this.#note(idempotencyKey, 'metered', scheduledTime),
  })

  readonly #alarms = new DurabilityAlarms({
    scheduler: this.#scheduler,
    handlers: {
      remind: ({ idempotencyKey, scheduledTime }) => this.#note(idempotencyKey, 'reminded', scheduledTime),
      renew: (info) => this.#renew(info),
    },
    methods: { renew: { retries: { maxAttempts: 10, delay: (attempt) => attempt * 60_000 } } },
  })

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    ctx.storage.sql.exec(
      'CREATE TABLE IF NOT EXISTS diary (id INTEGER PRIMARY KEY, key TEXT UNIQUE, what TEXT, at INTEGER)',
    )
  }

  /** Starts everything for a subscription that is next due at `renewsAt` (epoch ms). */
  async open(renewsAt: number): Promise<void> {
    // Each call writes before its first await: what is begun in one turn is stored together or not at all.
    await Promise.all([
      this.#metering.set({ expression: '@hourly', version: 1 }),
      this.#alarms.set('remind', renewsAt - DAY_MS),
      this.#alarms.set('renew', renewsAt),
    ])
  }

  async close(): Promise<void> {
    await Promise.all([this.#metering.cancel(), this.#alarms.cancel('remind'), this.#alarms.cancel('renew')])
  }

  /** Stands for the card company: while it declines, renewing fails. */
  setCard(works: boolean): void {
    this.ctx.storage.kv.put('cardWorks', works)
  }

  /** What happened so far, in order. */
  diary(): Entry[] {
    return this.ctx.storage.sql.exec<Entry>('SELECT what, at FROM diary ORDER BY id').toArray()
  }

  pending(name: 'remind' | 'renew'): NamedAlarm | undefined {
    return this.#alarms.get(name)
  }

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }

  /** May be tried several times: what it does is done once per key. */
  async #renew({ idempotencyKey, scheduledTime, attempt }: NamedAlarmInfo): Promise<void> {
    if (this.ctx.storage.kv.get('cardWorks') === false)
      throw new Error(`The card was declined, attempt ${attempt}`)
    this.#note(idempotencyKey, 'renewed', scheduledTime)
    // A name can be set again while its handler runs: the new occurrence comes after this one.
    const next = scheduledTime + PERIOD_MS
    await Promise.all([this.#alarms.set('remind', next - DAY_MS), this.#alarms.set('renew', next)])
  }

  #note(key: string, what: string, at: number): void {
    const insert = 'INSERT INTO diary (key, what, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'
    this.ctx.storage.sql.exec(insert, key, what, at)
  }
}

export default {
  /** `POST /open?inSeconds=`, `POST /close`; anything else shows the diary. */
  async fetch(request, env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const subscription = env.SUBSCRIPTIONS.getByName('demo')
    if (request.method === 'POST' && pathname === '/close') await subscription.close()
    if (request.method === 'POST' && pathname === '/open') {
      const inSeconds = Number(searchParams.get('inSeconds') ?? 30)
      if (!(inSeconds >= 0 && inSeconds < 1e9))
        return new Response('inSeconds: a number from 0', { status: 400 })
      await subscription.open(Math.round(Date.now() + inSeconds * 1_000))
    }
    return Response.json({ diary: await subscription.diary(), renew: await subscription.pending('renew') })
  },
} satisfies ExportedHandler<Env>
