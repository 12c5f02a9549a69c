import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random, seedOf } from '../../simulation/random.ts'
import { killMoment, killWhileStarting, planKill, wait } from './kills.ts'
import { isStatus, type Log, type ObjectStatus } from './log.ts'
import { OBJECTS } from './plan.ts'
import { SoakProcess } from './process.ts'
import { SoakReceiver } from './receiver.ts'
import { SoakUser } from './user.ts'

/** Told when a process has been killed. */
export interface KillReport {
  /** From 1. */
  readonly kill: number
  readonly moment: string
  /** What was open at the kill. */
  readonly runs: number
  readonly deliveries: number
  /** ms from its start until it was ready, or killed. */
  readonly startMs: number
}

export interface SoakOptions {
  readonly kills: number
  readonly seed: number
  readonly onKill: (report: KillReport) => void
  /** Told about every 5 s which objects are not finished, while they are given time for it. */
  readonly onDrain: (left: readonly unknown[]) => void
  /** Told what is done when there is no kill to tell. */
  readonly onStep: (what: string) => void
}

/** ms. Far beyond a pass, a retry and an interval, on a busy machine: what takes longer will not happen. */
const BACK_WITHIN_MS = 20_000
const DRAINED_WITHIN_MS = 120_000

/** Starts, uses, kills and starts again; at the end lets everything finish. All that happens goes to the log. */
export async function soak(log: Log, options: SoakOptions): Promise<void> {
  const { kills, seed, onKill, onStep } = options
  const receiver = await SoakReceiver.listen(log, seed)
  const folder = await mkdtemp(join(tmpdir(), 'durability-soak-'))
  const process = await SoakProcess.create(log, receiver, folder, seed)
  const user = new SoakUser(process, log)
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      const random = new Random(seedOf(seed, 6, kill))
      const plan = planKill(random)
      const startedAt = Date.now()
      const isReady = await start(process, log, plan.earlyMs)
      const startMs = Date.now() - startedAt
      if (isReady) {
        await comeBack(user, log)
        if (kill === 1) await user.begin(random)
        for (const afterMs of plan.requests) {
          await wait(afterMs)
          await user.act(random)
        }
        await killMoment(plan, random, log, receiver, user)
        await process.kill()
      }
      const { runs = 0, deliveries = 0 } = log.lastKill ?? {}
      onKill({ kill, moment: isReady ? plan.moment : 'while it started', runs, deliveries, startMs })
    }
    onStep('All kills are done: starting once more, to let everything finish')
    await start(process, log)
    await comeBack(user, log)
    await user.end()
    await drain(process, options)
  } finally {
    await process.dispose()
    await receiver.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Answers whether it is there: it may be killed while it starts. */
async function start(process: SoakProcess, log: Log, earlyMs?: number): Promise<boolean> {
  const controller = new AbortController()
  const callOff = earlyMs === undefined ? undefined : killWhileStarting(earlyMs, log, controller)
  const isReady = await process.start(controller.signal)
  callOff?.()
  return isReady
}

/** Waits until each object that has a live schedule has called by itself. The audit judges whether it has. */
async function comeBack(user: SoakUser, log: Log): Promise<void> {
  await user.look()
  const isBack = () => user.missing.length === 0
  if (!isBack()) await log.next(isBack, BACK_WITHIN_MS)
}

/** The schedules have ended: waits until nothing is left. The audit judges the last statuses. */
async function drain(process: SoakProcess, { onDrain }: SoakOptions): Promise<void> {
  const deadline = Date.now() + DRAINED_WITHIN_MS
  for (let round = 1; Date.now() < deadline; round += 1) {
    const statuses = await Promise.all(OBJECTS.map((object) => process.ask(object, { do: 'status' })))
    const left = statuses.filter((status) => !isStatus(status) || !isIdle(status))
    if (left.length === 0) return
    if (round % 10 === 0) onDrain(left)
    await wait(500)
  }
}

function isIdle({ running, waiting, undelivered, stuck, alarms, alarmAt }: ObjectStatus): boolean {
  return running + waiting + undelivered + stuck + alarms.length === 0 && alarmAt === null
}
