import { parentPort } from 'node:worker_threads'
import { doJob, type Job } from './jobs.ts'

// Most errors in a history are planned, and their stacks are most of what they cost.
Error.stackTraceLimit = 0

const port = parentPort
if (port === null) throw new Error('Started by scripts/simulate.ts')
port.on('message', (job: Job) => {
  doJob(job).then(
    (reply) => port.postMessage({ reply }),
    (error: unknown) => port.postMessage({ error: String(error) }),
  )
})
