import { cloudflareTest } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'

/** The tests that need the real runtime end in `.workerd.test.ts`; all others run in Node. */
const WORKERD = '**/*.workerd.test.ts'
/** The examples' tests run in workerd too, in a Worker that holds the examples' classes. */
const EXAMPLES = '**/*.examples.test.ts'
const EXCLUDED = ['**/node_modules/**', '**/dist/**', '**/.wrangler/**']

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'node',
          include: ['**/*.test.ts'],
          exclude: [...EXCLUDED, WORKERD, EXAMPLES],
          testTimeout: 60_000,
        },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml', environment: 'test' } })],
        test: { name: 'workerd', include: [WORKERD], exclude: EXCLUDED, testTimeout: 60_000 },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml', environment: 'examples' } })],
        test: { name: 'examples', include: [EXAMPLES], exclude: EXCLUDED, testTimeout: 60_000 },
      },
    ],
  },
})
