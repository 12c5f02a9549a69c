import { expect, test } from 'vitest'
import { type Golden, type ProgramKind, pathOf, seedsOf, textOf } from './golden.ts'
import { playInWorkerd } from './play-in-workerd.ts'
import { playLivesInWorkerd } from './play-lives-in-workerd.ts'
import { randomLivesProgram } from './random-lives-program.ts'
import { randomSqlProgram } from './random-sql-program.ts'
import { randomStorageProgram } from './random-storage-program.ts'

/** Many seeds take long. */
const TIMEOUT_MS = 600_000

test('workerd still does with SQL what the golden file says', { timeout: TIMEOUT_MS }, async () => {
  await expectGolden('sql', await playInWorkerd(seedsOf('sql'), randomSqlProgram))
})

test('workerd still does with keys, alarms and transactions what the golden file says', {
  timeout: TIMEOUT_MS,
}, async () => {
  await expectGolden('storage', await playInWorkerd(seedsOf('storage'), randomStorageProgram))
})

test('workerd still does over crashes and alarms what the golden file says', {
  timeout: TIMEOUT_MS,
}, async () => {
  await expectGolden('lives', await playLivesInWorkerd(seedsOf('lives'), randomLivesProgram))
})

async function expectGolden(kind: ProgramKind, golden: Golden): Promise<void> {
  await expect(textOf(golden)).toMatchFileSnapshot(pathOf(kind))
}
