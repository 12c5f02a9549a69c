export { nextCronTime, type ParsedCron, parseCron, previousCronTime } from './cron.ts'
export { type InvalidCronCode, InvalidCronError, type InvalidCronField } from './errors.ts'
export type { CronOptions } from './options.ts'
