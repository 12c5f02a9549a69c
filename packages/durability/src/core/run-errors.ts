import { DurabilityError } from './errors.ts'

/** `run` took longer than `runTimeoutMs`. The reason of its aborted `signal`, and the error of its outcome. */
export class ScheduledRunTimeoutError extends DurabilityError {
  constructor(timeoutMs: number) {
    super(
      'ScheduledRunTimeoutError',
      'scheduled_run_timeout',
      `The run exceeded its runTimeoutMs of ${timeoutMs}`,
    )
  }
}

/**
 * The instance that ran it is gone: evicted, reset, redeployed or crashed. The handler is not called again, and what
 * it did outside may have happened.
 */
export class ScheduledRunInterruptedError extends DurabilityError {
  constructor() {
    super(
      'ScheduledRunInterruptedError',
      'scheduled_run_interrupted',
      'The object died during the run; its effects may have happened',
    )
  }
}
