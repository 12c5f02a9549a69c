import type {
  DurabilityScheduleOptions,
  OutcomeRun,
  RunOutcome,
  ScheduledRun,
  ScheduledRunEvent,
} from '../../../src/experimental/index.ts'
import type { AlarmInfo, AlarmRetry } from '../../../src/index.ts'

/** A call of `run`, and when it was made. */
export type CalledRun = ScheduledRun & { readonly startedAt: number }

/** A call of `onOutcome`, and when it was made. */
export interface Delivery {
  readonly run: OutcomeRun
  readonly outcome: RunOutcome
  readonly deliveredAt: number
}

/** A call of the object's `alarm()`. */
export interface Pass {
  readonly startedAt: number
  readonly info: AlarmInfo | undefined
  state: 'open' | 'returned' | 'rejected'
}

/** What an object was seen doing, over all its instances: it survives them, for it is kept by the test. */
export class Recording {
  readonly runs: CalledRun[] = []
  readonly deliveries: Delivery[] = []
  readonly events: ScheduledRunEvent[] = []
  readonly retries: AlarmRetry[] = []
  readonly passes: Pass[] = []
  instances = 0

  get runTimes(): number[] {
    return this.runs.map(({ scheduledTime }) => scheduledTime)
  }

  /** The handlers of a test, each call of which is recorded before it is passed on. */
  handlers(
    { run, onOutcome, onLifecycleEvent }: Partial<DurabilityScheduleOptions>,
    receivesOutcomes: boolean,
  ): HandlerOptions {
    return {
      run: (called) => {
        this.runs.push({ ...called, startedAt: Date.now() })
        return run?.(called)
      },
      ...(receivesOutcomes && {
        onOutcome: (ended: OutcomeRun, outcome: RunOutcome) => {
          this.deliveries.push({ run: ended, outcome, deliveredAt: Date.now() })
          return onOutcome?.(ended, outcome)
        },
      }),
      onLifecycleEvent: (event) => {
        this.events.push(event)
        return onLifecycleEvent?.(event)
      },
    }
  }

  async pass(info: AlarmInfo | undefined, alarm: () => Promise<void>): Promise<void> {
    const pass: Pass = { startedAt: Date.now(), info, state: 'open' }
    this.passes.push(pass)
    try {
      await alarm()
      pass.state = 'returned'
    } catch (error) {
      pass.state = 'rejected'
      throw error
    }
  }
}

type HandlerOptions = Pick<DurabilityScheduleOptions, 'run' | 'onOutcome' | 'onLifecycleEvent'>
