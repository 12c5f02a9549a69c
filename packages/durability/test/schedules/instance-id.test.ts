import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { instanceIdOf } from '../../src/schedules/instance-id.ts'
import { manualRunId, windowRunId } from '../../src/schedules/run-id.ts'
import { randomOf } from './support/racing.ts'

const PLATFORM_RULE = /^[a-zA-Z0-9_][a-zA-Z0-9-_]{0,99}$/
const WINDOW = Date.UTC(2026, 0, 1)
const FAMILIES = 6_000
const PAIRS = 1_000_000

/** What ids are made of: what is escaped, what looks like an escape, what looks alike, what has two normal forms. */
const PIECES = [
  ...['a', 'A', 'b', 'h', 's', 'K', 'sched', 'manual', 'fi', '0', '3a', '2d', '5f', '1f600', 'e3b0c442'],
  ...['\u00E9', 'e\u0301', '\u00C5', 'A\u030A', '\u212B', '\u212A', '\u017F', '\uFB01'],
  ...['\u{1F600}', '\u{1F469}\u200D\u{1F467}', '\uFE0F', '\u65E5', '\u{10FFFF}', '\uFFFD', '\u0001'],
  ...[':', '::', ':manual', ':manual:', '_', '__', '_3a_', '_5f_', '_2d_', '_5f_3a_5f_', '-', 'h-', '--'],
  ...[' ', '/', '%', '%3A', '.', '..', "'", '"', ';', '\\', '\n', '__proto__'],
]

/** The other character whose code point is written as this one's and the digit after it. */
function swallowed(character: string, digit: string): string {
  const code = Number.parseInt(`${character.codePointAt(0)?.toString(16)}${digit}`, 16)
  return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '' : String.fromCodePoint(code)
}

/** Ids that are easily taken for each other, `base` among them. */
async function familyOf(base: string): Promise<ReadonlySet<string>> {
  const escaped = await instanceIdOf(base)
  const border = Math.max(1, 100 - escaped.length)
  return new Set([
    base,
    `${base}:manual`,
    `${base}:manual:${WINDOW}`,
    windowRunId(base, WINDOW),
    manualRunId(base, WINDOW),
    base.normalize('NFC'),
    base.normalize('NFD'),
    base.normalize('NFKC'),
    base.toUpperCase(),
    base.toLowerCase(),
    escaped,
    await instanceIdOf(escaped),
    base.replaceAll(':', '_3a_'),
    base.replaceAll('_', '_5f_'),
    base.replace(/([^0-9A-Za-z])([0-9a-f])/gu, (_, character, digit) => swallowed(character, digit)),
    `${base}_`,
    `_${base}`,
    `${base}:`,
    `${base}-`,
    [...base].reverse().join(''),
    [...base].slice(1).join(''),
    // Around the longest id that is written out, and as long as a schedule's id may be.
    ...[border - 1, border, border + 1].map((length) => base + 'a'.repeat(length)),
    ...['a', 'A', 'b'].map((end) => base.padEnd(199, 'a').slice(0, 199).toWellFormed() + end),
  ])
}

test('of a million pairs of run ids no two share an instance id, and each fits the rule of the platform', async () => {
  const random = randomOf(20260101)
  const runIdOf = new Map<string, string>()
  const problems: string[] = []
  let pairs = 0
  let hashed = 0
  for (let n = 0; n < FAMILIES; n += 1) {
    const length = 1 + Math.floor(random() ** 2 * 24)
    const pieces = Array.from({ length }, () => PIECES[Math.floor(random() * PIECES.length)])
    const family = await familyOf(`${pieces.join('')}${n}`)
    pairs += (family.size * (family.size - 1)) / 2
    // All at once: the hash is computed elsewhere.
    const ids = await Promise.all(
      [...family].map(async (runId) => [await instanceIdOf(runId), runId] as const),
    )
    for (const [id, runId] of ids) {
      const other = runIdOf.get(id) ?? runId
      if (other !== runId) problems.push(`${JSON.stringify([other, runId])} are both ${id}`)
      if (!PLATFORM_RULE.test(id)) problems.push(`${JSON.stringify(runId)} is ${id}`)
      if (id.startsWith('h-')) hashed += 1
      runIdOf.set(id, runId)
    }
  }
  expect(problems).toEqual([])
  expect(pairs).toBeGreaterThan(PAIRS)
  // Both ways of writing an id were compared, with each other too.
  expect(hashed).toBeGreaterThan(FAMILIES)
  expect(runIdOf.size - hashed).toBeGreaterThan(FAMILIES)
})

test.each([
  ['a', 'a'],
  ['a:b', 'a_3a_b'],
  ['a_3a_b', 'a_5f_3a_5f_b'],
  ['-a', '_2d_a'],
  ['sched:brief:1767225600000', 'sched_3a_brief_3a_1767225600000'],
  ['sched:brief:manual:1767225600000', 'sched_3a_brief_3a_manual_3a_1767225600000'],
  ['\u00E9', '_e9_'],
  ['e\u0301', 'e_301_'],
  ['\u{1F600}', '_1f600_'],
  ['a'.repeat(100), 'a'.repeat(100)],
])('%j is always %s', async (runId, id) => {
  expect(await instanceIdOf(runId)).toBe(id)
  expect(await instanceIdOf(runId)).toBe(id)
})

test.each([
  'a'.repeat(101),
  `${'a'.repeat(96)}:b`,
  '😀'.repeat(100),
  `sched:${'/'.repeat(200)}:1767225600000`,
])('what would be longer than 100 characters is a hash of the whole id: %j', async (runId) => {
  expect(await instanceIdOf(runId)).toBe(`h-${createHash('sha256').update(runId).digest('hex')}`)
})

test('an id that looks like a hash is written out', async () => {
  const hash = await instanceIdOf('a'.repeat(101))
  expect(await instanceIdOf(hash)).toBe(hash.replace('-', '_2d_'))
})
