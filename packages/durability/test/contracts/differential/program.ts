import { formatValue } from './format.ts'

/** How much of a result is read, and by which of the cursor's ways. */
export type Take =
  | 'nothing'
  | 'toArray'
  | 'one'
  | 'next'
  | 'break'
  | 'raw'
  | 'raw next'
  | 'raw break'
  | 'columnNames'
  | 'rowsWritten'
  | 'rowsRead'

/** Where an error of the step goes: out of the transaction that it is in, if `uncaught`. */
interface MayFail {
  readonly uncaught?: boolean
}

export interface Exec extends MayFail {
  readonly kind: 'exec'
  readonly sql: string
  readonly bindings: readonly unknown[]
  readonly take: Take
  /** Keeps the cursor for a later `resume`. */
  readonly slot?: number
}

/** Goes on with a cursor that was left. */
export interface Resume extends MayFail {
  readonly kind: 'resume'
  readonly slot: number
  readonly take: Take
}

export interface TransactionSync extends MayFail {
  readonly kind: 'transactionSync'
  readonly body: readonly Step[]
  readonly throws: boolean
}

/** A call of `storage.kv`, of `storage`, or of the transaction around it. Only those of `kv` are not promises. */
export interface Call extends MayFail {
  readonly kind: 'call'
  readonly on: 'kv' | 'storage' | 'txn'
  readonly method: 'get' | 'put' | 'delete' | 'list' | 'setAlarm' | 'getAlarm' | 'deleteAlarm' | 'deleteAll'
  readonly args: readonly unknown[]
  readonly awaited: boolean
}

export interface Transaction extends MayFail {
  readonly kind: 'transaction'
  readonly body: readonly Step[]
  readonly end: 'return' | 'throw' | 'rollback'
}

/** Ends the turn: after `sync` all is durable, after `turn` nobody has promised that. */
export interface Pause extends MayFail {
  readonly kind: 'sync' | 'turn'
}

/** Kills the instance in the middle of a turn. */
export interface Abort extends MayFail {
  readonly kind: 'abort'
}

export type Step = Exec | Resume | TransactionSync | Call | Transaction | Pause | Abort

/** What is asked of one object in one request. */
export type Program = readonly Step[]

/** A time for an alarm, told from the time at which the step is played. */
export class FromNow {
  readonly ms: number
  readonly as: 'number' | 'Date'

  constructor(ms: number, as: 'number' | 'Date') {
    this.ms = ms
    this.as = as
  }

  at(now: number): number | Date {
    return this.as === 'Date' ? new Date(now + this.ms) : now + this.ms
  }
}

/** The step as one reads it beside what it gave. */
export function lineOf(step: Step): string {
  return `${describe(step)}${step.uncaught ? ' (uncaught)' : ''}`
}

function describe(step: Step): string {
  switch (step.kind) {
    case 'exec': {
      const bindings = step.bindings.length === 0 ? '' : ` ${formatValue(step.bindings)}`
      const slot = step.slot === undefined ? '' : ` -> cursor ${step.slot}`
      return `${step.sql}${bindings}: ${step.take}${slot}`
    }
    case 'resume':
      return `resume cursor ${step.slot}: ${step.take}`
    case 'call':
      return `${step.awaited ? 'await ' : ''}${step.on}.${step.method}(${step.args.map(argument).join(', ')})`
    case 'transactionSync':
    case 'transaction':
      return `end of ${step.kind}`
    default:
      return step.kind
  }
}

function argument(value: unknown): string {
  return value instanceof FromNow ? `now + ${value.ms} as ${value.as}` : formatValue(value)
}
