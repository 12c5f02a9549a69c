import type { RunIdentity } from '../../../src/experimental/index.ts'
import type { Call, CallOf, Entry, Report } from './log.ts'
import type { ObjectName } from './plan.ts'

/** A call that arrived, and what became of it. */
export interface Exchange<C extends Call = Call> {
  readonly seq: number
  /** Epoch ms, when it arrived. */
  readonly at: number
  readonly call: C
  /** Left out when it was cut off. */
  answer?: Entry<'answer'>
}

/** Everything about one run, in the order of arrival. */
export interface RunHistory {
  readonly object: ObjectName
  readonly run: RunIdentity
  readonly all: Exchange[]
}

export interface RequestHistory {
  readonly entry: Entry<'request'>
  result?: Entry<'result'>
  refused?: Entry<'refused'>
  /** Epoch ms before which it took effect, if it did: its answer or, without one, the kill. */
  endedAt: number
}

/** One process, from its start to its kill. */
export interface Epoch {
  readonly epoch: number
  readonly spawnedAt: number
  /** Infinite when it never was. */
  readyAt: number
  /** Infinite for the last. */
  killedAt: number
}

/** The log, taken apart by what its entries are about. */
export interface History {
  readonly entries: readonly Entry[]
  readonly epochs: ReadonlyMap<number, Epoch>
  readonly exchanges: readonly Exchange[]
  /** By object, in the order of their nominal times. */
  readonly runs: readonly RunHistory[]
  readonly requests: readonly RequestHistory[]
}

export function historyOf(entries: readonly Entry[]): History {
  const epochs = new Map<number, Epoch>()
  const exchanges = new Map<number, Exchange>()
  const requests = new Map<number, RequestHistory>()
  for (const entry of entries) {
    if (entry.what === 'spawn') {
      const { epoch, at: spawnedAt } = entry
      epochs.set(epoch, { epoch, spawnedAt, readyAt: Infinity, killedAt: Infinity })
    } else if (entry.what === 'ready' || entry.what === 'kill') {
      const epoch = epochs.get(entry.epoch)
      if (epoch) epoch[entry.what === 'ready' ? 'readyAt' : 'killedAt'] = entry.at
    } else if (entry.what === 'call') {
      exchanges.set(entry.seq, { seq: entry.seq, at: entry.at, call: entry.call })
    } else if (entry.what === 'answer') {
      const exchange = exchanges.get(entry.of)
      if (exchange) exchange.answer = entry
    } else if (entry.what === 'request') {
      requests.set(entry.seq, { entry, endedAt: Infinity })
    } else if (entry.what === 'result' || entry.what === 'refused') {
      const request = requests.get(entry.of)
      if (request) Object.assign(request, { [entry.what]: entry, endedAt: entry.at })
    }
  }
  for (const request of requests.values())
    if (request.endedAt === Infinity) request.endedAt = epochs.get(request.entry.epoch)?.killedAt ?? Infinity
  const all = [...exchanges.values()]
  return { entries, epochs, exchanges: all, runs: runsOf(all), requests: [...requests.values()] }
}

function runsOf(exchanges: readonly Exchange[]): RunHistory[] {
  const runs = new Map<string, RunHistory>()
  for (const exchange of exchanges) {
    const { call } = exchange
    const run = runOf(call)
    if (run === undefined) continue
    const key = `${call.object} ${run.scheduledTime}`
    const known = runs.get(key)
    if (known) known.all.push(exchange)
    else runs.set(key, { object: call.object, run, all: [exchange] })
  }
  return [...runs.values()].sort(
    (one, other) => one.object.localeCompare(other.object) || one.run.scheduledTime - other.run.scheduledTime,
  )
}

/** The run a call is about. */
export function runOf(call: Call): RunIdentity | undefined {
  if (call.kind === 'runEvent') return call.event
  return 'run' in call ? call.run : undefined
}

export function ofKind<Kind extends Report['kind']>(
  exchanges: readonly Exchange[],
  kind: Kind,
): Exchange<CallOf<Kind>>[] {
  return exchanges.filter((exchange): exchange is Exchange<CallOf<Kind>> => exchange.call.kind === kind)
}

type RunEventOf<Type> = Extract<CallOf<'runEvent'>['event'], { type: Type }>

/** The lifecycle events of one type, with when and in which epoch they arrived. */
export function eventsOf<Type extends CallOf<'runEvent'>['event']['type']>(
  exchanges: readonly Exchange[],
  type: Type,
): { readonly event: RunEventOf<Type>; readonly exchange: Exchange<CallOf<'runEvent'>> }[] {
  return ofKind(exchanges, 'runEvent').flatMap((exchange) => {
    const { event } = exchange.call
    return isOfType(event, type) ? [{ event, exchange }] : []
  })
}

function isOfType<Type extends string>(
  event: CallOf<'runEvent'>['event'],
  type: Type,
): event is RunEventOf<Type> {
  return event.type === type
}
