import { crashesIn, cutAt } from './crashes.ts'
import { type Played, play, TIMINGS, type Trouble } from './play.ts'
import { SCENARIOS } from './scenarios.ts'
import type { Site } from './sites.ts'
import { addTally, emptyTally, type Tally } from './tally.ts'

/** One scenario, in one order of events, with a crash at each of its places; or with a second one after a first. */
export interface Exploration {
  readonly scenario: number
  readonly timing: number
  readonly first?: Trouble
}

/** What was found. Everything in it can be sent from one process to another. */
export interface Findings {
  histories: number
  readonly tally: Tally
  /** Of everything that happened in each history, and of what somebody could see of it. */
  readonly hashes: bigint[]
  readonly seenHashes: bigint[]
  /** Kinds of places that any of the histories came to. */
  readonly kinds: Set<string>
  /** Kinds of places at which one was cut, and the lines of the library that led to them. */
  readonly cutKinds: Set<string>
  readonly cutLines: Set<string>
  /** Places at which the history without these crashes was cut. */
  cuts: number
  readonly failures: string[]
  /** The crashes that were made, each followed by a history that no other of them is followed by. */
  readonly crashes: Trouble[]
}

/** Plays the history of the exploration, then once for each place in it with a crash there. */
export async function explore({ scenario, timing, first }: Exploration): Promise<Findings> {
  const played = SCENARIOS[scenario]
  const order = TIMINGS[timing]
  if (played === undefined || order === undefined) throw new RangeError(`There is no scenario ${scenario}`)
  const before = first === undefined ? [] : [first]
  const uncut = await play(played, order, before, { keepsAll: false, notesSites: true })
  const reached = first === undefined ? undefined : cutAt(uncut, first)
  const crashes = crashesIn(uncut, reached)
  const findings = newFindings()
  const different = new Set<bigint>()
  // A history with one crash is counted where that crash is made.
  if (first === undefined) add(findings, uncut)
  else for (const kind of uncut.kinds) findings.kinds.add(kind)
  for (const crash of uncut.failure === undefined ? crashes : []) {
    const cut = await play(played, order, [...before, crash], { keepsAll: false })
    add(findings, cut)
    if (cut.failure !== undefined) continue
    if (cutAt(cut, crash) === undefined) {
      findings.failures.push(
        `${played.name}: ${JSON.stringify(crash)} was never reached, so no history repeats`,
      )
    }
    noteCut(findings, uncut, crash)
    // What follows the same history again is the same again.
    if (!different.has(cut.hash)) findings.crashes.push(crash)
    different.add(cut.hash)
  }
  return findings
}

function newFindings(): Findings {
  return {
    histories: 0,
    tally: emptyTally(),
    hashes: [],
    seenHashes: [],
    kinds: new Set(),
    cutKinds: new Set(),
    cutLines: new Set(),
    cuts: 0,
    failures: [],
    crashes: [],
  }
}

function add(findings: Findings, { hash, seenHash, tally, kinds, failure }: Played): void {
  findings.histories += 1
  findings.hashes.push(hash)
  findings.seenHashes.push(seenHash)
  addTally(findings.tally, tally)
  for (const kind of kinds) findings.kinds.add(kind)
  if (failure !== undefined) findings.failures.push(failure)
}

function noteCut(findings: Findings, { sites }: Played, crash: Trouble): void {
  const note = (prefix: string, site: Site | undefined) => {
    if (site === undefined) return
    findings.cuts += 1
    findings.cutKinds.add(`${prefix}${site.kind}`)
    for (const line of site.lines) findings.cutLines.add(line)
  }
  if (sites === undefined) return
  if ('crashAtSeam' in crash) note('', sites.seams[crash.crashAtSeam])
  if (!('crashAtWrite' in crash)) return
  const written = sites.writes[crash.crashAtWrite]
  if (crash.when === 'before') note('before ', written)
  else for (const site of sites.writes) if (site?.turn === written?.turn) note('after ', site)
}
