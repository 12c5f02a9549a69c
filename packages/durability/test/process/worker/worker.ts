import { DurableObject } from 'cloudflare:workers'
import {
  DurabilitySchedule,
  type OutcomeRun,
  type RunOutcome,
  type ScheduledRun,
  type ScheduleStatus,
} from '../../../src/experimental/index.ts'
import { DurabilityScheduler } from '../../../src/index.ts'

interface Env {
  readonly VICTIM: DurableObjectNamespace<Victim>
  /** Where the test listens: what it was told survives the object. */
  readonly RECEIVER: string
}

/** A schedule whose expression is its interval in ms, and whose runs and outcomes go to the receiver. */
export class Victim extends DurableObject<Env> {
  readonly #scheduler = new DurabilityScheduler({ context: this.ctx, alarmMinDelayMs: 1_000 })
  readonly #schedule = new DurabilitySchedule({
    scheduler: this.#scheduler,
    nextOccurrence: (expression, after) => (Math.floor(after / Number(expression)) + 1) * Number(expression),
    run: ({ signal: _signal, ...run }: ScheduledRun) => this.#post('run', { run }),
    onOutcome: (run: OutcomeRun, outcome: RunOutcome) => this.#post('outcome', { run, outcome }),
  })

  start(everyMs: number): Promise<boolean> {
    return this.#schedule.set({ expression: String(everyMs), version: 1 })
  }

  cancel(): Promise<boolean> {
    return this.#schedule.cancel()
  }

  status(): ScheduleStatus {
    return this.#schedule.status()
  }

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }

  async #post(kind: string, body: object): Promise<void> {
    const response = await fetch(`${this.env.RECEIVER}/${kind}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`The receiver answered ${response.status}`)
    await response.text()
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    // Readiness is asked here: it must not wake the object, which has to come back by itself.
    if (pathname === '/') return new Response('ready')
    const victim = env.VICTIM.getByName('victim')
    if (pathname === '/start') return Response.json(await victim.start(Number(searchParams.get('everyMs'))))
    if (pathname === '/cancel') return Response.json(await victim.cancel())
    return Response.json(await victim.status())
  },
} satisfies ExportedHandler<Env>
