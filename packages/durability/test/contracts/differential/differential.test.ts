import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { differenceOf, type Golden, type ProgramKind, pathOf, seedsOf } from './golden.ts'
import { playLivesSimulated, playSimulated } from './play-simulated.ts'
import type { Played } from './player.ts'
import { randomLivesProgram } from './random-lives-program.ts'
import { randomSqlProgram } from './random-sql-program.ts'
import { randomStorageProgram } from './random-storage-program.ts'

test('the simulation does with SQL what workerd does', async () => {
  expect(await differences('sql', (seed) => playSimulated(randomSqlProgram(seed)))).toEqual([])
})

test('the simulation does with keys, alarms and transactions what workerd does', async () => {
  expect(await differences('storage', (seed) => playSimulated(randomStorageProgram(seed)))).toEqual([])
})

test('the simulation does over crashes and alarms what workerd does', async () => {
  expect(await differences('lives', (seed) => playLivesSimulated(randomLivesProgram(seed)))).toEqual([])
})

async function differences(
  kind: ProgramKind,
  play: (seed: number) => Promise<readonly Played[]>,
): Promise<readonly string[]> {
  const golden = readGolden(kind)
  const found: string[] = []
  for (const seed of seedsOf(kind)) {
    const difference = differenceOf(await play(seed), golden[seed] ?? 'no trace')
    if (difference !== undefined) found.push(`SEED ${seed}\n${difference}`)
  }
  return found
}

function readGolden(kind: ProgramKind): Golden {
  return JSON.parse(readFileSync(resolve(import.meta.dirname, pathOf(kind)), 'utf8'))
}
