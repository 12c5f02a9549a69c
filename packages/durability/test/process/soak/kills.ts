import type { Random } from '../../simulation/random.ts'
import type { Entry, Log } from './log.ts'
import type { SoakReceiver } from './receiver.ts'
import type { SoakUser } from './user.ts'

/** The moments at which a process is killed. All but the first three wait for something to happen. */
const MOMENTS = {
  'at any time': undefined,
  'in a request': undefined,
  'while something was open': undefined,
  'as a run began': (entry: Entry) => isCall(entry, 'run'),
  'as a run was answered': isAnswer('run'),
  'as a run was recorded': (entry: Entry) => isEvent(entry, 'due'),
  'as an outcome was stored': (entry: Entry) => isEvent(entry, 'settled'),
  'as a delivery began': (entry: Entry) => isCall(entry, 'outcome'),
  'as a delivery was answered': isAnswer('outcome'),
  'as a delivery had failed': (entry: Entry) => isEvent(entry, 'outcome_retry'),
  'as a named alarm ran': (entry: Entry) => isCall(entry, 'alarm'),
} as const

type Moment = keyof typeof MOMENTS
type Matcher = (entry: Entry, entries: readonly Entry[]) => boolean

/** What happens in one process, from its start to its kill. */
export interface KillPlan {
  readonly moment: Moment
  /** ms after the moment. */
  readonly delayMs: number
  /** ms after the first call of an object, which comes before the process is ready for requests. */
  readonly earlyMs: number | undefined
  /** ms before each request. */
  readonly requests: readonly number[]
}

export function planKill(random: Random): KillPlan {
  return {
    moment: momentOf(random),
    delayMs: random.chance(0.4) ? 0 : random.integer(0, random.chance(0.7) ? 12 : 150),
    earlyMs: random.chance(0.2) ? random.integer(0, 400) : undefined,
    // One in ten lives long enough for timeouts, far retries and hand-offs.
    requests: Array.from({ length: random.integer(0, 5) + (random.chance(0.1) ? 10 : 0) }, () =>
      random.integer(0, 700),
    ),
  }
}

/** At most of the moments something is open. */
function momentOf(random: Random): Moment {
  const kind = random.next()
  if (kind < 0.2) return 'while something was open'
  if (kind < 0.35) return 'in a request'
  return random.pick(Object.keys(MOMENTS) as [Moment, ...Moment[]])
}

/** ms. The moment is bounded: when nothing of the kind happens the kill comes all the same. */
const MOMENT_WITHIN_MS = 2_500

/** Aborts the signal when it is time to kill a process that is starting. Answers how to call that off. */
export function killWhileStarting(earlyMs: number, log: Log, controller: AbortController): () => void {
  let timer: NodeJS.Timeout | undefined
  const unwatch = log.watch((entry) => {
    if (entry.what === 'call') timer ??= setTimeout(() => controller.abort(), earlyMs)
  })
  return () => {
    unwatch()
    clearTimeout(timer)
  }
}

/** Resolves when it is time to kill a process that is ready. */
export async function killMoment(
  { moment, delayMs }: KillPlan,
  random: Random,
  log: Log,
  receiver: SoakReceiver,
  user: SoakUser,
): Promise<void> {
  const matches: Matcher | undefined = MOMENTS[moment]
  const isOpen = () => receiver.working.runs + receiver.working.deliveries > 0
  const happened = matches && log.next((entry) => matches(entry, log.entries), MOMENT_WITHIN_MS)
  if (moment === 'in a request') {
    // The answer is for nobody: the kill comes first.
    void user.change(random)
    // A request takes this long at most.
    return wait(random.integer(0, 50))
  }
  if (moment === 'at any time') await wait(random.integer(0, 1_500))
  else if (happened) await happened
  else if (!isOpen()) await log.next(isOpen, MOMENT_WITHIN_MS)
  if (delayMs > 0) await wait(delayMs)
}

function isCall(entry: Entry, kind: string): boolean {
  return entry.what === 'call' && entry.call.kind === kind
}

function isEvent(entry: Entry, type: string): boolean {
  return entry.what === 'call' && entry.call.kind === 'runEvent' && entry.call.event.type === type
}

function isAnswer(kind: string): Matcher {
  return (entry, entries) => {
    const call = entry.what === 'answer' ? entries[entry.of] : undefined
    return call !== undefined && isCall(call, kind)
  }
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
