import { expect, test } from 'vitest'
import { inTurnOf } from './in-turn.ts'

function setup(boundTo: object = {}) {
  let value = 1
  let reads = 0
  const memory = inTurnOf<number>(boundTo)
  return {
    memory,
    get: () =>
      memory.get(() => {
        reads += 1
        return value
      }),
    set: (other: number) => {
      value = other
    },
    reads: () => reads,
  }
}

test('what was read is read once in a turn', () => {
  const { get, reads } = setup()
  expect([get(), get(), get()]).toEqual([1, 1, 1])
  expect(reads()).toBe(1)
})

test('the next turn reads again, whoever wrote meanwhile', async () => {
  const { get, set } = setup()
  get()
  set(2)
  await undefined
  expect(get()).toBe(2)
})

test('a write makes it read again, also one of another engine over the same storage', () => {
  const storage = {}
  const [one, other] = [setup(storage), setup(storage)]
  expect([one.get(), other.get()]).toEqual([1, 1])
  one.memory.forget()
  one.set(2)
  other.set(2)
  expect([one.get(), other.get()]).toEqual([2, 2])
})

test('a write to another storage does not', () => {
  const [one, other] = [setup(), setup()]
  one.get()
  other.memory.forget()
  one.get()
  expect(one.reads()).toBe(1)
})
