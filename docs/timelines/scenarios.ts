import { nextCronTime } from '../../packages/durability/src/cron/index.ts'
import { dispatch, type ScheduleDefinition } from '../../packages/durability/src/schedules/index.node.ts'
import { SimulatedWorld } from '../../packages/durability/src/testing/index.ts'
import { type ObjectSetup, objectSetup } from '../../packages/durability/test/schedules/support/object.ts'
import { drawn, type Story } from './draw.ts'

const MINUTE_MS = 60_000
const NINE = Date.UTC(2026, 0, 5, 9)
const at = (minute: number) => NINE + minute * MINUTE_MS
const BRIEF = { id: 'brief', workflow: 'brief', every: '10m' } as const

interface Scenario extends ObjectSetup {
  readonly schedules: readonly ScheduleDefinition[]
  /** Minutes from nine to draw. */
  readonly minutes?: number
  /** Alarms are not delivered between these minutes. */
  readonly asleep?: readonly [number, number]
  /** What users do meanwhile. */
  readonly script?: (play: { readonly to: (minute: number) => Promise<void> } & Played) => Promise<void>
}

type Played = ReturnType<typeof objectSetup>

/** Plays a scenario on the engine, in a simulated object with its alarm, and draws what the engine says of it. */
async function played({ schedules, minutes = 49, asleep, script, ...setup }: Scenario): Promise<string> {
  // What the engine reports of failures that are meant.
  const { error } = console
  console.error = () => undefined
  const world = new SimulatedWorld({ startAt: at(-1) })
  const play = objectSetup({ ...setup, object: { world } })
  const to = (minute: number) => play.object.advance(at(minute) - play.now())
  for (const definition of schedules) await play.ask((engine) => engine.schedules.create(definition))
  if (asleep !== undefined) {
    await to(asleep[0])
    play.object.holdAlarms((asleep[1] - asleep[0]) * MINUTE_MS)
  }
  await script?.({ to, ...play })
  await to(minutes)
  const stories: (Story & { readonly name: string })[] = []
  for (const { id } of schedules) {
    const history = await play.ask((engine) => engine.schedules.history(id))
    const runs = await play.ask((engine) => engine.listRuns({ scheduleId: id }))
    const windows = Array.from({ length: Math.floor(minutes / 10) + 1 }, (_, n) => at(n * 10))
    stories.push({ name: id, history, runs, windows })
  }
  play.object.close()
  console.error = error
  const outage = asleep && ([at(asleep[0]), at(asleep[1])] as const)
  return drawn(stories, { from: NINE, to: at(minutes), stepMs: 10 * MINUTE_MS }, outage)
}

const takes = (minutes: number) => () => ({ takesMs: minutes * MINUTE_MS })

/** A cron through a change of the clocks, as `durability/cron` answers it. */
function clockChange(cron: string, from: number, count: number): Promise<string> {
  const timezone = 'Europe/Berlin'
  const local = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  const lines: string[] = []
  for (let window: number | undefined = from; lines.length < count; ) {
    window = nextCronTime(cron, window, { timezone })
    if (window === undefined) break
    lines.push(`${local.format(window)} in Berlin   ${new Date(window).toISOString().slice(0, 16)}Z`)
  }
  return Promise.resolve(lines.join('\n'))
}

/** Each picture of `docs/guides/schedule-policies.md`, by its name. */
export const TIMELINES: Readonly<Record<string, () => Promise<string>>> = {
  'overlap-allow': () => played({ schedules: [BRIEF], behaviour: takes(14) }),
  'overlap-skip': () => played({ schedules: [{ ...BRIEF, overlap: 'skip' }], behaviour: takes(14) }),
  'catchup-latest': () => played({ schedules: [BRIEF], behaviour: takes(1), asleep: [5, 33] }),
  'catchup-skip': () =>
    played({ schedules: [{ ...BRIEF, catchup: 'skip' }], behaviour: takes(1), asleep: [5, 33] }),
  jitter: () => played({ schedules: [{ ...BRIEF, jitter: '5m' }], behaviour: takes(1) }),
  bounds: () =>
    played({
      schedules: [
        { ...BRIEF, id: 'from 9:10, until 9:30', startAt: at(10), endAt: at(30) },
        { ...BRIEF, id: 'maxRuns 2', maxRuns: 2 },
      ],
      behaviour: takes(1),
    }),
  failures: () =>
    played({
      schedules: [{ ...BRIEF, pauseAfterFailures: 2 }],
      behaviour: ({ scheduledTime }) => ({
        takesMs: MINUTE_MS,
        ...((scheduledTime ?? 0) < at(20) && { throws: 'no answer' }),
      }),
      async script({ to, ask }) {
        await to(25)
        await ask((engine) => engine.schedules.resume('brief'))
      },
    }),
  pause: () =>
    played({
      schedules: [BRIEF],
      behaviour: takes(1),
      async script({ to, ask }) {
        await to(5)
        await ask((engine) => engine.schedules.pause('brief', 'on holiday'))
        await to(33)
        await ask((engine) => engine.schedules.resume('brief'))
      },
    }),
  concurrency: () =>
    played({
      schedules: ['tenant 1, a', 'tenant 1, b'].map((id, index) => ({
        ...BRIEF,
        id,
        startAt: at(index * 10),
        concurrency: { key: 'tenant 1', limit: 1 },
      })),
      behaviour: takes(14),
    }),
  queue: () =>
    played({
      schedules: [
        { ...BRIEF, id: 'priority 0', endAt: at(10) },
        { ...BRIEF, id: 'priority 1', endAt: at(10), priority: 1 },
        { ...BRIEF, id: 'priority 2', endAt: at(10), priority: 2 },
      ],
      maxConcurrentRuns: 1,
      behaviour: takes(12),
    }),
  'failing-start': () => {
    let attempts = 0
    return played({
      schedules: [{ ...BRIEF, workflow: 'notify' }],
      workflows: {
        notify: dispatch(({ scheduledTime }) => {
          if (scheduledTime === at(30)) attempts += 1
          if (scheduledTime === at(10) || (scheduledTime === at(30) && attempts < 12)) throw new Error('down')
        }),
      },
      graceMs: 3 * MINUTE_MS,
    })
  },
  spring: () => clockChange('30 2 * * *', Date.UTC(2026, 2, 27, 12), 3),
  autumn: () => clockChange('30 2 * * *', Date.UTC(2026, 9, 23, 12), 3),
}
