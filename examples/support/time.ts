import { runDurableObjectAlarm } from 'cloudflare:test'
import { vi } from 'vitest'

/**
 * Moves the wall clock to an instant in the future and stops it there. The platform's alarms keep real time, so none
 * fires by itself: the test says when.
 */
export function moveTo(instant: number | string): void {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(instant) })
}

/** Runs the object's alarm now, and waits for everything it starts. */
export async function fireAlarm(object: DurableObjectStub): Promise<void> {
  if (!(await runDurableObjectAlarm(object))) throw new Error('No alarm is armed')
}
