import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as coreLimits from '../packages/durability/src/core/limits.ts'
import { DurabilitySchedule } from '../packages/durability/src/experimental/index.ts'
import { DurabilityAlarms, DurabilityScheduler } from '../packages/durability/src/index.ts'
import { DurabilityEngine, memoryStore } from '../packages/durability/src/schedules/index.node.ts'
import * as scheduleLimits from '../packages/durability/src/schedules/limits.ts'
import { simulateObject } from '../packages/durability/src/testing/index.ts'

const limits = { ...coreLimits, ...scheduleLimits }
const ROOT = join(import.meta.dirname, '..')
const PACKAGE = 'packages/durability'

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  `${PACKAGE}/README.md`,
  ...markdownIn('docs'),
  ...markdownIn('examples'),
]

function markdownIn(folder: string): string[] {
  return filesIn(folder).filter((file) => file.endsWith('.md'))
}

/** Without what is made by tools, and comes and goes while other tests run. */
function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !['node_modules', 'dist', '.wrangler'].includes(name))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      return entry.isDirectory() ? filesIn(path) : [path]
    })
}

/** Code is no prose: a `#` or a `[x](y)` in it is no heading and no link. */
const proseOf = (page: string): string => read(page).replace(/^```[\s\S]*?^```/gm, '')

describe('links', () => {
  test.each(pages)('of %s lead to a file, and to a heading in it', (page) => {
    const dead = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => !leadsSomewhere(page, target))
    expect(dead).toEqual([])
  })
})

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : join(dirname(page), path)
  try {
    if (anchor === undefined) return existsSync(join(ROOT, file))
    const headings = [...proseOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slug(heading))
    return headings.includes(anchor)
  } catch {
    return false
  }
}

/** As code hosts make anchors of headings. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-')
}

describe('guides', () => {
  const guides = pages.filter((page) => page.startsWith('docs/guides/'))
  const named = guides
    .flatMap((page) =>
      [...proseOf(page).matchAll(/`([\w.-]+\.test\.ts)`,\s+"([^"…]+)"/g)].map(([, file = '', name = '']) => ({
        page,
        file,
        name: name.replace(/\s+/g, ' '),
      })),
    )
    // The names of this one are made of tables.
    .filter(({ file }) => file !== 'cost.workerd.test.ts')

  test('name tests that exist', () => {
    expect(named.length).toBeGreaterThan(15)
    expect(named.filter(({ file, name }) => !holdsTest(file, name))).toEqual([])
  })
})

describe('docs/guarantees.md', () => {
  const rows = guarantees()

  test('has one row per id', () => {
    expect(rows.length).toBeGreaterThan(0)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  })

  test('names tests that exist', () => {
    const missing = rows.flatMap(({ id, tests }) =>
      tests
        .filter(({ file, name }) => !holdsTest(file, name))
        .map(({ file, name }) => `${id}: ${file} › ${name}`),
    )
    expect(missing).toEqual([])
  })

  test('says of every row which test holds it, or why none does', () => {
    const unclear = rows.filter(({ tests, reason }) => tests.length > 0 === (reason !== undefined))
    expect(unclear.map(({ id }) => id)).toEqual([])
  })

  test('counts its rows', () => {
    const counted = (reason?: string) => rows.filter((row) => row.reason === reason).length
    const counts = Object.fromEntries(
      [
        ...read('docs/guarantees.md').matchAll(
          /^\| (held by a test|needs production|wording only|all) \| (\d+) \|$/gm,
        ),
      ].map(([, what = '', count]) => [what, Number(count)]),
    )
    expect(counts).toEqual({
      'held by a test': counted(),
      'needs production': counted('needs production'),
      'wording only': counted('wording only'),
      all: rows.length,
    })
  })
})

interface Guarantee {
  readonly id: string
  readonly tests: readonly { readonly file: string; readonly name: string }[]
  readonly reason: string | undefined
}

/** Rows are `| id | sentence | `file` › name<br>… |`, or end with a reason. Paths are short: of files of one name any may hold it. */
function guarantees(): Guarantee[] {
  return [...read('docs/guarantees.md').matchAll(/^\| ([GC]\S+) \| (?:.*) \| (.*) \|$/gm)].map(
    ([, id = '', held = '']) => {
      const tests = [...held.matchAll(/`([^`]+)` › (.+?)(?=<br>|$)/g)].map(([, file = '', name = '']) => ({
        file,
        name: name.trim(),
      }))
      const reason = /^(needs production|wording only)/.exec(held)?.[1]
      return { id, tests, reason }
    },
  )
}

const testFiles = new Map(
  ['packages', 'examples', 'docs']
    .flatMap(filesIn)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file, read(file)]),
)

function holdsTest(file: string, name: string): boolean {
  const texts = [...testFiles].filter(([path]) => path === file || path.endsWith(`/${file}`))
  // As it stands in the source: a whole literal.
  return texts.some(([, text]) => ["'", '`', '"'].some((mark) => text.includes(mark + name + mark)))
}

describe('docs/architecture.md', () => {
  test('names functions that exist, in the files where they are', () => {
    const named = [...read('docs/architecture.md').matchAll(/`([\w/-]+\.ts)` ›\s+`(#?\w+)`/g)]
    expect(named.length).toBeGreaterThan(20)
    const missing = named
      .map(([, file = '', name = '']) => ({ file, name }))
      .filter(({ file, name }) => !declares(file, name))
    expect(missing).toEqual([])
  })
})

function declares(file: string, name: string): boolean {
  const path = join(ROOT, PACKAGE, 'src', file)
  const declaration = `^(export )?(async )?(function )?${name}[(<]|^ +(async )?${name}[(<].*[{(]$|^ +(async )?${name}\\($|^ +const ${name} = (async )?[(<]`
  return existsSync(path) && new RegExp(declaration, 'm').test(readFileSync(path, 'utf8'))
}

describe('docs/reference.md', () => {
  const reference = read('docs/reference.md')

  test.each([
    'index',
    'experimental/index',
    'schedules/index',
    'schedules/index.node',
    'console/index',
    'cron/index',
    'utils/index',
    'testing/index',
  ])('has every export of src/%s.ts', (entry) => {
    const heading = entry === 'index' ? '`durability`' : `\`durability/${entry.split('/')[0]}\``
    const section = reference.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
    const names = [...read(`${PACKAGE}/src/${entry}.ts`).matchAll(/export (?:type )?\{([^}]*)\}/g)]
      .flatMap(([, list = '']) => list.split(','))
      .map((name) => name.replace('type ', '').trim())
      .filter((name) => name !== '')
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(section))).toEqual([])
  })

  test.each([
    { of: 'DurabilitySchedulerOptions', source: 'core/scheduler.ts', construct: schedulerWith },
    { of: 'DurabilityAlarmsOptions', source: 'alarms/options.ts', construct: alarmsWith },
    { of: 'DurabilityScheduleOptions', source: 'experimental/options.ts', construct: scheduleWith },
    { of: 'DurabilityEngineOptions', source: 'schedules/engine.ts', construct: engineWith },
  ])('has the defaults and limits of $of', ({ of, source, construct }) => {
    const table = reference.split(`\n\`${of}\`:\n`)[1]?.split('\n\n')[0] ?? ''
    const options = [...table.matchAll(/^\| `([\w.]+)` \| ([^|]*) \| ([\d,]+) \| ([\d,]+) \|/gm)]
    expect(options.length).toBeGreaterThan(0)
    for (const [, name = '', byDefault = '', least = '', most = ''] of options) {
      expect(rangeOf(construct, name), name).toEqual([numberOf(least), numberOf(most)])
      const expected = byDefault.startsWith('none') ? undefined : numberOf(byDefault)
      expect(defaultIn(read(`${PACKAGE}/src/${source}`), name), name).toBe(expected)
    }
  })
})

