import { join } from 'node:path'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'

/** The tests that need the real runtime end in `.workerd.test.ts`; all others run in Node. */
const WORKERD = '**/*.workerd.test.ts'
/** The examples' tests run in workerd too, in a Worker that holds the examples' classes. */
const EXAMPLES = '**/*.examples.test.ts'
/** These need a browser, and have a configuration of their own. */
const BROWSER = '**/*.browser.test.ts'
/** What the tests of D1 apply, as users do. */
const MIGRATIONS = join(import.meta.dirname, 'packages/durability/migrations')
/** How many of the long races are run over the real stores. */
const { RACE_SEEDS = '0' } = process.env
const EXCLUDED = ['**/node_modules/**', '**/dist/**', '**/.wrangler/**']

export default defineConfig({
  test: {
    // One less than there are cores is the default: on two cores one of them would idle.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'node',
          include: ['**/*.test.ts'],
          exclude: [...EXCLUDED, WORKERD, EXAMPLES, BROWSER],
          testTimeout: 60_000,
        },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml', environment: 'test' } })],
        test: {
          name: 'workerd',
          include: [WORKERD],
          exclude: EXCLUDED,
          testTimeout: 60_000,
          provide: { longRaces: Number(RACE_SEEDS) },
        },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml', environment: 'examples' } })],
        test: {
          name: 'examples',
          include: [EXAMPLES],
          exclude: EXCLUDED,
          testTimeout: 60_000,
          provide: { migrations: await readD1Migrations(MIGRATIONS) },
        },
      },
    ],
  },
})
