import { defineConfig } from 'vitest/config'

/**
 * What needs a browser: `npm run test:browser`. One file after the other, for each has a Worker and a browser of its own:
 * under more load `wrangler dev` ends when one of its own connections is lost.
 */
export default defineConfig({
  test: {
    include: ['**/*.browser.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/.wrangler/**'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
