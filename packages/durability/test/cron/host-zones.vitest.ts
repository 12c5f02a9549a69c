import { defineConfig } from 'vitest/config'

/** For the child processes of host-zones.node.test.ts: the case suite alone, whatever the repository's projects are. */
export default defineConfig({ root: import.meta.dirname, test: { include: ['cron.node.test.ts'] } })
