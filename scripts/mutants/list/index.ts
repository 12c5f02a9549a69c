import type { Mutant } from '../mutant.ts'
import { ALARMS } from './alarms.ts'
import { CORE } from './core.ts'
import { CRON, UTILS } from './cron.ts'
import { SCHEDULE } from './schedule.ts'
import { SCHEDULER } from './scheduler.ts'

/** Every mutant, in the order of the architecture. */
export const MUTANTS: readonly Mutant[] = [...SCHEDULER, ...CORE, ...SCHEDULE, ...ALARMS, ...CRON, ...UTILS]
