import type { AlarmInfo } from '../../../src/index.ts'
import { formatError, formatInstant } from './format.ts'
import { type Played, type PlayedState, type PlayedTime, Player } from './player.ts'
import type { Program } from './program.ts'

/** What one invocation of `alarm()` does. One that holds is still going on when its instance is crashed. */
export interface AlarmScript {
  readonly steps: Program
  readonly end: 'return' | 'throw' | 'hold'
}

/** Requests to one object over several instances, each but the last crashed at its end, and what its alarms do. */
export interface LivesProgram {
  readonly lives: readonly (readonly Program[])[]
  /** By the order of the invocations; those that follow return at once. */
  readonly alarms: readonly AlarmScript[]
}

const RETURNS: AlarmScript = { steps: [], end: 'return' }
const ABORTED = 'aborted'
const NEAR_MS = 60_000

/** One object over all its instances, as it is seen from outside: what it has played, and whether it is busy. */
export class Lives {
  readonly program: LivesProgram
  readonly played: Played[] = []
  readonly #time: PlayedTime
  #invocations = 0
  #alarm: 'none' | 'running' | 'held' = 'none'
  /** From then on the platform counts retries as it likes: what it knew of them may be lost. */
  #hasCrashed = false
  #hasFailed = false
  #isOver = false

  constructor(program: LivesProgram, time: PlayedTime) {
    this.program = program
    this.#time = time
  }

  async request(
    steps: Program,
    inObject: (work: (ctx: PlayedState) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    try {
      await inObject(async (ctx) => {
        const player = new Player(ctx, this.played, this.#time)
        await player.play(steps)
      })
      this.#note('end of request', 'returns')
    } catch (error) {
      // It has aborted the object, and the alarm with it.
      this.#alarm = 'none'
      this.#note('end of request', formatError(error))
    }
  }

  async alarm(ctx: PlayedState, info: AlarmInfo | undefined): Promise<void> {
    const { steps, end } = this.program.alarms[this.#invocations] ?? RETURNS
    if (this.#isOver) return
    this.#invocations += 1
    this.#hasFailed = true
    this.#alarm = 'running'
    const { scheduledTime, retryCount, isRetry } = info ?? {}
    const scheduled = scheduledTime === undefined ? 'never' : formatInstant(scheduledTime, this.#time.now())
    const retry = this.#hasCrashed ? '' : `, retryCount ${retryCount}, isRetry ${isRetry}`
    this.#note('alarm', `scheduled ${scheduled}${retry}`)
    await new Player(ctx, this.played, this.#time).play(steps)
    this.#note('end of alarm', end)
    if (end === 'hold') {
      this.#alarm = 'held'
      await this.#time.forever()
    }
    this.#alarm = 'none'
    this.#hasFailed = end === 'throw'
    if (end === 'throw') throw new RangeError('alarm throws')
  }

  /** Called at the end of each life, before its instance is crashed. */
  crashed(life: number): void {
    this.#alarm = 'none'
    this.#hasCrashed = true
    const lives = this.program.lives.length
    if (life + 1 < lives) this.#note('crash', 'crashed')
    // An alarm that was held comes again, and nobody looks at it any more.
    this.#isOver = life + 1 >= lives
  }

  /** Whether the last `alarm()` has failed, and is to be retried. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Something is due, and does not come. */
  neverSettled(): void {
    this.#note('settle', 'never settles')
  }

  /** Whether nothing happens any more by itself, with the object's alarm as it is. */
  isSettled(alarmAt: number | null): boolean {
    if (this.#alarm === 'held') return true
    const isRunning = this.#alarm === 'running' && this.played.at(-1)?.result !== ABORTED
    return !isRunning && (alarmAt === null || alarmAt > this.#time.now() + NEAR_MS)
  }

  #note(line: string, result: string): void {
    this.played.push({ line, result })
  }
}
