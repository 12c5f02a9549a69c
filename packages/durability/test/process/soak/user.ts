import type { Random } from '../../simulation/random.ts'
import { type Entry, isStatus, type Log } from './log.ts'
import { ALARMS, type AlarmName, OBJECTS, type ObjectName, PLANS } from './plan.ts'
import type { SoakProcess } from './process.ts'

interface Known {
  version: number
  /** `undefined` after a request whose answer a kill took. */
  state: 'none' | 'live' | 'cancelled' | undefined
  definition: { readonly expression: string; readonly jitterMs: number | { readonly maxMs: number } }
}

/** Makes the requests that a user of the objects makes, at random, and remembers what must be stored. */
export class SoakUser {
  readonly #process: SoakProcess
  readonly #known: Readonly<Record<ObjectName, Known>>
  readonly #pendingAlarms = new Set<string>()
  /** Objects that have called since the last start. */
  readonly #back = new Set<ObjectName>()
  readonly #alarmTimes = new Set<number>()

  constructor(process: SoakProcess, log: Log) {
    this.#process = process
    const none = (): Known => ({
      version: 0,
      state: 'none',
      definition: { expression: '1000+0', jitterMs: 0 },
    })
    this.#known = { narrow: none(), wide: none(), sparse: none() }
    log.watch((entry) => this.#notice(entry))
  }

  /** Objects that surely have a live schedule and have not called since the last start. */
  get missing(): ObjectName[] {
    return OBJECTS.filter((object) => this.#known[object].state === 'live' && !this.#back.has(object))
  }

  async begin(random: Random): Promise<void> {
    for (const object of OBJECTS) {
      await this.#set(random, object)
      if (PLANS[object].pulseMs !== undefined) await this.#process.ask(object, { do: 'pulse', on: true })
    }
  }

  /** After a kill took an answer: looks what is stored. Looking repairs nothing. */
  async look(): Promise<void> {
    for (const object of OBJECTS) {
      const known = this.#known[object]
      if (known.state !== undefined) continue
      const status = await this.#process.ask(object, { do: 'status' })
      if (!isStatus(status)) continue
      // An older definition is stored that is not remembered here: it is soon replaced.
      if (status.state !== 'live') known.state = 'cancelled'
      else if (status.version === known.version) known.state = 'live'
    }
  }

  /** One request about one object. */
  async act(random: Random): Promise<void> {
    const object = random.pick(OBJECTS)
    const known = this.#known[object]
    const kind = random.next()
    // A cancelled one rests for a while.
    if (kind < 0.45 || (known.state === 'cancelled' && random.chance(0.4))) return this.#alarm(random, object)
    if (known.state !== 'live' || kind < 0.65) return this.#set(random, object)
    const { version, definition } = known
    if (kind < 0.72) {
      await this.#process.ask(object, { do: 'set', ...definition, version }, false)
    } else if (kind < 0.8) {
      await this.#process.ask(object, { do: 'set', ...definition, version: version - 1 }, false)
    } else if (kind < 0.95) {
      await this.cancel(object, random.chance(0.5))
    } else {
      await this.#process.ask(object, { do: 'status' })
    }
  }

  /** A request that changes what is stored, if it can about an object that rests. */
  async change(random: Random): Promise<void> {
    const resting = OBJECTS.filter((object) => this.#known[object].state === 'cancelled')
    const object = resting[0] ?? random.pick(OBJECTS)
    if (this.#known[object].state !== 'live' || random.chance(0.7)) return this.#set(random, object)
    return this.cancel(object, random.chance(0.5))
  }

  async cancel(object: ObjectName, withVersion: boolean): Promise<void> {
    const known = this.#known[object]
    const { version, state } = known
    known.state = undefined
    const expected = state === undefined ? undefined : state === 'live'
    const action = { do: 'cancel', ...(withVersion ? { version } : {}) } as const
    const result = await this.#process.ask(object, action, expected)
    if (result !== undefined) known.state = 'cancelled'
  }

  /** Ends everything that goes on by itself. */
  async end(): Promise<void> {
    for (const object of OBJECTS) {
      await this.cancel(object, false)
      await this.#process.ask(object, { do: 'pulse', on: false })
    }
  }

  /** Every version is used for one definition only, so that a run tells which it belongs to. */
  async #set(random: Random, object: ObjectName): Promise<void> {
    const { intervalsMs, maxJitterMs } = PLANS[object]
    const known = this.#known[object]
    if (!random.chance(0.3)) {
      const interval = random.pick(intervalsMs)
      const expression = `${interval}+${random.integer(0, interval - 1)}`
      const jitters = [0, random.integer(0, maxJitterMs), { maxMs: maxJitterMs }] as const
      known.definition = { expression, jitterMs: random.pick(jitters) }
    }
    known.version += random.integer(1, 2)
    known.state = undefined
    const action = { do: 'set', ...known.definition, version: known.version } as const
    const result = await this.#process.ask(object, action, true)
    if (result !== undefined) known.state = 'live'
  }

  /** Sets an alarm, mostly one that is not pending; now and then cancels one. */
  async #alarm(random: Random, object: ObjectName): Promise<void> {
    const name: AlarmName = random.pick(ALARMS)
    const alarm = `${object} ${name}`
    if (this.#pendingAlarms.has(alarm) && random.chance(0.7)) return
    if (random.chance(0.1)) {
      await this.#process.ask(object, { do: 'cancelAlarm', name })
      return
    }
    let at = Date.now() + random.integer(-500, 2_500)
    // Every occurrence has a time of its own, by which it is known.
    while (this.#alarmTimes.has(at)) at += 1
    this.#alarmTimes.add(at)
    this.#pendingAlarms.add(alarm)
    await this.#process.ask(object, { do: 'setAlarm', name, at }, true)
  }

  #notice(entry: Entry): void {
    if (entry.what === 'spawn') this.#back.clear()
    if (entry.what !== 'call') return
    const { object } = entry.call
    this.#back.add(object)
    if (entry.call.kind !== 'alarmEvent') return
    const { event } = entry.call
    if (event.type === 'completed' || event.type === 'dead_lettered')
      this.#pendingAlarms.delete(`${object} ${event.name}`)
  }
}