test('docs/reference.md has every number that bounds schedules', () => {
  const table = read('docs/reference.md').split('\n### Numbers\n')[1]?.split('\n## ')[0] ?? ''
  const told = [...table.matchAll(/^\| .* \| ([\d,.]+) \| `(\w+)` \|$/gm)]
  expect(Object.fromEntries(told.map(([, number = '', name = '']) => [name, numberOf(number)]))).toEqual({
    ...scheduleLimits,
  })
})

describe('what can be met at run time', () => {
  const reference = read('docs/reference.md')
  const sources = [...testFiles]
    .filter(([file]) => file.startsWith(`${PACKAGE}/src/`) && !/\/testing\/|\.test\.ts$/.test(file))
    .map(([, text]) => text)
    .join('\n')

  test('every line on the console is in the reference', () => {
    const events = [...sources.matchAll(/\breport\('([\w.]+)'|event: '(durability\.[\w.]+)'/g)].map(
      ([, short, full]) => full ?? `durability.${short}`,
    )
    expect(events.length).toBeGreaterThan(5)
    expect(events.filter((event) => !reference.includes(`\`${event}\``))).toEqual([])
  })

  test('every error is in the reference, with its code', () => {
    const errors = [...sources.matchAll(/(?:super|new DurabilityError)\(\s*'(\w+)',\s*'(\w+)'/g)]
    expect(errors.length).toBeGreaterThan(3)
    const missing = errors.filter(([, name, code]) => !reference.includes(`| \`${name}\` | \`${code}\` |`))
    expect(missing.map(([, name]) => name)).toEqual([])
  })
})

test('no page names another default than the reference', () => {
  const defaults = [...read('docs/reference.md').matchAll(/^\| `([\w.]+)` \| ([^|]+) \| [\d,]+ \|/gm)]
  const claims = pages.flatMap((page) =>
    [...read(page).matchAll(/`(\w+)` \(default ([^)]+)\)/g)].map(([, name = '', value = '']) => ({
      page,
      name,
      value,
    })),
  )
  expect(claims.length).toBeGreaterThan(3)
  const wrong = claims.filter(
    ({ name, value }) =>
      !defaults.some(
        ([, option, cell = '']) =>
          option?.split('.').at(-1) === name && (cell === value || cell.endsWith(`(${value})`)),
      ),
  )
  expect(wrong).toEqual([])
})

type Options = Readonly<Record<string, unknown>>

function schedulerWith(options: Options): void {
  void simulateObject((context) => new DurabilityScheduler({ ...options, context })).instance
}

function alarmsWith(options: Options): void {
  void simulateObject((context) => {
    const scheduler = new DurabilityScheduler({ context })
    new DurabilityAlarms({ handlers: {}, ...options, scheduler })
    return scheduler
  }).instance
}

function scheduleWith(options: Options): void {
  void simulateObject((context) => {
    const scheduler = new DurabilityScheduler({ context })
    new DurabilitySchedule({ nextOccurrence: () => undefined, run: () => {}, ...options, scheduler })
    return scheduler
  }).instance
}

function engineWith(options: Options): void {
  new DurabilityEngine({ store: memoryStore(), workflows: {}, ...options })
}

/** What a refused value is told to be. */
function rangeOf(construct: (options: Options) => void, name: string): [number, number] | string {
  const [outer = '', inner] = name.split('.')
  try {
    construct({ [outer]: inner === undefined ? -1 : { [inner]: -1 } })
    return 'accepted'
  } catch (error) {
    const [, least = '', most = ''] = /must be an integer from (\d+) to (\d+)/.exec(String(error)) ?? []
    return [Number(least), Number(most)]
  }
}

/** The default that the source gives an integer option: `name: [default, least, most]`, or `name: default`. */
function defaultIn(source: string, name: string): number | undefined | string {
  const short = name.split('.').at(-1) ?? ''
  const [, text = 'not found'] =
    new RegExp(`\\b${short}: \\[?(?:'number', )?([\\w. *]+)[,\\]]`).exec(source) ?? []
  if (['undefined', 'NEVER', 'Number.POSITIVE_INFINITY'].includes(text)) return undefined
  const product = text
    .split('*')
    .map((factor) => factor.trim())
    .map((factor) => Number(Reflect.get(limits, factor) ?? factor.replaceAll('_', '')))
    .reduce((one, other) => one * other, 1)
  return Number.isNaN(product) ? text : product
}

function numberOf(text: string): number {
  return Number(/^[\d,.]+/.exec(text)?.[0].replaceAll(',', ''))
}

describe('TypeScript blocks', () => {
  const blocks = pages.flatMap((page) =>
    [...read(page).matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ''], index) => ({
      page,
      index,
      code,
    })),
  )

  test('type-check, unless they are marked as fragments', { timeout: 120_000 }, async () => {
    expect(blocks.length).toBeGreaterThan(5)
    const folder = mkdtempSync(join(ROOT, 'node_modules', '.docs-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const names = blocks.map(({ page, index }) => `${page.replace(/\W+/g, '-')}-${index}.ts`)
    for (const [at, { code }] of blocks.entries())
      writeFileSync(join(folder, names[at] ?? ''), `${code}\nexport {}\n`)
    writeFileSync(join(folder, 'surroundings.d.ts'), SURROUNDINGS)
    writeFileSync(join(folder, 'worker.d.ts'), WORKER)
    const source = relative(folder, join(ROOT, PACKAGE, 'src'))
    const config = {
      extends: relative(folder, join(ROOT, 'tsconfig.base.json')),
      compilerOptions: {
        noEmit: true,
        types: ['@cloudflare/workers-types', '@cloudflare/vitest-pool-workers/types'],
        paths: {
          durability: [`./${source}/index.ts`],
          'durability/*': [`./${source}/*/index.ts`],
        },
      },
      files: [...names, 'surroundings.d.ts', 'worker.d.ts'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(ROOT, 'node_modules/.bin/tsc')
    const output = await promisify(execFile)(tsc, ['-p', folder, '--pretty', 'false'], { cwd: folder }).then(
      () => '',
      (error: { stdout?: string }) => error.stdout ?? String(error),
    )
    expect(output).toBe('')
  })
})

/** What `wrangler types` would make for the README's example. */
const SURROUNDINGS = `interface Env {
  readonly REPORTS: {
    write(scheduledTime: number, key: string): Promise<void>
    note(key: string, outcome: { readonly status: string }): Promise<void>
  }
}
`

/** What the tests in the guide import: the Worker of the quickstart. */
const WORKER = `export { ReportSchedule } from './docs-guides-quickstart-md-0.ts'
`
