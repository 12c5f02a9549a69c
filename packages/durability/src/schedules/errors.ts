import { shown } from '../core/checks.ts'
import { DurabilityError } from '../core/errors.ts'

/** A definition, filter or argument cannot be used. Nothing was stored. */
export class InvalidScheduleError extends DurabilityError {
  /** The field of the definition, such as `cron` or `concurrency.limit`, or the argument. */
  readonly field: string
  /** Why, without the field's name. */
  readonly reason: string

  constructor(field: string, reason: string) {
    super('InvalidScheduleError', 'invalid_schedule', `${field} ${reason}`)
    this.field = field
    this.reason = reason
  }
}

/** `create` of an id that is taken, here or in another namespace of the same store. */
export class ScheduleAlreadyExistsError extends DurabilityError {
  constructor(id: string) {
    super('ScheduleAlreadyExistsError', 'schedule_already_exists', `The schedule ${shown(id)} already exists`)
  }
}

/** `pause`, `resume`, `trigger`, `preview` or `history` of an id that is unknown in the engine's namespace. */
export class ScheduleNotFoundError extends DurabilityError {
  constructor(id: string) {
    super('ScheduleNotFoundError', 'schedule_not_found', `There is no schedule ${shown(id)}`)
  }
}

/** No workflow of this name is registered with the engine that was to start it. */
export class WorkflowNotRegisteredError extends DurabilityError {
  constructor(workflow: string) {
    super(
      'WorkflowNotRegisteredError',
      'workflow_not_registered',
      `No workflow is registered as ${shown(workflow)}`,
    )
  }
}

/** The workflow's `validate` refused the input. */
export class InvalidInputError extends DurabilityError {
  constructor(workflow: string, reason: string) {
    super(
      'InvalidInputError',
      'invalid_input',
      `The workflow ${shown(workflow)} refused its input: ${reason}`,
    )
  }
}

/** As many runs with this concurrency key are live as may be. */
export class ConcurrencyLimitError extends DurabilityError {
  constructor(key: string, limit: number) {
    super(
      'ConcurrencyLimitError',
      'concurrency_limit',
      `The concurrency limit ${limit} of ${shown(key)} is reached`,
    )
  }
}

/** A start outside the object was not answered in time. It may have happened: it is tried again under the same run id. */
export class StartTimeoutError extends DurabilityError {
  constructor(timeoutMs: number) {
    super(
      'StartTimeoutError',
      'start_timeout',
      `The start was not answered within startTimeoutMs of ${timeoutMs}`,
    )
  }
}

/** The store cannot do what `engine.schedules` or the engine needs. */
export class StoreNotCapableError extends DurabilityError {
  constructor(store: string, what: string) {
    super('StoreNotCapableError', 'store_not_capable', `The store ${shown(store)} ${what}`)
  }
}

/** Other writers changed the same schedule again and again while a verb tried to. Nothing was changed. */
export class ScheduleContentionError extends DurabilityError {
  constructor(id: string) {
    super(
      'ScheduleContentionError',
      'schedule_contention',
      `The schedule ${shown(id)} was changed by others at each try`,
    )
  }
}

/** `drain()` was called: nothing is started any more. */
export class EngineDrainingError extends DurabilityError {
  constructor() {
    super('EngineDrainingError', 'engine_draining', 'The engine is draining and starts nothing')
  }
}
