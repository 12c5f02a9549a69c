import type { Clock } from '../../src/core/clock.ts'
import type { SimulatedSeam } from '../../src/testing/index.ts'

type CallKind = 'sync' | 'getAlarm' | 'setAlarm' | 'deleteAlarm'

const LIBRARY = /\/src\/(core|experimental|alarms)\//
const FRAMES = 14

/** One place at which a history can be cut. */
export interface Site {
  /** A kind of seam, or the statement of a write. */
  readonly kind: string
  /** Lines of the library that led there, the innermost first: `file.ts:12`. */
  readonly lines: readonly string[]
}

/** A durable write, with the number of its turn: what comes after the commit comes after every write of the turn. */
export interface WriteSite extends Site {
  readonly turn: number
}

/** Which places a history came to, by the number of each write and seam in it. */
export class Sites {
  readonly writes: WriteSite[] = []
  readonly seams: Site[] = []
  /** The lines of the calls whose promises are still to resolve, in the order in which they will. */
  #calls = noCalls()
  #written: readonly string[] = []
  #turn = 0

  /** Whatever an instance was waiting for died with it. */
  instanceStarted(): void {
    this.#calls = noCalls()
    this.#turn += 1
  }

  onCall(kind: CallKind): void {
    this.#calls[kind].push(libraryLines())
  }

  onWrite(kind: string, from: number, to: number): void {
    this.#written = libraryLines()
    for (let number = from; number <= to; number += 1)
      this.writes[number] = { kind, lines: this.#written, turn: this.#turn }
  }

  onSeam(kind: string, { kind: call, number }: SimulatedSeam): void {
    const calls = call in this.#calls ? this.#calls[call as CallKind] : undefined
    const lines = call === 'commit' ? this.#written : (calls?.shift() ?? [])
    this.seams[number] = { kind, lines }
    if (call === 'commit') this.#turn += 1
  }

  /** Names the line that set the timer that is firing. */
  watchTimers(clock: Clock, seamsSoFar: () => number): Clock {
    return {
      now: () => clock.now(),
      setTimer: (fire, delayMs) => {
        const lines = libraryLines()
        const named = () => {
          const number = seamsSoFar()
          const seam = this.seams[number]
          if (seam?.kind === 'seam: timer') this.seams[number] = { ...seam, lines }
          fire()
        }
        return clock.setTimer(named, delayMs)
      },
    }
  }
}

function noCalls(): Record<CallKind, (readonly string[])[]> {
  return { sync: [], getAlarm: [], setAlarm: [], deleteAlarm: [] }
}

/** The lines of the library that are running, the innermost first. */
function libraryLines(): string[] {
  return stackFrames()
    .map((frame) => ({ file: frame.getFileName() ?? '', line: frame.getLineNumber() }))
    .filter(({ file }) => LIBRARY.test(file))
    .map(({ file, line }) => `${file.slice(file.lastIndexOf('/') + 1)}:${line}`)
}

function stackFrames(): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.stackTraceLimit = FRAMES
  Error.prepareStackTrace = (_error, frames) => frames
  const holder: { stack?: readonly NodeJS.CallSite[] } = {}
  // With the function above the stack is the frames themselves.
  Error.captureStackTrace(holder, libraryLines)
  const frames = holder.stack ?? []
  if (prepareStackTrace === undefined) delete (Error as Partial<ErrorConstructor>).prepareStackTrace
  else Error.prepareStackTrace = prepareStackTrace
  Error.stackTraceLimit = stackTraceLimit
  return frames
}
