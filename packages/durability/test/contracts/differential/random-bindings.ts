import type { Random } from '../../simulation/random.ts'

/** What SQLite makes of it as text depends on its version. */
export function randomLargeNumber(random: Random): number {
  return random.pick([2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 5e-324])
}

/** A value of any type that code can hand to `exec`, those among them that no type allows. */
export function randomBinding(random: Random): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => undefined,
    () => random.pick([0, 1, -1, 2 ** 31, 1e300]),
    () => random.pick([0.1, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]),
    () => random.pick(['', 'a', "it's", 'ä€😀', '12', '1e3', 'a\0b', 'x'.repeat(1000)]),
    () => random.pick([new ArrayBuffer(0), new Uint8Array([0, 255]).buffer]),
    () =>
      random.pick<ArrayBufferView>([
        new Uint8Array([1, 2, 3]).subarray(1),
        new Uint16Array([258]),
        new DataView(new ArrayBuffer(2)),
      ]),
    () => random.chance(0.5),
    () => random.pick([5n, -(2n ** 63n), 2n ** 64n]),
    () => new Date(5),
    () => random.pick<unknown>([{ a: 1 }, [1, 2], Symbol('s')]),
  ])()
}
