import type { AlarmInfo } from '../../../src/index.ts'
import {
  type SimulatedInstance,
  type SimulatedObject,
  SimulatedWorld,
  simulateObject,
} from '../../../src/testing/index.ts'
import { formatError } from './format.ts'
import { Lives, type LivesProgram } from './lives.ts'
import { type Played, Player } from './player.ts'
import type { Program } from './program.ts'

/** Plays a program in a simulated object of its own. */
export async function playSimulated(program: Program): Promise<readonly Played[]> {
  const object = simulateObject((ctx, clock, life) => ({ ctx, clock, life, alarm: () => undefined }))
  const played: Played[] = []
  try {
    await object.call(async ({ ctx, clock, life }) => {
      const player = new Player(ctx, played, {
        now: () => clock.now(),
        turn: () => life.seam('turn'),
        forever,
      })
      await player.play(program)
      await player.close()
    })
  } catch (error) {
    played.push({ line: 'object', result: formatError(error) })
  }
  object.close()
  return played
}

/** Plays the requests and alarms of one simulated object over several instances. */
export async function playLivesSimulated(program: LivesProgram): Promise<readonly Played[]> {
  const world = new SimulatedWorld()
  const lives = new Lives(program, { now: () => world.clock.now(), turn: () => object.seam('turn'), forever })
  const object = simulateObject((ctx) => ({ ctx, alarm: (info: AlarmInfo) => lives.alarm(ctx, info) }), {
    world,
  })
  for (const [life, requests] of program.lives.entries()) {
    if (life > 0) {
      lives.crashed(life - 1)
      object.crash()
      await settle(object, lives)
    }
    for (const request of requests) {
      await lives.request(request, (work) => object.call(({ ctx }) => work(ctx)))
      await settle(object, lives)
    }
  }
  object.close()
  return lives.played
}

async function settle(object: SimulatedObject<SimulatedInstance>, lives: Lives): Promise<void> {
  await object.settle()
  for (let second = 0; second < MOST_SECONDS; second += 1) {
    if (lives.isSettled(object.alarmAt)) return
    await object.advance('1 s')
  }
  lives.neverSettled()
}

const MOST_SECONDS = 20

function forever(): Promise<never> {
  return new Promise(() => undefined)
}
