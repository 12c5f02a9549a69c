import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

/** House rules that a linter does not know. */
const src = join(import.meta.dirname, '../src')
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /(?<!\.test|\.generated)\.ts$/.test(file))
  .map((file) => file.replaceAll('\\', '/'))
const textOf = (file: string) => readFileSync(join(src, file), 'utf8')
const codeOf = (file: string) => textOf(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
const shipped = files.filter((file) => !file.startsWith('testing/'))
const naming = (pattern: RegExp, among = shipped) => among.filter((file) => pattern.test(codeOf(file)))

const inConsole = shipped.filter((file) => file.startsWith('console/'))
/** Entry points that are made of others: schedules are typed as cron, the console shows schedules. */
const LEANS_ON: Readonly<Record<string, readonly string[]>> = { schedules: ['cron'], console: ['schedules'] }

describe('one place each', () => {
  test('only core/clock.ts reads the time or sets a timer', () => {
    expect(naming(/\bDate\.now\b|\bnew Date\(\)|\bset(Timeout|Interval)\b|\bperformance\.now\b/)).toEqual([
      'core/clock.ts',
    ])
  })

  test('only core/physical-alarm.ts calls setAlarm, deleteAlarm or getAlarm', () => {
    expect(naming(/\.(set|delete|get)Alarm\(/)).toEqual(['core/physical-alarm.ts'])
  })

  test('only core/report.ts and the dead letters write to the console', () => {
    const allowed = ['alarms/alarms.ts', 'core/report.ts', 'experimental/live-schedule.ts']
    expect(
      naming(/\bconsole\.(log|info|warn|error|debug)\b/).filter((file) => !allowed.includes(file)),
    ).toEqual([])
  })
})

describe('arrows point one way', () => {
  test.each(shipped)('%s imports only its own folder and core', (file) => {
    const own = file.includes('/') ? file.split('/')[0] : undefined
    const imports = [...codeOf(file).matchAll(/from '(\.[^']+)'/g)].map((match) =>
      relative(src, join(src, file, '..', match[1] ?? '')).replaceAll('\\', '/'),
    )
    const known = [own, 'core', ...(LEANS_ON[own ?? ''] ?? [])]
    const foreign = imports.filter((path) => own !== undefined && !known.includes(path.split('/')[0] ?? ''))
    // The root entry point re-exports core and alarms.
    expect(foreign).toEqual([])
    if (own === 'core') expect(imports.filter((path) => !path.startsWith('core/'))).toEqual([])
  })

  test('the package has no runtime dependency but croner, and that in cron only', () => {
    const others = naming(/from '(?!cloudflare:)[^.']/).filter((file) => !file.startsWith('console/'))
    expect(others.filter((file) => !file.startsWith('cron/'))).toEqual([])
  })

  test('the console is built on hono, and only its entry point for Cloudflare Access on jose', () => {
    expect(naming(/from '(?!cloudflare:|hono\b)[^.']/, inConsole)).toEqual(['console/cloudflare-access.ts'])
    expect(naming(/from 'jose'/)).toEqual(['console/cloudflare-access.ts'])
    expect(naming(/cloudflare-access/, inConsole)).toEqual([])
  })

  test('an index.ts only re-exports', () => {
    for (const file of shipped.filter((name) => /index(\.node)?\.ts$/.test(name))) {
      expect(
        codeOf(file)
          .replace(/export (\*|(type )?\{[^}]*\}) from '[^']+'/g, '')
          .trim(),
      ).toBe('')
    }
  })
})

describe('files', () => {
  test('hold one concept: at most 400 lines', () => {
    expect(files.filter((file) => textOf(file).split('\n').length > 400)).toEqual([])
  })

  test('have names that say what is in them', () => {
    expect(files.filter((file) => /(^|\/)(utils|helpers|common|misc)\.ts$/.test(file))).toEqual([])
  })

  test('use no any, no enum and no non-null assertion', () => {
    expect(naming(/:\s*any\b|\bas any\b|<any>|\benum\s+\w+\s*\{|\w!\.|\w!;/, files)).toEqual([])
  })
})
