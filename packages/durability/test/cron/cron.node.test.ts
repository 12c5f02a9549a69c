import { describeCronCases } from './cron-suite.ts'

describeCronCases()
