// The main of `[env.examples]`: the classes of all small examples, so that their tests share one Worker.

export { Import, Ledger } from '../crash/worker.ts'
export { Cron, Target } from '../cron/worker.ts'
export { SyncTenant } from '../d1-cron/worker.ts'
export { DailyReport } from '../daily-report/worker.ts'
export { Subscription } from '../schedule-and-alarms/worker.ts'
export { TenantSchedules } from '../tenant-schedules/worker.ts'
export { Briefs, MorningBrief } from '../workflow-briefs/worker.ts'

export default {
  fetch: (): Response => new Response('This Worker only holds the objects of the examples.'),
}
