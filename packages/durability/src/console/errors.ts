import { DurabilityError } from '../core/errors.ts'

/** Thrown by an `authorize` that does not know who asks. The console answers 401. */
export class UnauthenticatedError extends DurabilityError {
  constructor(message: string = 'Say who you are') {
    super('UnauthenticatedError', 'unauthenticated', message)
  }
}

/** Thrown by an `authorize` for an actor who may not do this. The console answers 403. */
export class ForbiddenError extends DurabilityError {
  constructor(message: string = 'You may not do this') {
    super('ForbiddenError', 'forbidden', message)
  }
}
