import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../../..')

function blocksOf(guide: string): string[] {
  const text = readFileSync(join(ROOT, 'docs/guides', guide), 'utf8')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
}

/** The guide's alias leads to the package; here it leads to the sources, and so do the entry points. */
const CONFIG = `
const source = (name) => '${ROOT}/packages/durability/src/' + name
export default {
  test: {
    alias: [
      { find: 'cloudflare:workers', replacement: source('testing/cloudflare-workers.ts') },
      { find: /^durability$/, replacement: source('index.ts') },
      { find: /^durability\\/(\\w+)$/, replacement: source('$1/index.ts') },
    ],
  },
}
`

test('every test that the guide names exists', () => {
  const guide = readFileSync(join(ROOT, 'docs/guides/testing.md'), 'utf8')
  const named = [...guide.matchAll(/`([\w.-]+\.ts)`(?: ›|,) "([^"]+)"/g)]
  expect(named.length).toBeGreaterThan(5)
  const missing = named.filter(([, file = '', name = '']) => {
    const folder = file.endsWith('.test.ts') ? '../../src/testing' : 'durable-object'
    return !readFileSync(join(import.meta.dirname, folder, file), 'utf8').includes(`'${name}'`)
  })
  expect(missing.map(([text]) => text)).toEqual([])
})

test('every test in the guide passes', { timeout: 120_000 }, async () => {
  const [worker = ''] = blocksOf('quickstart.md')
  const tests = blocksOf('testing.md').filter((code) => code.includes("from 'vitest'"))
  expect(tests.length).toBeGreaterThan(5)

  const folder = mkdtempSync(join(ROOT, 'node_modules', '.guide-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'vitest.config.mjs'), CONFIG)
  writeFileSync(join(folder, 'src/worker.ts'), worker)
  for (const [index, code] of tests.entries()) writeFileSync(join(folder, `src/${index}.test.ts`), code)

  const vitest = join(ROOT, 'node_modules/.bin/vitest')
  const output = await promisify(execFile)(vitest, ['run', '--root', folder], {
    env: { ...process.env, NO_COLOR: '1' },
  }).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string }) => error.stdout ?? String(error),
  )
  const count = tests.join('').match(/^test\(/gm)?.length ?? 0
  expect(output).toMatch(new RegExp(`Tests +${count} passed \\(${count}\\)`))
})
