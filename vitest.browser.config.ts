import { defineConfig } from 'vitest/config'
import { TOOL_ENDED } from './packages/durability/test/console/browser/tool-ended.ts'

/**
 * What needs a browser: `npm run test:browser`. One file after the other, for each has a Worker and a browser of its own:
 * under more load `wrangler dev` ends when one of its own connections is lost. A test that failed for that reason, and
 * for no other, is tried again.
 */
export default defineConfig({
  test: {
    include: ['**/*.browser.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/.wrangler/**'],
    fileParallelism: false,
    retry: { count: 2, condition: new RegExp(TOOL_ENDED) },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
