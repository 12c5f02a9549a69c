import { env } from 'node:process'
import { INTERNAL_ERROR } from './format.ts'
import type { Played } from './player.ts'

/** What each seed's program gave. */
export type Golden = Readonly<Record<string, string>>

/**
 * More seeds than those of the golden files, from the environment: `VITE_SEEDS=1000-4000`, with `VITE_GOLDEN` the
 * directory to keep what workerd gives. Only variables that begin with `VITE_` reach a test in workerd.
 */
const { VITE_SEEDS = '', VITE_GOLDEN = '.' } = env

/** The kinds of programs, and the seeds of each that the golden files hold. */
const SEEDS = { sql: 250, storage: 250, lives: 60 }

export type ProgramKind = keyof typeof SEEDS

const BETWEEN = ' | '

/** Up to an internal error: nobody may depend on what an object does after that. */
export function traceOf(played: readonly Played[]): string {
  return upToInternalError(played)
    .map(({ result }) => result)
    .join(BETWEEN)
}

function upToInternalError(played: readonly Played[]): readonly Played[] {
  const at = played.findIndex(isInternalError)
  return at === -1 ? played : played.slice(0, at + 1)
}

export function isInternalError({ result }: Played): boolean {
  return result === INTERNAL_ERROR
}

export function textOf(golden: Golden): string {
  return `${JSON.stringify(golden, undefined, 2)}\n`
}

export function seedsOf(kind: ProgramKind): number[] {
  const [from = 1, to = SEEDS[kind]] = VITE_SEEDS.split('-').filter(Boolean).map(Number)
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** Where the golden file is, as seen from here. */
export function pathOf(kind: ProgramKind): string {
  return `${VITE_GOLDEN}/golden-${kind}.json`
}

/** The history up to the first step that gave something else than the golden file says. */
export function differenceOf(all: readonly Played[], trace: string): string | undefined {
  const played = upToInternalError(all)
  if (traceOf(played) === trace) return undefined
  const expected = trace.split(BETWEEN)
  const first = played.findIndex(({ result }, index) => result !== expected[index])
  const at = first === -1 ? played.length : first
  const before = played.slice(0, at).map(({ line, result }) => `${line}\n    => ${result}`)
  const { line, result } = played[at] ?? { line: 'end', result: 'nothing more' }
  return [
    ...before,
    line,
    `    simulation: ${result}`,
    `    workerd:    ${expected[at] ?? 'nothing more'}`,
  ].join('\n')
}
