import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { realTime } from '../../workerd/support/time.ts'
import { subjects, type TestObject } from '../../workerd/support/worker.ts'
import { type Golden, traceOf } from './golden.ts'
import { Lives, type LivesProgram } from './lives.ts'
import { contextOf, REAL_TIME } from './play-in-workerd.ts'
import type { PlayedState } from './player.ts'

/** Longer than the platform takes to see a crash, and for the retry of an alarm after that. */
const SETTLES_WITHIN_MS = 20_000

/**
 * There are instants at which an alarm is neither stored nor seen running: when the platform has taken it and `alarm()`
 * has not begun; and when `alarm()` has failed and the platform has not put it back, which takes longer.
 */
const POLL_MS = 40
const QUIET_POLLS = 5
const QUIET_MS = 300
const QUIET_AFTER_FAILURE_MS = 2_000

interface PlayedObject {
  readonly seed: number
  readonly name: string
  readonly lives: Lives
}

/** Plays all programs side by side, for their alarms come in real time; all objects are crashed at once. */
export async function playLivesInWorkerd(
  seeds: readonly number[],
  programOf: (seed: number) => LivesProgram,
): Promise<Golden> {
  const objects = seeds.map((seed) => makeObject(seed, programOf(seed)))
  for (let life = 0; objects.some(({ lives }) => life < lives.program.lives.length); life += 1) {
    await Promise.all(objects.map((object) => playLife(object, life)))
    for (const { lives } of objects) lives.crashed(life)
    await abortAllDurableObjects()
  }
  return Object.fromEntries(objects.map(({ seed, lives }) => [seed, traceOf(lives.played)]))
}

function makeObject(seed: number, program: LivesProgram): PlayedObject {
  const name = `lives ${seed}`
  const lives = new Lives(program, REAL_TIME)
  subjects.set(name, (ctx) => ({ alarm: (info) => lives.alarm(ctx, info) }))
  return { seed, name, lives }
}

async function playLife({ name, lives }: PlayedObject, life: number): Promise<void> {
  const requests = lives.program.lives[life] ?? []
  if (life > 0 && requests.length > 0) await settle(name, lives)
  for (const request of requests) {
    await lives.request(request, (work) => inObject(name, work))
    await settle(name, lives)
  }
}

/** Waits until the alarms that are due have come, and those whose `alarm()` failed have been retried. */
async function settle(name: string, lives: Lives): Promise<void> {
  const deadline = performance.now() + SETTLES_WITHIN_MS
  while (performance.now() < deadline) {
    // An alarm that aborts the object takes this call with it.
    const isSettled = await inObject(name, (ctx) => waitInside(ctx, lives, deadline)).catch(() => false)
    if (isSettled) return
  }
  lives.neverSettled()
}

async function waitInside({ storage }: PlayedState, lives: Lives, deadline: number): Promise<boolean> {
  let polls = 0
  let since = performance.now()
  while (performance.now() < deadline) {
    if (!lives.isSettled(await storage.getAlarm())) {
      polls = 0
      since = performance.now()
    }
    const quietMs = lives.hasFailed ? QUIET_AFTER_FAILURE_MS : QUIET_MS
    if (polls >= QUIET_POLLS && performance.now() - since > quietMs) return true
    polls += 1
    await realTime(POLL_MS)
  }
  return false
}

/** A stub from before a crash is broken: each call has its own. */
function inObject<T>(name: string, work: (ctx: PlayedState) => Promise<T>): Promise<T> {
  return runInDurableObject<TestObject, T>(env.OBJECTS.getByName(name), (object) => work(contextOf(object)))
}
