/** `run` took longer than `runTimeoutMs`. The reason of its aborted `signal`, and the error of its outcome. */
export class ScheduledRunTimeoutError extends Error {
  override readonly name: string = 'ScheduledRunTimeoutError'
  readonly code: string = 'scheduled_run_timeout'

  constructor(timeoutMs: number) {
    super(`The run exceeded its runTimeoutMs of ${timeoutMs}; its handler keeps its slot until it settles`)
  }
}

/**
 * The instance that ran it is gone: evicted, reset, redeployed or crashed. The handler is not called again, and what
 * it did outside may have happened.
 */
export class ScheduledRunInterruptedError extends Error {
  override readonly name: string = 'ScheduledRunInterruptedError'
  readonly code: string = 'scheduled_run_interrupted'

  constructor() {
    super('The run was interrupted: the instance that ran it is gone, and its effects may have happened')
  }
}

/** `onOutcome` took longer than `outcomeTimeoutMs`, or its instance died while it was delivering. */
export class OutcomeDeliveryError extends Error {
  override readonly name: string = 'OutcomeDeliveryError'
  readonly code: string = 'outcome_delivery'
}

/** `nextOccurrence` returned something that cannot be the next tick. */
export class InvalidOccurrenceError extends RangeError {
  override readonly name: string = 'InvalidOccurrenceError'
  readonly code: string = 'invalid_occurrence'
}

/** The stored schema is newer than this version can read, or damaged. Nothing was changed. */
export class ScheduleSchemaError extends Error {
  override readonly name: string = 'ScheduleSchemaError'
  readonly code: string = 'schedule_schema'
}
