import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { realTime } from '../../workerd/support/time.ts'
import { subjects, type TestObject } from '../../workerd/support/worker.ts'
import { formatError } from './format.ts'
import { type Golden, isInternalError, traceOf } from './golden.ts'
import { type Played, type PlayedState, type PlayedTime, Player } from './player.ts'
import type { Program } from './program.ts'

export const REAL_TIME: PlayedTime = {
  now: () => Date.now(),
  turn: () => realTime(0),
  forever: () => realTime(3_600_000),
}

let objects = 0

/** Plays one program per seed, one after the other in one object that is emptied between them. */
export async function playInWorkerd(
  seeds: readonly number[],
  programOf: (seed: number) => Program,
): Promise<Golden> {
  const traces: Record<string, string> = {}
  const left = [...seeds]
  while (left.length > 0) {
    let seed: number | undefined
    let played: Played[] = []
    try {
      await inNewObject(async (ctx) => {
        for (seed = left.shift(); seed !== undefined; seed = left.shift()) {
          played = []
          await ctx.storage.deleteAll()
          const player = new Player(ctx, played, REAL_TIME)
          await player.play(programOf(seed))
          await player.close()
          traces[seed] = traceOf(played)
          // What it has broken must not be seen by the next program.
          if (played.some(isInternalError)) return
        }
      })
    } catch (error) {
      played.push({ line: 'object', result: formatError(error) })
      if (seed !== undefined) traces[seed] = traceOf(played)
    }
  }
  return traces
}

function inNewObject(work: (ctx: PlayedState) => Promise<void>): Promise<void> {
  objects += 1
  const name = `differential ${objects}`
  subjects.set(name, () => ({ alarm: async () => {} }))
  return runInDurableObject<TestObject, void>(env.OBJECTS.getByName(name), (object) =>
    work(contextOf(object)),
  )
}

/** A class keeps its `ctx` to itself; tests look at it from outside. */
export function contextOf(object: TestObject): PlayedState {
  return (object as unknown as { readonly ctx: PlayedState }).ctx
}
