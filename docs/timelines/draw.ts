import type { Decision, RunDescription } from '../../packages/durability/src/schedules/index.node.ts'

/** What happened to one schedule, as the engine tells it. Instants are epoch ms. */
export interface Story {
  readonly runs: readonly RunDescription[]
  readonly history: readonly Decision[]
  /** Windows that a decision about a stretch stands for. */
  readonly windows: readonly number[]
}

export interface Scale {
  readonly from: number
  readonly to: number
  /** ms between two labels. */
  readonly stepMs: number
}

const COLUMNS_OF_A_STEP = 16
const MARGIN = 10

/** A row of times, one of what was decided about each window, and one for each run, from its start to its end. */
export function drawn(
  stories: readonly (Story & { readonly name: string })[],
  scale: Scale,
  outage?: readonly [from: number, to: number],
): string {
  const lines = [line('', labels(scale)), line('', marks(scale))]
  if (outage !== undefined) lines.push(line('asleep', bar(scale, outage[0], outage[1], '~')))
  for (const { name, ...story } of stories) {
    if (stories.length > 1) lines.push(name)
    lines.push(line('decision', decisions(story, scale)))
    const told = states(story, scale)
    if (told.trim() !== '') lines.push(line('', told))
    for (const run of [...story.runs].sort(byStart)) lines.push(line(run.status, runBar(run, scale)))
  }
  return lines.map((text) => text.trimEnd()).join('\n')
}

function byStart(one: RunDescription, other: RunDescription): number {
  return (one.scheduledTime ?? 0) - (other.scheduledTime ?? 0)
}

function line(name: string, text: string): string {
  return name.padEnd(MARGIN) + text
}

function columnOf({ from, stepMs }: Scale, at: number): number {
  return Math.round(((at - from) / stepMs) * COLUMNS_OF_A_STEP)
}

function steps({ from, to, stepMs }: Scale): number[] {
  return Array.from({ length: Math.floor((to - from) / stepMs) + 1 }, (_, n) => from + n * stepMs)
}

function labels(scale: Scale): string {
  return steps(scale).reduce(
    (text, at) => put(text, columnOf(scale, at), new Date(at).toISOString().slice(11, 16)),
    '',
  )
}

function marks(scale: Scale): string {
  return steps(scale).reduce((text, at) => put(text, columnOf(scale, at), '|'), '')
}

function decisions({ history, windows }: Story, scale: Scale): string {
  let text = ''
  for (const { decision, scheduledTime, from, to } of history) {
    if (scheduledTime === null) continue
    const about =
      from === undefined || to === undefined
        ? [scheduledTime]
        : windows.filter((at) => at >= from && at <= to)
    for (const window of about) text = put(text, columnOf(scale, window), decision)
  }
  return text
}

/** `paused` and `resumed` stand where they were decided. */
function states({ history }: Story, scale: Scale): string {
  return history
    .filter(({ scheduledTime }) => scheduledTime === null)
    .reduce((text, { decision, decidedAt }) => put(text, columnOf(scale, decidedAt), decision), '')
}

/** Dots while it waits for its start, then its time. */
function runBar({ startedAt, finishedAt, createdAt }: RunDescription, scale: Scale): string {
  const end = finishedAt ?? scale.to
  if (startedAt === null) return bar(scale, createdAt, end, '.')
  const waited = startedAt > createdAt ? bar(scale, createdAt, startedAt, '.') : ''
  return put(waited, columnOf(scale, startedAt), bar(scale, startedAt, end, '=').trimStart())
}

function bar(scale: Scale, from: number, to: number, sign: string): string {
  const column = columnOf(scale, from)
  const end = columnOf(scale, Math.min(to, scale.to))
  return put('', column, sign.repeat(Math.max(end - column, 1)))
}

function put(text: string, column: number, part: string): string {
  return text.padEnd(column).slice(0, column) + part + text.slice(column + part.length)
}
