import { DurabilityError } from '../core/errors.ts'
import type { SchedulerPort } from '../core/helper.ts'
import { NEVER } from '../core/limits.ts'
import { permits } from '../core/permits.ts'
import { persist } from '../core/persist.ts'
import { delayAfter } from '../core/retries.ts'
import { describeThrown } from '../core/thrown.ts'
import { waitUntil, within } from '../core/timers.ts'
import type { ScheduledRunEventDetails } from './events.ts'
import type { ScheduleSettings } from './options.ts'
import { errored } from './outcome.ts'
import { identityOf, type Run, type RunRow } from './run.ts'

/**
 * Answers a function that delivers an outcome until it is settled or its next attempt is far away: that one is left to
 * the alarm. `change` without columns removes a run for good.
 */
export function deliveryOf(
  settings: ScheduleSettings,
  port: SchedulerPort,
  change: (run: Run, columns?: Partial<RunRow>) => boolean,
  emit: (run: Run, details: ScheduledRunEventDetails) => void,
): (run: Run) => Promise<void> {
  const { onOutcome, outcomeRetries, outcomeTimeoutMs } = settings
  const { clock, context } = port
  const acquireSlot = permits(settings.maxConcurrentDeliveries)
  const acquireAlone = permits(1)

  /**
   * One delivery and the record of what came of it. Answers whether another one is near. Rejects
   * only where a write can be neither made nor waited for; an alarm then finds the row.
   */
  const deliverOnce = async (run: Run) => {
    const { maxAttempts } = outcomeRetries
    let failure: unknown
    if (onOutcome && run.attempts < maxAttempts) {
      const attempt = run.attempts + 1
      try {
        if (run.delivering) throw deliveryError('The object died during the attempt')
        if (run.inherited) await persist(port, () => change(run, { delivering: 1 }))
        // The receiver must never learn of an outcome that a crash could still take back.
        await context.storage.sync()
        const call = () => onOutcome({ ...identityOf(context, run), attempt }, JSON.parse(run.outcome))
        const late = () => deliveryError(`onOutcome exceeded its outcomeTimeoutMs of ${outcomeTimeoutMs}`)
        await within(clock, outcomeTimeoutMs, call, late, {}).finally(() => {
          // From here on the instance has survived it: what comes next is counted as it comes.
          run.inherited = false
        })
        await persist(port, () => change(run))
        return false
      } catch (error) {
        failure = error
      }
      const delayMs = attempt < maxAttempts ? delayAfter(outcomeRetries, attempt) : NEVER
      const nextAttemptAt = clock.now() + delayMs
      const retry = () => {
        // One that is far away is left to the alarm that is armed here.
        run.held = delayMs <= port.alarmMinDelayMs
        try {
          return port.transaction(() => change(run, { attempts: attempt, nextAttemptAt, delivering: 0 }))
        } catch (error) {
          run.held = true
          throw error
        }
      }
      if (delayMs < NEVER && (await persist(port, retry))) {
        emit(run, { type: 'outcome_retry', attempt, error: describeThrown(failure), nextAttemptAt })
        return run.held
      }
      run.attempts = attempt
    } else failure = deliveryError('There is no onOutcome or no attempt left')
    // The last resort: the row goes, and the loss is told.
    await persist(port, () => change(run))
    emit(run, deadLetter(run, failure))
    return false
  }

  return async (run) => {
    for (;;) {
      const goOn = run.inherited ? await acquireAlone() : undefined
      const release = await acquireSlot()
      const isNear = await deliverOnce(run).finally(() => {
        release()
        goOn?.()
      })
      if (!isNear) return
      await waitUntil(clock, run.nextAttemptAt)
    }
  }
}

export function deliveryError(message: string): DurabilityError {
  return new DurabilityError('OutcomeDeliveryError', 'outcome_delivery', message)
}

/** The outcome is given up. */
export function deadLetter({ attempts, outcome }: Run, thrown: unknown): ScheduledRunEventDetails {
  return {
    type: 'dead_lettered',
    // One that was lost before it had an outcome is errored by its loss.
    outcome: JSON.parse(outcome) ?? errored(thrown),
    attempts,
    error: describeThrown(thrown),
  }
}
