import { check } from '../core/checks.ts'
import type { RegisteredOutside, RunToStart, ValidateInput } from './registered.ts'

export interface DispatchOptions {
  /** Throws to refuse an input. */
  readonly validate?: ValidateInput
}

/**
 * Hands a run over to whatever `send` gives it to: a queue, an HTTP endpoint, another object. It is done when `send`
 * resolves, and at least once: give the receiver `run.runId` to deduplicate by.
 *
 * @throws TypeError when `send` is no function.
 */
export function dispatch(
  send: (run: RunToStart) => unknown,
  options: DispatchOptions = {},
): RegisteredOutside {
  check('send', send, 'function')
  return {
    kind: 'dispatch',
    validate: options.validate,
    async start(run) {
      await send(run)
      return 'complete'
    },
  }
}
