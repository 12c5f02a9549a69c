import { cloudflareTest } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'

/** The tests that need the real runtime end in `.workerd.test.ts`; all others run in Node. */
const WORKERD = '**/*.workerd.test.ts'
const EXCLUDED = ['**/node_modules/**', '**/dist/**', '**/.wrangler/**']

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'node',
          include: ['**/*.test.ts'],
          exclude: [...EXCLUDED, WORKERD],
          testTimeout: 60_000,
        },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml', environment: 'test' } })],
        test: { name: 'workerd', include: [WORKERD], exclude: EXCLUDED, testTimeout: 60_000 },
      },
    ],
  },
})
