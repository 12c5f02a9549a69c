import { check } from '../core/checks.ts'
import type { CrashAtWrite } from './crash-plan.ts'
import type { SimulatedObject } from './object.ts'
import type { SimulatedInstance } from './object-options.ts'

/** Where a history's object crashes: at a durable write, or at a seam. */
export type CrashPoint = CrashAtWrite | { readonly seam: number }

/** Gives the object back, with the history's crash planned. */
export type PlanCrash = <T extends SimulatedInstance>(object: SimulatedObject<T>) => SimulatedObject<T>

/**
 * A history: makes its objects, hands each to `crashing`, plays, and checks what it expects. `crash` is `undefined` when
 * there is none.
 */
export type CrashHistory = (crashing: PlanCrash, crash: CrashPoint | undefined) => unknown

/**
 * Plays the history once without a crash, and then once for every point at which an object of it can crash: before and
 * after each durable write, and at each seam. The history makes everything anew, objects and what is around them, and is
 * the same each time but for the crash. Objects are closed when their history has ended. Resolves to the number of
 * histories played.
 *
 * ```ts
 * await everyCrash(async (crashing) => {
 *   const object = crashing(simulateObject((ctx, clock) => new Reminder(ctx, clock)))
 *   await object.callUntilAnswered((reminder) => reminder.remindIn(60_000))
 *   await object.advance('1 day')
 *   expect(object.rows('SELECT * FROM reminded')).toHaveLength(1)
 * })
 * ```
 *
 * @throws What the history throws, with the crash named in its message. TypeError when the history is no function, Error
 * when it gives no object to `crashing`.
 */
export async function everyCrash(history: CrashHistory): Promise<number> {
  check('history', history, 'function')
  const reached = await play(history, undefined)
  if (reached.length === 0) throw new Error('The history gave no object to the function that plans its crash')
  let histories = 1
  for (const [index, { writes, seams }] of reached.entries()) {
    for (const crash of crashPoints(writes, seams)) {
      await play(history, { index, crash })
      histories += 1
    }
  }
  return histories
}

interface PlannedCrash {
  /** Which of the history's objects crashes, in the order in which they are made. */
  readonly index: number
  readonly crash: CrashPoint
}

function* crashPoints(writes: number, seams: number): Generator<CrashPoint> {
  for (let write = 1; write <= writes; write++) {
    yield { write, when: 'before' }
    yield { write, when: 'after' }
  }
  for (let seam = 1; seam <= seams; seam++) yield { seam }
}

/** Resolves to how far each object came. */
async function play(history: CrashHistory, planned: PlannedCrash | undefined): Promise<Reached[]> {
  const objects: Planned[] = []
  const crashing: PlanCrash = (object) => {
    if (planned?.index === objects.length) plan(object, planned.crash)
    objects.push(object)
    return object
  }
  try {
    await history(crashing, planned?.crash)
    return objects.map(({ progress }) => progress)
  } catch (error) {
    throw planned === undefined ? error : named(error, planned, objects.length)
  } finally {
    for (const object of objects) object.close()
  }
}

type Planned = Pick<SimulatedObject<SimulatedInstance>, 'progress' | 'close' | 'crashAt' | 'crashAtAwait'>
type Reached = Planned['progress']

function plan(object: Planned, crash: CrashPoint): void {
  if ('seam' in crash) object.crashAtAwait(crash.seam)
  else object.crashAt(crash)
}

/** The same error, for what an assertion says of itself is worth more than a wrapper. */
function named(error: unknown, { index, crash }: PlannedCrash, objects: number): unknown {
  const where = 'seam' in crash ? `at seam ${crash.seam}` : `${crash.when} write ${crash.write}`
  const whose = objects > 1 ? ` of object ${index + 1}` : ''
  if (error instanceof Error) error.message += `\n(in the history with a crash ${where}${whose})`
  return error
}
