// `npm run soak`: kills `wrangler dev` again and again while schedules and alarms are busy, then audits what the receiver
// of their calls saw. `--kills 200`, `--seed` to repeat a plan, `--log <file>` to keep the log, `--audit <file>` to
// judge a kept one. A seed repeats what is planned; the moments of real time cannot be repeated.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { audit } from '../packages/durability/test/process/soak/audit.ts'
import { type Entry, Log } from '../packages/durability/test/process/soak/log.ts'
import { type KillReport, soak } from '../packages/durability/test/process/soak/soak.ts'
import { excerpt, type Summary, summaryOf } from '../packages/durability/test/process/soak/summary.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    log: { type: 'string' },
    audit: { type: 'string' },
  },
})

/** At least this share of the kills has to fall while a run or a delivery is open. */
const MIN_OPEN_SHARE = 0.5

async function main(): Promise<boolean> {
  if (values.audit !== undefined) return judge(readLog(values.audit))
  const kills = numberOf('kills', values.kills)
  const seed = numberOf('seed', values.seed)
  console.log(
    `${kills} kills with seed ${seed} (--seed ${seed} repeats the plan, not the moments of real time)`,
  )
  const progress = new Progress(kills)
  const log = new Log()
  keepOnSignal(log)
  try {
    await soak(log, {
      kills,
      seed,
      onKill: (report) => progress.tell(report),
      onStep: (what) => console.log(what),
      onDrain: (left) => console.log(`Not finished yet: ${JSON.stringify(left)}`),
    })
  } catch (error) {
    console.log(`The log up to a failure of the soak itself: ${keepLog(log.entries, values.log)}`)
    throw error
  }
  const isRight = judge(log.entries)
  if (values.log !== undefined || !isRight) console.log(`The log: ${keepLog(log.entries, values.log)}`)
  return isRight
}

/** One line per kill. */
class Progress {
  readonly #kills: number
  readonly #startedAt = Date.now()

  constructor(kills: number) {
    this.#kills = kills
  }

  tell({ kill, moment, runs, deliveries, startMs }: KillReport): void {
    const elapsedMs = Date.now() - this.#startedAt
    const restMs = (elapsedMs / kill) * (this.#kills - kill)
    console.log(
      `kill ${kill} of ${this.#kills}, ${moment}: open ${runs} runs, ${deliveries} deliveries; ` +
        `${(startMs / 1_000).toFixed(1)} s to start; elapsed ${clock(elapsedMs)}, about ${clock(restMs)} to go`,
    )
  }
}

/** Prints what happened and what should not have. Answers whether all is right. */
function judge(entries: readonly Entry[]): boolean {
  const violations = audit(entries)
  for (const { about, what, seen } of violations) {
    console.log(`VIOLATION: ${about} ${what}`)
    for (const line of excerpt(entries, seen)) console.log(line)
  }
  const summary = summaryOf(entries)
  console.log(sentences(summary))
  console.log(versions())
  console.log(`${violations.length} violations`)
  const isOpenEnough = summary.open >= summary.kills * MIN_OPEN_SHARE
  if (!isOpenEnough)
    console.log(`Too few kills while something was open: ${percent(MIN_OPEN_SHARE)} are needed`)
  return violations.length === 0 && isOpenEnough
}

function sentences(summary: Summary): string {
  const { kills, open, minutes, runs, called, interrupted, timedOut } = summary
  const { deliveries, cut, again, deadLetters, untold, alarms, attempts, pulses, requests } = summary
  return [
    `${kills} kills in ${minutes.toFixed(1)} minutes, ${open} (${percent(open / kills)}) while a run or a delivery was open`,
    `${runs} runs recorded, ${called} called, ${interrupted} interrupted, ${timedOut} timed out`,
    `${deliveries} deliveries, ${cut} cut off, ${again} outcomes delivered again after an answer that a kill overtook`,
    `${deadLetters} dead letters, of ${untold} of them a kill took the word`,
    `${alarms} named alarms in ${attempts} attempts, ${pulses} calls of the user's helper, ${requests} requests`,
  ].join('\n')
}

function versions(): string {
  const require = createRequire(import.meta.url)
  const versionOf = (name: string): string => require(`${name}/package.json`).version
  const workerd = createRequire(require.resolve('wrangler/package.json'))('workerd/package.json').version
  const date = new Date().toISOString().slice(0, 10)
  return `${date}, wrangler ${versionOf('wrangler')}, workerd ${workerd}, Node ${process.versions.node}`
}

function keepLog(entries: readonly Entry[], file?: string): string {
  const path = file ?? join(mkdtempSync(join(tmpdir(), 'durability-soak-log-')), 'log.jsonl')
  writeFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  return path
}

/** Ending in the ordinary way is what ends the Worker too: it has a process group of its own, out of a terminal's reach. */
function keepOnSignal(log: Log): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      console.log(`Ended by ${signal}. The log up to here: ${keepLog(log.entries, values.log)}`)
      process.exit(1)
    })
}

function readLog(file: string): Entry[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry)
}

function numberOf(name: string, text: string): number {
  if (/^\d+$/.test(text) && Number(text) > 0) return Number(text)
  throw new RangeError(`--${name} must be a whole number above 0, got "${text}"`)
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

process.exitCode = (await main()) ? 0 : 1
// A worker that ignores its end, or a timer that is left, keeps nobody waiting.
process.exit()
