import { expect, it } from 'vitest'
import { describeCronCases } from './cron-suite.ts'

describeCronCases()

/** Set by host-zones.node.test.ts, which runs this file once for every host zone. */
const { CRON_HOST_ZONE } = process.env

if (CRON_HOST_ZONE !== undefined) {
  it(`runs on a host in ${CRON_HOST_ZONE}`, () => {
    // The runtime may still use the older name of Kolkata.
    const host = new Intl.DateTimeFormat().resolvedOptions().timeZone.replace('Calcutta', 'Kolkata')
    expect(host).toBe(CRON_HOST_ZONE)
  })
}
