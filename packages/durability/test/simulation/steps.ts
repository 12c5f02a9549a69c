import { START_AT } from './expressions.ts'
import type { Model } from './model.ts'
import type { Profile } from './profiles.ts'
import type { Random } from './random.ts'

/** One step of a long history: the code that takes it, as a test would have it. */
export interface Step {
  readonly code: string
  take(model: Model): unknown
}

/** What the next step depends on, besides chance. */
export interface Position {
  version: number
  /** ms by which the object's clock is ahead of the platform's. */
  skewMs: number
}

/** More rows than these, and the history lets the object catch up. */
const MOST_ROWS = 40

type Chance = (random: Random, model: Model, position: Position) => Step

/** The next step of a history. */
export function nextStep(profile: Profile, random: Random, model: Model, position: Position): Step {
  if (model.outside.runs.size > MOST_ROWS) return catchUp(position)
  if (position.version === 0) return setting(random, model, position)
  if (!random.chance(profile.trouble))
    return passing(random.integer(...profile.ticks) * 1_000 + random.integer(0, 999))
  return random.pick(profile.isWild ? WILD : TAME)(random, model, position)
}

const setting: Chance = (random, model, position) => {
  position.version += 1
  return setTo(random.pick(expressions(model)), position.version, random.pick([0, 0, 0, 300, 4_500]))
}

const settingDrawn: Chance = (_random, _model, position) => {
  position.version += 1
  const { version } = position
  return {
    code: `await model.set('every:1000', ${version}, { maxMs: 700 })`,
    take: (model) => model.set('every:1000', version, { maxMs: 700 }),
  }
}

const resending: Chance = (random, model, { version }) =>
  setTo(random.pick(expressions(model)), version, random.pick([0, 300]))

const cancelling: Chance = (random, _model, { version }) => {
  const cancelled = random.pick([undefined, version, Math.max(version - 1, 0)])
  return { code: `await model.cancel(${cancelled ?? ''})`, take: (model) => model.cancel(cancelled) }
}

/** A cancel, and some time later another set: otherwise there would be little to see. */
const pausing: Chance = (_random, _model, position) => {
  const cancelled = position.version
  position.version += 1
  const version = position.version
  return {
    code: `await model.cancel(${cancelled})\nawait model.advance(2500)\nawait model.set('every:1000', ${version})`,
    async take(model) {
      await model.cancel(cancelled)
      await model.advance(2_500)
      await model.set('every:1000', version)
    },
  }
}

const crashAtSeam: Chance = (random) => {
  const seams = random.integer(1, 60)
  return {
    code: `model.object.crashAtAwait(model.object.progress.seams + ${seams})`,
    take: ({ object }) => object.crashAtAwait(object.progress.seams + seams),
  }
}

const crashAtWrite: Chance = (random) => {
  const writes = random.integer(1, 20)
  const when = random.pick<'before' | 'after'>(['before', 'after'])
  return {
    code: `model.object.crashAt({ write: model.object.progress.writes + ${writes}, when: '${when}' })`,
    take: ({ object }) => object.crashAt({ write: object.progress.writes + writes, when }),
  }
}

const crashNow: Chance = () => ({ code: 'await model.crash()', take: (model) => model.crash() })

const deploy: Chance = (random, { options }) => {
  const maxConcurrentRuns = random.pick([1, 2, 10])
  return {
    code: `await model.deploy({ schedule: { ...model.options.schedule, maxConcurrentRuns: ${maxConcurrentRuns} } })`,
    take: (model) => model.deploy({ schedule: { ...options.schedule, maxConcurrentRuns } }),
  }
}

const clockStep: Chance = (random) => jumping(random.integer(-20_000, 20_000), true)

const smallClockStep: Chance = (random) => jumping(random.integer(-900, 900), true)

/** The object's clock leaves the platform's; where it has, it may come back. */
const skew: Chance = (random, _model, position) => {
  const ms = position.skewMs === 0 ? random.integer(-20_000, 20_000) : -position.skewMs
  position.skewMs += ms
  return jumping(ms, false)
}

