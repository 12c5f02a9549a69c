import { type PlayedSeed, playLong } from './long-history.ts'

/** What was violated, without the times and versions that differ from one history to the next. */
function kindOf({ failure = '' }: PlayedSeed): string {
  return (failure.split('\n')[1] ?? '').replace(/-?\d+(?:\.\d+)?(?:e-?\d+)?s?/g, '#')
}

/**
 * Leaves out steps of a history that broke a promise for as long as the rest breaks it in the same way. Answers the
 * shortest that it found within the time, with all that happened in it.
 */
export async function shrink(failed: PlayedSeed, withinMs: number): Promise<PlayedSeed> {
  const { seed } = failed
  const until = performance.now() + withinMs
  let shortest = failed
  let numbers = [...failed.steps.keys()]
  for (let size = Math.ceil(numbers.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < numbers.length && performance.now() < until; ) {
      const rest = numbers.toSpliced(start, size)
      const played = await playLong(seed, { keepsAll: true }, new Set(rest))
      if (kindOf(played) === kindOf(failed)) {
        shortest = played
        numbers = rest.filter((number) => played.steps.has(number))
      } else start += size
    }
  }
  return shortest
}

/** The history as a test would play it. */
export function asTest({ seed, steps }: PlayedSeed): string {
  const lines = [...steps.values()].flatMap((code) => code.split('\n')).map((line) => `  ${line}`)
  return [
    `test('…', async () => {`,
    `  const model = new Model(optionsOf(${seed}))`,
    ...lines,
    '  await model.end()',
    `  model.verify('history')`,
    '})',
  ].join('\n')
}
