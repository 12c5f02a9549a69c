import { expect, onTestFinished, test, vi } from 'vitest'
import { Receiver } from './support/receiver.ts'
import { RestartableWorker } from './support/wrangler-dev.ts'

const EVERY_MS = 500

// Three starts of wrangler, each of which takes half a minute where the machine has other work.
vi.setConfig({ testTimeout: 180_000 })

const COMPLETE = { status: 'complete' }
const INTERRUPTED = {
  status: 'errored',
  error: { name: 'ScheduledRunInterruptedError', message: expect.any(String) },
}

/** A schedule that ticks in a real process, and has reported some runs. */
async function setup() {
  const receiver = await Receiver.listen()
  onTestFinished(() => receiver.close())
  const worker = await RestartableWorker.create(receiver.url)
  onTestFinished(() => worker.dispose())
  await worker.start()
  await worker.startSchedule(EVERY_MS)
  await moreRuns(receiver, 2)
  return { receiver, worker }
}

/** Waits until this many runs that are not there yet have come and were reported complete. */
function moreRuns(receiver: Receiver, count: number): Promise<void> {
  const seen = receiver.received.length
  return receiver.until(`${count} more runs`, () => {
    const later = receiver.received.slice(seen).filter(({ kind }) => kind === 'run')
    const complete = later.filter(
      ({ run }) => receiver.outcomesOf(run.idempotencyKey)[0]?.status === 'complete',
    )
    return complete.length >= count
  })
}

/** Ends the schedule and checks what holds of every history: nothing is lost, nothing is doubled, nothing is left. */
async function finish(receiver: Receiver, worker: RestartableWorker): Promise<void> {
  await worker.cancelSchedule()
  await expect
    .poll(() => worker.status(), { timeout: 30_000 })
    .toMatchObject({ state: 'cancelled', running: 0, waiting: 0, undelivered: 0 })
  const called = receiver.runs.map(({ run }) => run.scheduledTime)
  expect(called).toEqual([...new Set(called)].sort((one, other) => one - other))
  const recorded = receiver.recorded
  for (const [index, { run, arrivedAt }] of recorded.entries()) {
    const next = recorded[index + 1]?.run.scheduledTime ?? run.scheduledTime + EVERY_MS
    // Ticks are left out only after a run that was itself so late that they had passed: it stands for them.
    if (next > run.scheduledTime + EVERY_MS) expect(arrivedAt).toBeGreaterThanOrEqual(next - EVERY_MS)
    const outcomes = receiver.outcomesOf(run.idempotencyKey)
    expect(outcomes.length).toBeGreaterThan(0)
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1)
  }
}

test('a run in the middle of which the process is killed is reported as interrupted, nothing lost, nothing doubled', async () => {
  const { receiver, worker } = await setup()
  const { run } = await receiver.hold('run')
  const isReported = (key: string) => receiver.outcomesOf(key).length > 0
  await receiver.until('every other run', () =>
    receiver.runs.every(
      ({ run: other }) => other.scheduledTime >= run.scheduledTime || isReported(other.idempotencyKey),
    ),
  )
  await worker.kill()
  const before = receiver.received.length
  await worker.start()
  // No request reaches the object: its alarm brings it back.
  await receiver.until('the interrupted run', () => isReported(run.idempotencyKey))
  await moreRuns(receiver, 2)
  await finish(receiver, worker)

  expect(receiver.about(run.idempotencyKey)).toMatchObject([
    { kind: 'run', run },
    { kind: 'outcome', run: { ...run, attempt: 1 }, outcome: INTERRUPTED },
  ])
  const keys = receiver.runs.map((received) => received.run.idempotencyKey)
  for (const key of keys.filter((other) => other !== run.idempotencyKey)) {
    expect(receiver.outcomesOf(key)[0]).toEqual(COMPLETE)
  }
  // The first run after the restart is for the tick that came right after the killed one.
  const [next] = receiver.received.slice(before).filter(({ kind }) => kind === 'run')
  expect(next?.run.scheduledTime).toBe(run.scheduledTime + EVERY_MS)
})

test('each of several runs in flight when the process is killed is reported once', async () => {
  const { receiver, worker } = await setup()
  const held = await Promise.all([receiver.hold('run'), receiver.hold('run'), receiver.hold('run')])
  await worker.kill()
  await worker.start()
  await moreRuns(receiver, 2)
  await finish(receiver, worker)

  for (const { run } of held) expect(receiver.outcomesOf(run.idempotencyKey)).toEqual([INTERRUPTED])
})

test('an outcome in the middle of whose delivery the process is killed is delivered again, the same, and not run again', async () => {
  const { receiver, worker } = await setup()
  const { run } = await receiver.hold('outcome')
  await worker.kill()
  await worker.start()
  await receiver.until('the second delivery', () => receiver.outcomesOf(run.idempotencyKey).length > 1)
  await moreRuns(receiver, 2)
  await finish(receiver, worker)

  expect(receiver.about(run.idempotencyKey).map(({ kind }) => kind)).toEqual(['run', 'outcome', 'outcome'])
  expect(receiver.outcomesOf(run.idempotencyKey)).toEqual([COMPLETE, COMPLETE])
})

test('a process killed again while it reports what the first kill interrupted still reports it, and runs nothing twice', async () => {
  const { receiver, worker } = await setup()
  const { run } = await receiver.hold('run')
  await worker.kill()
  const reporting = receiver.hold('outcome')
  await worker.start()
  expect(await reporting).toMatchObject({ run: { idempotencyKey: run.idempotencyKey }, outcome: INTERRUPTED })
  await worker.kill()
  await worker.start()
  await receiver.until('the second report', () => receiver.outcomesOf(run.idempotencyKey).length > 1)
  await moreRuns(receiver, 2)
  await finish(receiver, worker)

  expect(receiver.about(run.idempotencyKey).map(({ kind }) => kind)).toEqual(['run', 'outcome', 'outcome'])
})
