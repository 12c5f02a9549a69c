import { defineConfig } from 'vitest/config'

/**
 * The project `node` of `vitest.config.ts` without its neighbours: to load theirs takes longer than most tests do. Nor
 * are files kept apart here, for the same reason; that they all pass like this is shown on the unbroken copy.
 */
export default defineConfig({
  test: {
    include: ['packages/durability/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.workerd.test.ts'],
    testTimeout: 60_000,
    pool: 'threads',
    isolate: false,
  },
})
