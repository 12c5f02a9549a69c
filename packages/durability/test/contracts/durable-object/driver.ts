import type { SimulatedAlarmInfo } from '../../../src/testing/index.ts'

/** What the suite asks of a place where Durable Objects live: the real one, or the simulation. */
export interface ObjectDriver {
  readonly name: string
  /** An object of its own, that is made on its first use. */
  object(parts?: ObjectParts): ContractObject
}

/** What an object's class does. */
export interface ObjectParts {
  /** `number` counts the instances, from 1. */
  readonly construct?: (ctx: DurableObjectState, number: number) => void
  /** `number` counts the calls over all instances, from 1. */
  readonly alarm?: (inside: Inside, info: SimulatedAlarmInfo, number: number) => unknown
}

/** What code in an object works with. */
export interface Inside {
  readonly ctx: DurableObjectState
  readonly storage: DurableObjectStorage
  readonly sql: SqlStorage
  now(): number
  /** Waits for a timer, which ends the turn. */
  pause(ms: number): Promise<void>
}

export interface AlarmCall {
  readonly info: SimulatedAlarmInfo
  readonly startedAt: number
  isOpen: boolean
}

/** One object from outside. */
export interface ContractObject {
  /** The calls of `alarm()` so far, over all instances. */
  readonly alarms: readonly AlarmCall[]
  now(): number
  /** Sends a request that does `work`, and waits for its answer, which comes when all it has written is durable. */
  request<T>(work: (inside: Inside) => T | Promise<T>): Promise<T>
  /** Sends a request without waiting. Its promise is to be given to `answer`. */
  send<T>(work: (inside: Inside) => T | Promise<T>): Promise<T>
  /** Lets time pass until the promise is settled. */
  answer<T>(promise: Promise<T>): Promise<T>
  /** Lets time pass until it holds; fails when it does not. */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>
  /** Lets time pass in which something is not to happen. */
  quiet(ms: number): Promise<void>
  /** Ends the instance from outside, as a crash of its machine does. */
  crash(): Promise<void>
}

/** What `work` throws or rejects with, as text: the class and the message, without the offset in the query. */
export async function failureOf(work: () => unknown): Promise<string> {
  try {
    await work()
  } catch (error) {
    return described(error)
  }
  return 'no error'
}

export function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return `${error.constructor.name}: ${error.message.replace(/ at offset \d+/, '')}`
}
