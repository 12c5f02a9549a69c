import { expect, test } from 'vitest'
import { permits } from './permits.ts'

/** Asks for `count` permits; notes who got one. */
function setup(size: number, count: number) {
  const acquire = permits(size)
  const got: number[] = []
  const acquired = Array.from({ length: count }, async (_, asker) => {
    const release = await acquire()
    got.push(asker)
    return release
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return { acquire, got, acquired, settle }
}

test('permits are given out up to their number, then in the order in which they were asked for', async () => {
  const { got, acquired, settle } = setup(2, 5)
  await settle()
  expect(got).toEqual([0, 1])
  ;(await acquired[1])?.()
  await settle()
  expect(got).toEqual([0, 1, 2])
  ;(await acquired[0])?.()
  ;(await acquired[2])?.()
  await settle()
  expect(got).toEqual([0, 1, 2, 3, 4])
})

test('giving a permit back twice gives it back once', async () => {
  const { got, acquired, settle } = setup(1, 3)
  const release = await acquired[0]
  release?.()
  release?.()
  await settle()
  expect(got).toEqual([0, 1])
})

test('a permit that nobody waits for is there for the next', async () => {
  const { acquire, acquired } = setup(1, 1)
  ;(await acquired[0])?.()
  const release = await acquire()
  expect(release).toBeTypeOf('function')
})

test('one who asks while a permit changes hands goes last', async () => {
  const { acquire, got, acquired, settle } = setup(1, 2)
  ;(await acquired[0])?.()
  void acquire().then(() => got.push(2))
  await settle()
  expect(got).toEqual([0, 1])
  ;(await acquired[1])?.()
  await settle()
  expect(got).toEqual([0, 1, 2])
})