const holding: Chance = (random) => {
  const ms = random.pick([500, 2_500, 30_000])
  return { code: `model.holdAlarms(${ms})`, take: (model) => model.holdAlarms(ms) }
}

const overwriting: Chance = (random) => {
  const inMs = random.pick([null, 700, 3_600_000])
  return {
    code: `await model.overwriteAlarm(${inMs === null ? null : `model.now + ${inMs}`})`,
    take: (model) => model.overwriteAlarm(inMs === null ? null : model.now + inMs),
  }
}

const delivering: Chance = (random) => {
  const how = random.pick([{ early: true }, { duplicate: true }])
  return {
    code: `await model.deliverAlarm(${JSON.stringify(how)})`,
    take: (model) => model.deliverAlarm(how),
  }
}

const callingAlarm: Chance = () => ({ code: 'await model.callAlarm()', take: (model) => model.callAlarm() })

const looking: Chance = () => ({ code: 'await model.look()', take: (model) => model.look() })

const pinging: Chance = (random) => {
  const inMs = random.pick([undefined, -1_000, 500, 20_000])
  return {
    code: `await model.ping(${inMs === undefined ? undefined : `model.now + ${inMs}`})`,
    take: (model) => model.ping(inMs === undefined ? undefined : model.now + inMs),
  }
}

const fullStorage: Chance = (random) => {
  const [skip, times] = [random.integer(0, 6), random.integer(1, 3)]
  return {
    code: `model.faults.failWrites(${skip}, ${times})`,
    take: ({ faults }) => faults.failWrites(skip, times),
  }
}

const refusedAlarm: Chance = (random) => {
  const how = random.pick<'throws' | 'rejects'>(['throws', 'rejects'])
  const [skip, times] = [random.integer(0, 4), random.integer(1, 2)]
  return {
    code: `model.faults.failAlarms('${how}', ${skip}, ${times})`,
    take: ({ faults }) => faults.failAlarms(how, skip, times),
  }
}

const brokenExpression: Chance = (random) => {
  const times = random.integer(1, 3)
  return {
    code: `model.faults.failSearches(0, ${times})`,
    take: ({ faults }) => faults.failSearches(0, times),
  }
}

const TAME: readonly [Chance, ...Chance[]] = [
  setting,
  settingDrawn,
  resending,
  pausing,
  crashAtSeam,
  crashAtSeam,
  crashAtWrite,
  crashAtWrite,
  crashNow,
  deploy,
  clockStep,
  smallClockStep,
  holding,
  overwriting,
  delivering,
  callingAlarm,
  looking,
  pinging,
]

const WILD: readonly [Chance, ...Chance[]] = [
  ...TAME,
  cancelling,
  skew,
  skew,
  fullStorage,
  refusedAlarm,
  brokenExpression,
]

/** Mostly one tick a second, so that there are many. */
function expressions({ now }: Model): readonly [string, ...string[]] {
  const until = Math.ceil((now - START_AT) / 1_000) * 1_000 + START_AT + 3_000
  return [
    'every:1000',
    'every:1000',
    'every:1000',
    'every:700',
    'from:900',
    'every:5000',
    `until:500:${until}`,
  ]
}

function setTo(expression: string, version: number, jitterMs: number): Step {
  return {
    code: `await model.set('${expression}', ${version}, ${jitterMs})`,
    take: (model) => model.set(expression, version, jitterMs),
  }
}

function passing(ms: number): Step {
  return { code: `await model.advance(${ms})`, take: (model) => model.advance(ms) }
}

function jumping(ms: number, alarms: boolean): Step {
  return { code: `await model.jump(${ms}, ${alarms})`, take: (model) => model.jump(ms, alarms) }
}

/** A slower schedule, until the rows are gone: a queue that only grows shows nothing new. */
function catchUp(position: Position): Step {
  const slow = position.version + 1
  const fast = position.version + 2
  position.version = fast
  return {
    code: `await model.set('every:600000', ${slow})\nawait model.advance(600000)\nawait model.set('every:1000', ${fast})`,
    async take(model) {
      await model.set('every:600000', slow)
      await model.advance(600_000)
      await model.set('every:1000', fast)
    },
  }
}
