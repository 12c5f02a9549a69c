import { Model, type ModelOptions } from './model.ts'
import { undisturbed } from './quiet.ts'
import { Random } from './random.ts'
import type { Scenario } from './scenarios.ts'
import type { Sites } from './sites.ts'
import type { Tally } from './tally.ts'
import { Violated } from './watched-object.ts'

/** Something that goes wrong at one point of a history. */
export type Trouble =
  | { readonly crashAtSeam: number }
  | { readonly crashAtWrite: number; readonly when: 'before' | 'after' }
  /** Storage is full, for a time, from the n-th write on. */
  | { readonly failAtWrite: number; readonly times: number }
  /** The platform refuses the n-th alarm, and as many after it. */
  | { readonly refuseAlarm: number; readonly times: number; readonly how: 'throws' | 'rejects' }
  /** `nextOccurrence` throws at the n-th question, and as many after it. */
  | { readonly failAtSearch: number; readonly times: number }

export type Timing = Pick<ModelOptions, 'ties' | 'alarmCalls'>

/** The orders in which the runtime may do what it promises no order for. The first is what it does today. */
export const TIMINGS: readonly [Timing, ...Timing[]] = [
  { ties: 'timers first', alarmCalls: 'same turn' },
  { ties: 'alarms first', alarmCalls: 'later turn' },
  { ties: 'timers first', alarmCalls: 'later turn' },
  { ties: 'alarms first', alarmCalls: 'same turn' },
]

/** How far a history came: the numbers that the next trouble can be planned by. */
export interface Reach {
  readonly writes: number
  readonly seams: number
}

/** One history, when it is over. */
export interface Played extends Reach {
  /** Of everything that happened, and of what somebody could see. */
  readonly hash: bigint
  readonly seenHash: bigint
  readonly tally: Tally
  /** Kinds of seams and statements of writes that it came to. */
  readonly kinds: ReadonlySet<string>
  readonly sites: Sites | undefined
  /** How far it had come at each crash. */
  readonly deaths: readonly Reach[]
  readonly lines: readonly string[]
  /** What was violated, with the history that led there. */
  readonly failure: string | undefined
}

/** What is wanted besides the verdict. */
export type Wanted = Pick<ModelOptions, 'keepsAll' | 'notesSites'>

/** Plays the scenario with these troubles. */
export async function play(
  scenario: Scenario,
  timing: Timing,
  troubles: readonly Trouble[],
  wanted: Wanted = {},
): Promise<Played> {
  const model = new Model({ ...scenario.options, ...timing, ...wanted })
  const script = async () => {
    for (const trouble of troubles) plan(model, trouble)
    await scenario.script(model)
  }
  return playOut(model, new Random(1), script, `${scenario.name} ${JSON.stringify({ ...timing, troubles })}`)
}

/** Plays a script to its end, and on until nothing is left to do. */
export async function playOut(
  model: Model,
  random: Random,
  script: () => Promise<void>,
  about: string,
): Promise<Played> {
  try {
    await undisturbed(
      () => random.next(),
      async () => {
        await script()
        await model.end()
      },
    )
  } catch (error) {
    if (!(error instanceof Violated))
      model.outside.violate(error instanceof Error ? `${error.stack}` : `${error}`)
  }
  const { progress } = model.object
  const { trace, outside, kinds, sites, deaths } = model
  model.close()
  return {
    ...progress,
    hash: trace.hash,
    seenHash: trace.seenHash,
    tally: outside.tally,
    kinds,
    sites,
    deaths,
    lines: trace.lines,
    failure: model.failure(about),
  }
}

function plan({ object, faults }: Model, trouble: Trouble): void {
  if ('crashAtSeam' in trouble) object.crashAtAwait(trouble.crashAtSeam)
  else if ('crashAtWrite' in trouble) object.crashAt({ write: trouble.crashAtWrite, when: trouble.when })
  else if ('failAtWrite' in trouble) faults.failWrites(trouble.failAtWrite - 1, trouble.times)
  else if ('refuseAlarm' in trouble) faults.failAlarms(trouble.how, trouble.refuseAlarm - 1, trouble.times)
  else faults.failSearches(trouble.failAtSearch - 1, trouble.times)
}
