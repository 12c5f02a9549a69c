import { Model } from './model.ts'
import { type Played, playOut, type Wanted } from './play.ts'
import { optionsOf, profileOf } from './profiles.ts'
import { Random, seedOf } from './random.ts'
import { nextStep, type Position } from './steps.ts'

/** A long history, with the steps that made it. */
export interface PlayedSeed extends Played {
  readonly seed: number
  /** The code of each step that was taken, by its number. */
  readonly steps: ReadonlyMap<number, string>
}

/**
 * A long history of random steps, the same for the same seed; of some of its steps only, when they are given. What a
 * step is depends on its number and on what the object has come to, so most keep their sense without the others.
 */
export async function playLong(
  seed: number,
  wanted: Wanted = { keepsAll: false },
  only?: ReadonlySet<number>,
): Promise<PlayedSeed> {
  const profile = profileOf(seed)
  const model = new Model({ ...optionsOf(seed), ...wanted })
  const position: Position = { version: 0, skewMs: 0 }
  const steps = new Map<number, string>()
  const script = async () => {
    for (let number = 0; number < profile.steps; number += 1) {
      if (only?.has(number) === false) continue
      const step = nextStep(profile, new Random(seedOf(seed, 4, number)), model, position)
      steps.set(number, step.code)
      await step.take(model)
    }
  }
  const played = await playOut(model, new Random(seed), script, `Seed ${seed}, ${profile.name}`)
  return { ...played, seed, steps }
}
