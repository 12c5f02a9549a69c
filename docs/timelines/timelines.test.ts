import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PAGE, withTimelines } from './write.ts'

test('the pictures of the policies are what the engine does', async () => {
  const page = readFileSync(PAGE, 'utf8')
  expect(await withTimelines(page)).toBe(page)
})
